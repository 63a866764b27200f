import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import { ESTIMATORS } from "../../measure/tokens/estimators.ts";
import { measureContent } from "../../measure/tokens/measure.ts";
import type { Entry } from "../../messages/entry.ts";
import { contentText } from "../../messages/untrusted.ts";
import { attachmentContent } from "../../request/flatten/attachment-content.ts";
import type { HostState } from "./host-state.ts";
import { restoreAll } from "./restore-all.ts";
import { type Restored, type RestoreInput, restoredTokens } from "./restored.ts";

const OWN_LIMIT: Readonly<Partial<Record<string, number>>> = { files: 5_000, skills: 5_000 };
const TOGETHER: Readonly<Partial<Record<string, number>>> = {
  files: 50_000,
  skills: 25_000,
  "memory-files": 25_000,
};

const text = (): fc.Arbitrary<string> =>
  fc.oneof(
    fc.string(),
    fc.string({ unit: "binary", maxLength: 60 }),
    fc
      .tuple(
        fc.constantFrom("word ", "line of text\n", "名前🙂", "x", "\n \t", "<system-reminder>"),
        fc.nat(9_000),
      )
      .map(([unit, times]) => unit.repeat(times)),
  );
const nonsense = (): fc.Arbitrary<unknown> => fc.oneof(fc.anything(), fc.constant(new Map([["a", 1]])));
const listOf = (item: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.array(fc.oneof({ weight: 5, arbitrary: item }, nonsense()), { maxLength: 9 }),
    },
    nonsense(),
  );

/** Host function that returns, rejects, throws or hangs, or a value that is not a function. */
function answering(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 4, arbitrary: value.map((answer) => () => answer) },
    { weight: 4, arbitrary: value.map((answer) => async () => answer) },
    fc.constantFrom<unknown>(
      undefined,
      () => Promise.reject(new Error("rejected")),
      () => {
        throw new Error("thrown");
      },
      () => new Promise(() => undefined),
      "no function",
    ),
  );
}

const status = (): fc.Arbitrary<string> =>
  fc.constantFrom("pending", "in_progress", "completed", "running", "failed", "stopped", "odd");
const name = (): fc.Arbitrary<string> => fc.oneof(fc.constantFrom("a", "b", "c"), fc.string());

function hostState(): fc.Arbitrary<HostState> {
  const fileAnswer = fc.oneof(
    { weight: 4, arbitrary: fc.record({ state: fc.constant("read"), text: text(), displayPath: name() }) },
    fc.record({
      state: fc.constant("unavailable"),
      reason: fc.constantFrom("gone", "too-large", "not-text"),
    }),
    nonsense(),
  );
  const optional = { requiredKeys: [] as never[] };
  return fc.record(
    {
      files: fc.oneof(
        answering(fileAnswer).map((read) => ({ read })),
        nonsense(),
      ),
      memoryFiles: answering(
        fc.oneof(fc.record({ state: fc.constant("read"), path: name(), content: text() }), fileAnswer),
      ),
      skills: answering(listOf(fc.record({ name: name(), content: text(), path: name() }))),
      todos: answering(listOf(fc.record({ content: text(), status: status(), id: name() }, optional))),
      plan: answering(fc.oneof(fc.record({ path: name(), content: text() }), nonsense())),
      isPlanMode: answering(fc.oneof(fc.boolean(), nonsense())),
      agents: answering(listOf(fc.record({ id: name(), description: text(), status: status() }))),
      tools: answering(listOf(text())),
      mcpInstructions: answering(listOf(fc.record({ server: name(), text: text() }))),
      sessionMemory: answering(fc.oneof(name(), nonsense())),
    },
    optional,
  ) as fc.Arbitrary<unknown> as fc.Arbitrary<HostState>;
}

/** Entries with memory files among them. */
function entries(): fc.Arbitrary<readonly Entry[]> {
  const memory = fc.array(
    fc.tuple(name(), text()).map(([path, content]) => {
      const c = new ConversationBuilder("memory");
      return c.attachment({ type: "nested_memory", path, content: { content } });
    }),
    { maxLength: 4 },
  );
  return fc.tuple(arbitraryEntries(), memory).map((parts) => parts.flat());
}

function restoration(): fc.Arbitrary<{ input: RestoreInput; state: HostState }> {
  return fc.record({
    input: fc.record({
      summarized: entries(),
      kept: arbitraryEntries(),
      keptPlace: fc.constantFrom("before", "after", undefined),
      countTokens: fc.constantFrom(ESTIMATORS.classic, (words: string) => words.length / 2),
      budgetTokens: fc.oneof(fc.nat(400), fc.nat(8_000), fc.nat(200_000)),
    }),
    state: hostState(),
  });
}

const run = ({ input, state }: { input: RestoreInput; state: HostState }): Promise<Restored> =>
  restoreAll(input, state, { timeoutMs: 2 });
const contentOf = (entry: Entry): unknown =>
  entry.type === "attachment"
    ? attachmentContent(entry.attachment)
    : entry.type === "user" && entry.message.content;
const RUNS = { numRuns: 100 };

describe("restoreAll with any host answers and any budget", () => {
  it("restoration never throws, and the restored tokens stay within the budget and every limit", async () => {
    await fc.assert(
      fc.asyncProperty(restoration(), async (given) => {
        const restored = await run(given);
        const { budgetTokens, countTokens } = given.input;
        expect(restoredTokens(restored)).toBeLessThanOrEqual(budgetTokens);
        const sums: Record<string, number> = {};
        for (const { kind, tokens, attachment } of restored.items) {
          expect(tokens).toBe(measureContent(attachmentContent(attachment), countTokens));
          expect(tokens).toBeLessThanOrEqual(OWN_LIMIT[kind] ?? Number.POSITIVE_INFINITY);
          sums[kind] = (sums[kind] ?? 0) + tokens;
        }
        for (const [kind, sum] of Object.entries(sums))
          expect(sum).toBeLessThanOrEqual(TOGETHER[kind] ?? Number.POSITIVE_INFINITY);
        expect(restored.items.filter(({ kind }) => kind === "files").length).toBeLessThanOrEqual(5);
      }),
      RUNS,
    );
  });

  it("gives every restored attachment text for the model, and restores no content twice", async () => {
    await fc.assert(
      fc.asyncProperty(restoration(), async (given) => {
        const { items, skipped } = await run(given);
        for (const { attachment, kind } of items) {
          const content = attachmentContent(attachment);
          expect(contentText(content)).toMatch(/^<system-reminder>\n[\s\S]+\n<\/system-reminder>$/);
          expect(contentText(content).startsWith(`<system-reminder>\n${attachment.type}: {`), kind).toBe(
            false,
          );
          expect(JSON.parse(JSON.stringify(attachment))).toEqual(attachment);
        }
        const names = items.map(({ kind, name }) => `${kind} ${name}`);
        expect(new Set(names).size).toBe(names.length);
        for (const { reason } of skipped) expect(reason).not.toBe("");
      }),
      RUNS,
    );
  });

  it("does not restore content that an earlier compaction restored and that is still in kept messages", async () => {
    await fc.assert(
      fc.asyncProperty(restoration(), fc.boolean(), async ({ input, state }, isMessage) => {
        const c = new ConversationBuilder("restored");
        for (const { attachment } of (await run({ input, state })).items) {
          if (isMessage) c.user(attachmentContent(attachment), { isMeta: true });
          else c.attachment(attachment);
        }
        const kept = [...input.kept, ...c.entries];
        const shown = new Set(c.entries.map((entry) => contentText(contentOf(entry))));
        for (const { attachment } of (await run({ input: { ...input, kept }, state })).items)
          expect(shown).not.toContain(contentText(attachmentContent(attachment)));
      }),
      { numRuns: 60 },
    );
  });

  it("restoration returns the same result for the same input and changes no input", async () => {
    await fc.assert(
      fc.asyncProperty(restoration(), async (given) => {
        deepFreeze(given.input.summarized);
        deepFreeze(given.input.kept);
        expect(await run(given)).toEqual(await run(given));
      }),
      { numRuns: 40 },
    );
  });

  it("a kind of content that fails never affects the restoration of other kinds", async () => {
    const failing = {
      todos: () => Promise.reject(new Error("no")),
      skills: () => Promise.reject(new Error("no")),
    };
    await fc.assert(
      fc.asyncProperty(restoration(), async ({ input, state }) => {
        const roomy = { ...input, budgetTokens: Number.POSITIVE_INFINITY };
        const whole = await run({ input: roomy, state });
        const broken = await run({ input: roomy, state: { ...state, ...failing } });
        const others = ({ items }: Restored) =>
          items.filter(({ kind }) => kind !== "todos" && kind !== "skills");
        expect(others(broken)).toEqual(others(whole));
        const reasons = broken.skipped.filter(({ kind }) => kind === "todos" || kind === "skills");
        expect(reasons.map(({ reason }) => reason)).toEqual(["failed", "failed"]);
      }),
      { numRuns: 40 },
    );
  });
});

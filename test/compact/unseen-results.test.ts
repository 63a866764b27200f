import type { ContentBlock, Entry, ToolResultBlock } from "@longhaul/core";
import {
  type Compaction,
  type CompactionPlan,
  compact,
  planCompaction,
  planReactive,
} from "@longhaul/core/compaction";
import { ESTIMATORS } from "@longhaul/core/measure";
import { snip } from "@longhaul/core/modules";
import { flatten } from "@longhaul/core/request";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rebuild } from "../../packages/core/src/compaction/compact.ts";
import { planFromPrepared } from "../../packages/core/src/compaction/plan/compaction-plan.ts";
import {
  type ShortenedEntries,
  shortenResults,
} from "../../packages/core/src/compaction/plan/shrink-messages.ts";
import { measureConversation } from "../../packages/core/src/compaction/plan/sized.ts";
import { measureBlock } from "../../packages/core/src/measure/tokens/measure.ts";
import { firstUnseenIndex } from "../../packages/core/src/messages/responses.ts";
import { contentText } from "../../packages/core/src/messages/untrusted.ts";
import { planSpan } from "../../packages/core/src/modules/collapse/plan-span.ts";
import { planFromNotes } from "../../packages/notes/src/plan-from-notes.ts";
import { apiRuleViolations } from "../support/api-rules.ts";
import { ConversationBuilder, image, toolResult, toolUse } from "../support/builders.ts";
import { deepFreeze } from "../support/deep-freeze.ts";
import { countingPorts, longSession, withoutUsage } from "../support/long-session.ts";

const words = (tokens: number, seed = 0): string =>
  Array.from({ length: tokens }, (_, at) => `w${(at * 31 + seed * 7) % 997}`).join(" ");
const tokensIn = (text: string): number => ESTIMATORS.o200k(text);

/** Creates a long session whose last calls have results that no model has seen. */
function unseenSession(results: readonly number[], after: readonly string[] = []): readonly Entry[] {
  const c = longSession(12);
  const ids = results.map((_, at) => `new-${at}`);
  c.assistant(ids.map((id) => toolUse(id, "Bash", { command: id })));
  c.user(results.map((tokens, at) => toolResult(`new-${at}`, words(tokens, at))));
  for (const text of after) c.user(text);
  return deepFreeze(c.entries.map(withoutUsage));
}

const carriedOut = (plan: CompactionPlan, targetTokens?: number): Promise<Compaction> =>
  compact(plan, countingPorts(), {
    leastSaving: "none",
    transcriptPath: "/t.jsonl",
    ...(targetTokens === undefined ? {} : { targetTokens }),
  });

/** Returns the results of the newest calls in the next request. */
function answersIn(entries: readonly Entry[]): ReadonlyMap<string, string> {
  const messages = flatten(entries);
  expect(apiRuleViolations(messages)).toEqual([]);
  const blocks = (at: number): readonly ContentBlock[] => {
    const content = messages[at]?.content ?? [];
    return typeof content === "string" ? [] : content;
  };
  const call = messages.findLastIndex(({ role }) => role === "assistant");
  const asked = blocks(call).flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
  const results = blocks(call + 1).filter((block): block is ToolResultBlock => block.type === "tool_result");
  expect(results.map(({ tool_use_id }) => tool_use_id)).toEqual(asked);
  return new Map(results.map(({ tool_use_id, content }) => [tool_use_id, contentText(content ?? "")]));
}

const TARGET = 30_000;
const last = (entries: readonly Entry[], back: number): string => entries.at(-back)?.uuid ?? "";

/** Every way to compact a conversation, as a function that plans the compaction. */
const WAYS: Readonly<Record<string, (entries: readonly Entry[]) => CompactionPlan>> = {
  "a compaction of the whole conversation": (entries) =>
    planCompaction({ entries }, { keepRecentTokens: 0, targetTokens: TARGET }),
  "a compaction that keeps recent messages": (entries) =>
    planCompaction({ entries }, { keepRecentTokens: 3_000, targetTokens: TARGET }),
  "a summary of the messages after a point": (entries) =>
    planCompaction({ entries }, { variant: "from", at: 9, targetTokens: TARGET, force: true }),
  "a summary up to the newest message": (entries) =>
    planCompaction({ entries }, { variant: "up-to", at: last(entries, 1), targetTokens: TARGET }),
  "a compaction after an overflow": (entries) =>
    planReactive({ entries }, { failure: { kind: "too-long" }, targetTokens: TARGET }),
  "a background summary": (entries) =>
    planFromPrepared(
      { entries },
      entries.map(({ uuid }) => uuid),
      {},
    ) as CompactionPlan,
  "a compaction from notes": (entries) => {
    const found = planFromNotes(
      { entries },
      { text: "# Notes\n", coveredUuid: last(entries, 1), leastSaving: "none" },
    );
    return "plan" in found ? found.plan : expect.fail(found.declined);
  },
};

describe.each(Object.keys(WAYS))("tool results that the model has not seen in %s", (name) => {
  const way = WAYS[name] as (entries: readonly Entry[]) => CompactionPlan;

  it.each([
    ["nothing", []],
    ["a message of the user", ["By the way, use tabs."]],
    ["reminders", ["<system-reminder>one</system-reminder>", "<system-reminder>two</system-reminder>"]],
  ])("a compaction keeps unseen results in full after their calls, followed by %s", async (_, after) => {
    const entries = unseenSession([2_000, 40, 900], after);
    const compaction = await carriedOut(way(entries), TARGET);
    const answers = answersIn(rebuild(compaction));
    expect([...answers.values()].map(tokensIn)).toEqual(
      [2_000, 40, 900].map((tokens, at) => tokensIn(words(tokens, at))),
    );
    expect(compaction.ledger?.shortened).toBeUndefined();
    expect(JSON.stringify(compaction.summary)).toContain("You have not read them yet");
  });
});

it("a background summary is dropped when its messages are only a summary and a call with an unseen result", () => {
  const c = new ConversationBuilder();
  c.boundary();
  c.summary("What was done.");
  c.tool("new-0", "Bash", { command: "make" }, words(900));
  const reply = new ConversationBuilder("reply").assistant("I see.");
  const ids = c.entries.map(({ uuid }) => uuid);
  expect(planFromPrepared({ entries: [...c.entries, reply] }, ids, {})?.summarized).toHaveLength(ids.length);
  expect(planFromPrepared({ entries: c.entries }, ids, {})).toBeUndefined();
});

describe("unseen results that do not fit next to the summary", () => {
  it("a compaction cuts a long unseen result in the middle, mentions `recall`, and lists the cut in the ledger", async () => {
    const entries = unseenSession([60_000]);
    const plan = planCompaction({ entries }, { targetTokens: TARGET });
    const compaction = await carriedOut(plan, TARGET);
    const text = answersIn(rebuild(compaction)).get("new-0") ?? "";
    expect(tokensIn(text)).toBeGreaterThan(TARGET / 2);
    expect(compaction.tokensAfter).toBeLessThan(TARGET);
    const whole = words(60_000);
    expect(text.startsWith(whole.slice(0, 1_000))).toBe(true);
    expect(text.endsWith(whole.slice(-1_000))).toBe(true);
    expect(text).toMatch(/characters of this result are left out .* Recall it with the id new-0/);
    expect(compaction.ledger?.shortened).toMatchObject([{ toolUseId: "new-0", entryId: last(entries, 1) }]);
    expect(JSON.stringify(compaction.summary)).toContain("They are shortened");
    expect(JSON.stringify(compaction.summary)).not.toContain("follow verbatim");
  });

  it("a compaction shortens the longest unseen results first and keeps 2,000 tokens of each", async () => {
    const entries = unseenSession([40_000, 300, 20_000]);
    const compaction = await carriedOut(planCompaction({ entries }, { targetTokens: TARGET }), TARGET);
    const sizes = [...answersIn(rebuild(compaction)).values()].map(tokensIn);
    expect(sizes[1]).toBe(tokensIn(words(300, 1)));
    expect(Math.min(sizes[0] ?? 0, sizes[2] ?? 0)).toBeGreaterThan(2_000);
    expect(compaction.ledger?.shortened).toHaveLength(2);
    expect(compaction.tokensAfter).toBeLessThan(TARGET);
  });

  describe("unseen results in a small window", () => {
    const SIZES = [700, 950, 1_300, 600];
    const [targetTokens, limitTokens] = [6_000, 12_000];
    const sizesIn = async (plan: CompactionPlan, limits: object): Promise<readonly number[]> => {
      const options = { leastSaving: "none", transcriptPath: "/t.jsonl", ...limits } as const;
      const entries = rebuild(await compact(plan, countingPorts(), options));
      return [...answersIn(entries).values()].map(tokensIn);
    };
    const whole = SIZES.map((size, at) => tokensIn(words(size, at)));

    it("a compaction keeps 2,000 tokens of each unseen result, or all of a shorter one, while they fit", async () => {
      const limits = { targetTokens, limitTokens };
      const plan = planCompaction({ entries: unseenSession(SIZES) }, limits);
      const sizes = await sizesIn(plan, limits);
      for (const [at, size] of sizes.entries()) {
        expect(size).toBeGreaterThanOrEqual(Math.min(2_000, whole[at] ?? 0));
      }
    });

    it("a compaction shortens unseen results further when the window cannot fit 2,000 tokens of each", async () => {
      const plan = planCompaction({ entries: unseenSession(SIZES) }, { targetTokens });
      const sizes = await sizesIn(plan, { targetTokens });
      expect(Math.max(...sizes)).toBeLessThan(2_000);
    });

    it("a compaction after an overflow keeps unseen results of less than 2,000 tokens in full", async () => {
      const limits = { targetTokens, limitTokens };
      const failure = { kind: "too-long", tokens: 20_000, limit: 16_000 } as const;
      const plan = planReactive({ entries: unseenSession([950, 900, 800]) }, { failure, ...limits });
      const sizes = await sizesIn(plan, limits);
      expect(sizes).toEqual([950, 900, 800].map((size, at) => tokensIn(words(size, at))));
    });

    it("an unseen result keeps 2,000 tokens even when the messages that the user keeps exceed the window", () => {
      const entries = unseenSession([5_000]);
      const options = { variant: "from", at: entries.at(-4)?.uuid ?? "", force: true } as const;
      const plan = planCompaction({ entries }, { ...options, targetTokens: 3_000, limitTokens: 4_000 });
      expect(plan.keptTokens).toBeGreaterThan(4_000);
      expect(plan.unseen?.shortened[0]?.keptTokens).toBeGreaterThanOrEqual(2_000);
    });

    it("an unseen result keeps 2,000 tokens even when the messages that the user keeps leave less space", () => {
      const entries = unseenSession([5_000]);
      const options = { variant: "from", at: entries.at(-4)?.uuid ?? "", force: true } as const;
      const { keptTokens, overheadTokens } = planCompaction({ entries }, options);
      const limitTokens = overheadTokens + keptTokens + 1_500;
      const plan = planCompaction({ entries }, { ...options, targetTokens: 3_000, limitTokens });
      expect(plan.unseen?.shortened[0]?.keptTokens).toBeGreaterThanOrEqual(2_000);
    });

    it("unseen results keep 2,000 tokens even when wrong usage makes the system prompt exceed the window", () => {
      const entries = unseenSession([700, 5_000]);
      const sized = measureConversation({ entries }, {});
      const plan = planCompaction(
        { entries },
        { sized: { ...sized, overheadTokens: 500_000 }, targetTokens, limitTokens },
      );
      const [small, large] = [...answersIn(plan.kept).values()].map(tokensIn);
      expect(small).toBe(tokensIn(words(700)));
      expect(large).toBeGreaterThanOrEqual(2_000);
    });

    it.each([0, 260])(
      "an image in an unseen result is removed only if its text can then be cut to the limit of %i tokens",
      (mostTokens) => {
        const tokenRatio = 0.5;
        const countTokens = (text: string): number => Math.ceil(tokensIn(text) * tokenRatio);
        const c = new ConversationBuilder();
        c.user([toolResult("new-0", [{ type: "text", text: words(6_000) }, image()])]);
        const tokens = Math.round((tokensIn(words(6_000)) + measureBlock(image(), tokensIn)) * tokenRatio);
        const limits = { roomTokens: 0, mostTokens, isLastResort: true, isRecorded: true };
        const cut = shortenResults(c.entries, { ...limits, tokens, countTokens, tokenRatio });
        const [{ keptTokens } = { keptTokens: 0 }] = cut.shortened;
        // If `mostTokens` is 0, a cut cannot help, so the result keeps its minimum. Otherwise the result must
        // fit without its image.
        const [least, most] = mostTokens === 0 ? [2_000, 2_100] : [200, mostTokens];
        expect(keptTokens).toBeGreaterThanOrEqual(least);
        expect(keptTokens).toBeLessThanOrEqual(most);
        expect(JSON.stringify(cut.entries).includes('"type":"image"')).toBe(mostTokens === 0);
      },
    );

    it.each([100, 400])(
      "an unseen result is cut to the limit of %i tokens as a last resort, or keeps 2,000 if that is too low",
      (room) => {
        const entries = unseenSession([6_000]).slice(-2);
        const { shortened } = shortenResults(entries, {
          roomTokens: 0,
          mostTokens: room,
          isLastResort: true,
          tokens: tokensIn(words(6_000)),
          tokenRatio: 1,
          countTokens: tokensIn,
          isRecorded: true,
        });
        const [least, most] = room === 100 ? [2_000, 2_100] : [250, room];
        expect(shortened[0]?.keptTokens).toBeGreaterThanOrEqual(least);
        expect(shortened[0]?.keptTokens).toBeLessThanOrEqual(most);
      },
    );

    it("unseen results use the tokens that a removed image frees", () => {
      const picture = measureBlock(image(), tokensIn);
      const mostTokens = 2 * 2_000 + picture;
      const c = new ConversationBuilder();
      c.user([
        toolResult("new-0", [{ type: "text", text: words(6_000) }, image()]),
        toolResult("new-1", words(6_000)),
      ]);
      const { shortened, entries } = shortenResults(c.entries, {
        roomTokens: 0,
        mostTokens,
        isLastResort: true,
        tokens: 2 * tokensIn(words(6_000)) + picture,
        tokenRatio: 1,
        countTokens: tokensIn,
        isRecorded: true,
      });
      expect(JSON.stringify(entries)).not.toContain('"type":"image"');
      expect(shortened).toHaveLength(2);
      for (const { keptTokens } of shortened) {
        expect(keptTokens).toBeGreaterThan(mostTokens * 0.45);
        expect(keptTokens).toBeLessThanOrEqual(mostTokens / 2);
      }
    });

    it("unseen results are cut in the same way whether their blocks are one shared object or copies of it", () => {
      const text: ContentBlock = { type: "text", text: words(1_500) };
      const tokens = 2 * tokensIn(words(1_500)) + 4 * measureBlock(image(), tokensIn);
      const cut = (mostTokens: number, own: (block: ContentBlock) => ContentBlock): ShortenedEntries => {
        const picture = image();
        const c = new ConversationBuilder();
        c.user([
          toolResult("new-0", [own(text), own(picture)]),
          toolResult("new-1", [own(text), own(picture)]),
          own(picture),
          own(picture),
        ]);
        const limits = { roomTokens: 0, mostTokens, isLastResort: true, isRecorded: true };
        return shortenResults(deepFreeze(c.entries), {
          ...limits,
          tokens,
          tokenRatio: 1,
          countTokens: tokensIn,
        });
      };
      fc.assert(
        fc.property(fc.integer({ min: 0, max: tokens }), (mostTokens) => {
          const copies = cut(mostTokens, (block) => ({ ...block }));
          const shared = cut(mostTokens, (block) => block);
          expect(shared.shortened).toEqual(copies.shortened);
          expect(JSON.stringify(shared.entries) === JSON.stringify(copies.entries)).toBe(true);
        }),
        { numRuns: 12 },
      );
      const [first] = cut(9_000, (block) => block).shortened;
      expect(first?.keptTokens).toBeGreaterThan(2_400);
    });

    it.each([true, false])(
      "images of the user are removed only when nothing else can be cut (last resort: %s)",
      (isLastResort) => {
        const picture = measureBlock(image(), tokensIn);
        const c = new ConversationBuilder();
        c.user([toolResult("new-0", words(3_000)), { type: "text", text: words(3_000) }, image()]);
        const cut = (mostTokens: number): string => {
          const tokens = 2 * tokensIn(words(3_000)) + picture;
          const limits = { roomTokens: 0, mostTokens, isLastResort, isRecorded: true };
          const counting = { tokens, tokenRatio: 1, countTokens: tokensIn };
          return JSON.stringify(shortenResults(c.entries, { ...limits, ...counting }).entries);
        };
        expect(cut(picture + 4_100)).toContain('"type":"image"');
        expect(cut(picture + 700)).toContain('"type":"image"');
        expect(cut(700).includes('"type":"image"')).toBe(!isLastResort);
      },
    );

    it("unseen results are not cut when they seem too long only because the reported usage is too high", () => {
      const entries = unseenSession([900]);
      const { shortened, entries: kept } = shortenResults(entries.slice(-2), {
        roomTokens: 500,
        mostTokens: 9_000,
        isLastResort: true,
        tokens: tokensIn(words(900)) * 2,
        tokenRatio: 2,
        countTokens: (text) => tokensIn(text) * 2,
        isRecorded: true,
      });
      expect(shortened).toEqual([]);
      expect(kept).toEqual(entries.slice(-2));
    });
  });

  it("a compaction shortens unseen results even when only a summary precedes them", async () => {
    const c = new ConversationBuilder();
    c.boundary();
    c.summary("What was done.");
    c.tool("new-0", "Bash", { command: "make" }, words(60_000));
    const compaction = await carriedOut(
      planCompaction({ entries: c.entries }, { targetTokens: TARGET }),
      TARGET,
    );
    expect(tokensIn(answersIn(rebuild(compaction)).get("new-0") ?? "")).toBeGreaterThan(2_000);
    expect(compaction.tokensAfter).toBeLessThan(TARGET);
  });

  it("a compaction keeps the images of an unseen result when they fit, and otherwise leaves a note", async () => {
    const c = longSession(12);
    c.assistant([toolUse("new-0", "Read", {})]);
    c.user([toolResult("new-0", [image(), { type: "text", text: words(60_000) }])]);
    const compactedTo = async (targetTokens: number): Promise<string> => {
      const plan = planCompaction({ entries: c.entries.map(withoutUsage) }, { targetTokens });
      return JSON.stringify((await carriedOut(plan, targetTokens)).kept);
    };
    expect(await compactedTo(TARGET)).toContain('"type":"image"');
    expect(await compactedTo(3_500)).toContain("[image left out to fit the context window]");
  });

  it("a shortened unseen result advises to call the tool again when no transcript contains it", () => {
    const entries = unseenSession([60_000]);
    const { kept } = planCompaction({ entries, isRecorded: false }, { targetTokens: TARGET });
    expect(JSON.stringify(kept)).toContain("Call the tool again for the missing part.");
  });

  it("a compaction cuts long results of parallel calls to one common size and keeps smaller ones in full", () => {
    const sizes = fc.array(fc.constantFrom(5, 150, 400, 900, 2_500, 6_000), { minLength: 1, maxLength: 6 });
    const share = fc.double({ min: 0.05, max: 1, noNaN: true });
    fc.assert(
      fc.property(sizes, share, fc.constantFrom(1, 2.5), (results, roomShare, tokenRatio) => {
        const c = new ConversationBuilder();
        c.user(results.map((size, at) => toolResult(`new-${at}`, words(size, at))));
        const countTokens = (text: string): number => Math.ceil(tokensIn(text) * tokenRatio);
        const texts = results.map((tokens, at) => words(tokens, at));
        const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
        const most = Math.floor(tokens * roomShare);
        const limits = { roomTokens: most, mostTokens: most, isLastResort: true, isRecorded: true };
        const cut = shortenResults(c.entries, { ...limits, tokens, countTokens, tokenRatio });
        const content = cut.entries.flatMap((entry) =>
          entry.type === "user" ? [entry.message.content] : [],
        );
        const blocks = content.flat() as readonly ToolResultBlock[];
        const kept = blocks.map((block) => contentText(block.content ?? ""));
        const shortened = kept.filter((text, at) => text !== texts[at]).map(countTokens);
        const longest = Math.max(0, ...shortened);
        for (const [at, text] of texts.entries()) {
          if (countTokens(text) < Math.min(...shortened, longest)) expect(kept[at]).toBe(text);
        }
        for (const size of shortened) expect(size).toBeGreaterThan(longest * 0.85 - 10);
      }),
      { numRuns: 40 },
    );
  });

  it("a compaction never breaks an API rule or loses an unseen result, whatever the sizes", async () => {
    const arbitrary = fc.record({
      results: fc.array(fc.constantFrom(5, 400, 3_000, 9_000), { minLength: 1, maxLength: 5 }),
      after: fc.array(fc.constantFrom("go on", words(4_000)), { maxLength: 2 }),
      way: fc.constantFrom(...Object.keys(WAYS).slice(0, 5)),
      targetTokens: fc.constantFrom(2_500, 8_000, TARGET),
    });
    await fc.assert(
      fc.asyncProperty(arbitrary, async ({ results, after, way, targetTokens }) => {
        const entries = unseenSession(results, after);
        const plan = (WAYS[way] as (entries: readonly Entry[]) => CompactionPlan)(entries);
        const compaction = await carriedOut(plan, targetTokens);
        const sizes = [...answersIn(rebuild(compaction)).values()].map(tokensIn);
        expect(sizes).toHaveLength(results.length);
        const { shortened = [] } = compaction.ledger ?? {};
        const cut = results.map((_, at) => shortened.some(({ toolUseId }) => toolUseId === `new-${at}`));
        for (const [at, size] of sizes.entries()) {
          if (cut[at] !== true) expect(size).toBe(tokensIn(words(results[at] ?? 0, at)));
          // Counts tokens like the plan. If there are no reported figures, a compaction after an overflow
          // expects 1.25 tokens per estimated token.
          if (cut[at] === true && targetTokens === TARGET)
            expect(size * plan.tokenRatio).toBeGreaterThanOrEqual(2_000);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe("collapse and snip with unseen results", () => {
  const separate = (): readonly Entry[] => {
    const c = longSession(12);
    for (let at = 0; at < 7; at++) {
      c.assistant([toolUse(`new-${at}`, "Bash", { at })], { id: "msg_parallel" });
      c.user([toolResult(`new-${at}`, words(600, at))]);
    }
    return c.entries.map(withoutUsage);
  };

  it("firstUnseenIndex recognizes a response that is stored as several entries with results between them", () => {
    const entries = separate();
    expect(firstUnseenIndex(entries)).toBe(entries.length - 14);
    const c = new ConversationBuilder("next");
    expect(firstUnseenIndex([...entries, c.assistant("I see.")])).toBe(entries.length + 1);
    const error = c.assistant("API Error", { isApiErrorMessage: true });
    expect(firstUnseenIndex([...entries, error])).toBe(entries.length - 14);
  });

  it("collapse never replaces calls with unseen results", () => {
    const entries = separate();
    const plan = planSpan({ entries }, { effectiveTokens: 9_000, isUrgent: true });
    const taken = new Set(plan?.uuids);
    for (let left = plan; left !== undefined; ) {
      for (const uuid of left.uuids) taken.add(uuid);
      left = planSpan({ entries }, { effectiveTokens: 9_000, isUrgent: true, taken });
    }
    expect(entries.slice(-14).some(({ uuid }) => taken.has(uuid ?? ""))).toBe(false);
    expect(taken.size).toBeGreaterThan(0);
  });

  it("snip never removes calls with unseen results", () => {
    const entries = separate();
    const options = { ports: countingPorts(), tokensOf: () => 1 };
    const ids = entries.slice(-20).map(({ uuid }) => uuid ?? "");
    for (const selection of [{ ids }, { keepLastTurns: 0 }]) {
      const { entries: left, removed } = snip(entries, selection, options);
      expect(removed).toBeGreaterThan(0);
      expect(left.slice(-14)).toEqual(entries.slice(-14));
    }
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryWork } from "../../../../test/clear/work.ts";
import { apiRuleViolations } from "../../../../test/support/api-rules.ts";
import { thinking, toolResult, toolUse } from "../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../test/support/deep-freeze.ts";
import {
  type Compactor,
  type CompactorOptions,
  createCompactor,
} from "../../../../test/support/full-compactor.ts";
import { codeOf } from "../../../../test/support/long-session.ts";
import type { Entry } from "../messages/entry.ts";
import type { ApiMessage } from "../messages/message.ts";
import { contentBlocks } from "../messages/message.ts";
import { CLEARED_RESULT_TEXT, clearedIdsIn } from "../messages/stand-ins.ts";
import { contentWithoutThinking } from "../messages/without-thinking.ts";
import { flatten } from "../request/flatten/flatten.ts";
import type { CompactorEvent } from "./events.ts";
import type { Message, Turn } from "./options.ts";

interface Engine {
  readonly compactor: Compactor;
  readonly events: CompactorEvent[];
  readonly lines: Entry[];
  readonly forgotten: string[];
}

function engine(options: CompactorOptions = {}): Engine {
  const events: CompactorEvent[] = [];
  const lines: Entry[] = [];
  const forgotten: string[] = [];
  const compactor = createCompactor({
    model: "claude-haiku-4-5",
    transcript: { path: "/t.jsonl", append: async (entries) => void lines.push(...entries) },
    ...options,
    settings: { environment: {}, ...options.settings },
    host: {
      onEvent: (event) => void events.push(event),
      onFilesForgotten: (paths) => void forgotten.push(...paths),
    },
  });
  return { compactor, events, lines, forgotten };
}

/** Creates this many consecutive tool calls, each of which reads a different file. */
const reads = (count: number): readonly ApiMessage[] => [
  { role: "user", content: "look at all of them" },
  ...Array.from({ length: count }, (_, nth): readonly ApiMessage[] => [
    {
      role: "assistant",
      content: [thinking(`before ${nth}`), toolUse(`t${nth}`, "Read", { file_path: `/project/${nth}.ts` })],
    },
    { role: "user", content: [toolResult(`t${nth}`, `line of ${nth}\n`.repeat(100))] },
  ]).flat(),
];

const emptiedIn = (messages: readonly ApiMessage[]): readonly string[] =>
  messages
    .flatMap(({ content }) => contentBlocks(content))
    .flatMap((block) =>
      block.type === "tool_result" && block.content === CLEARED_RESULT_TEXT ? [block.tool_use_id] : [],
    );

describe("clear()", () => {
  it("clear() clears all but the newest three tool results, and informs host, transcript and listener", async () => {
    const { compactor, events, lines, forgotten } = engine();
    const { messages, cleared, tokens } = await compactor.clear(reads(5));
    expect([cleared, emptiedIn(messages)]).toEqual([2, ["t0", "t1"]]);
    expect(forgotten).toEqual(["/project/0.ts", "/project/1.ts"]);
    expect(lines.at(-1)).toMatchObject({
      subtype: "microcompact_boundary",
      parentUuid: lines.at(-2)?.uuid,
      microcompactMetadata: { compactedToolIds: ["t0", "t1"] },
    });
    const [event] = events.filter(({ type }) => type === "results-cleared");
    expect(event).toMatchObject({ form: "manual", results: 2, tools: ["Read"], tokensAfter: tokens });
    expect(event).toHaveProperty("netSaving", expect.any(Object));
  });

  it.each([
    // No model has seen the newest result yet.
    [0, 4],
    [1, 4],
    [4, 1],
    [-2, 4],
    [1.9, 4],
    [Number.NaN, 2],
  ])("clear() with keep: %d clears %d of five tool results", async (keep, count) => {
    expect((await engine().compactor.clear(reads(5), { keep })).cleared).toBe(count);
  });

  it("clear() with keep: 0 clears all five tool results after a model has seen the newest one", async () => {
    const seen: readonly ApiMessage[] = [...reads(5), { role: "assistant", content: "I see." }];
    expect((await engine().compactor.clear(seen, { keep: 0 })).cleared).toBe(5);
  });

  it("clear() clears tool results even if automatic clearing is off", async () => {
    const { compactor } = engine({
      clearing: { form: "off" },
      settings: { environment: { DISABLE_MICROCOMPACT: "1", DISABLE_AUTO_COMPACT: "1" } },
    });
    expect((await compactor.clear(reads(5))).cleared).toBe(2);
  });

  it("clear() clears only results of the tools that the host lists as repeatable", async () => {
    const { compactor } = engine({ clearing: { tools: ["Ask"] } });
    expect(await codeOf(() => compactor.clear(reads(5)))).toBe("nothing-to-clear");
  });

  it("sends no thinking after a manually cleared tool result to a model that binds thinking", async () => {
    const { compactor, events } = engine({ model: "claude-opus-5-5" });
    const { request } = await compactor.clear(reads(5));
    const sent = JSON.stringify(request.messages);
    expect([0, 1, 4].map((nth) => sent.includes(`before ${nth}`))).toEqual([true, false, false]);
    expect(events).toContainEqual(expect.objectContaining({ type: "thinking-left-out", reason: "rewrite" }));
  });

  it("clear() lowers the token count of the next turn and causes no report of a cache break", async () => {
    const { compactor, events } = engine();
    const first = await compactor.before(reads(12));
    compactor.after({ usage: { input_tokens: first.tokens, output_tokens: 20 } });
    const answer: ApiMessage = { role: "assistant", content: [{ type: "text", text: "seen" }] };
    const cleared = await compactor.clear([...first.messages, answer]);
    expect(cleared.tokens).toBeLessThan(first.tokens / 2);
    const next = await compactor.before([...cleared.messages, { role: "user", content: "on" }]);
    compactor.after({ usage: { input_tokens: next.tokens, output_tokens: 20 } });
    const alarms = ["cache-break", "usage-distrusted"];
    expect(events.filter(({ type }) => alarms.includes(type))).toEqual([]);
  });

  it("clear() changes nothing and throws 'nothing-to-clear' if it must keep all results", async () => {
    const { compactor, events, lines } = engine();
    const messages = reads(3);
    await expect(compactor.clear(messages)).rejects.toMatchObject({
      code: "nothing-to-clear",
      remedy: expect.stringContaining("fewer"),
      facts: { results: 3 },
    });
    expect(await codeOf(() => compactor.clear([]))).toBe("nothing-to-clear");
    expect(lines.filter(({ type }) => type === "system")).toEqual([]);
    expect(events.filter(({ type }) => type === "results-cleared")).toEqual([]);
    expect((await compactor.before(messages)).messages).toBe(messages);
  });

  it("clear() clears nothing if the transcript cannot be written", async () => {
    let isBroken = true;
    const { compactor, events } = engine({
      transcript: {
        path: "/t",
        append: async () => (isBroken ? Promise.reject(new Error("full")) : undefined),
      },
    });
    const messages = reads(5);
    expect(await codeOf(() => compactor.clear(messages))).toBe("transcript-not-written");
    expect((await compactor.before(messages)).messages).toBe(messages);
    expect(events.filter(({ type }) => type === "results-cleared")).toEqual([]);
    isBroken = false;
    expect((await compactor.clear(messages)).cleared).toBe(2);
  });
});

/**
 * Returns the sent messages. Omits cache marks, and content that a model with bound thinking must not see
 * again.
 */
function sentIn({ request }: Turn, cleared: ReadonlySet<string>, isBinding: boolean): string {
  const blocks = request.messages.map(({ role, content }) => [
    role,
    contentBlocks(isBinding ? contentWithoutThinking(content) : content).map((block) =>
      block.type === "tool_result" && cleared.has(block.tool_use_id)
        ? { ...block, content: CLEARED_RESULT_TEXT }
        : block,
    ),
  ]);
  return JSON.stringify(blocks).replaceAll(/,"cache_control":\{[^}]*\}/g, "");
}

describe("clear() on random conversations", () => {
  const conversations = fc.oneof(
    arbitraryWork({ damaged: false }),
    arbitraryWork({ damaged: false }).map((entries) => flatten(entries)),
  ) as fc.Arbitrary<readonly Message[]>;

  it("clear() changes only tool results, returns a valid request, and does nothing when it is called again", async () => {
    await fc.assert(
      fc.asyncProperty(conversations, fc.boolean(), fc.nat(4), async (given, isBinding, keep) => {
        deepFreeze(given);
        const { compactor, lines } = engine({
          model: isBinding ? "claude-opus-5-5" : "claude-haiku-4-5",
        });
        const before = await compactor.before(given, { caller: "compact" });
        const turn = await compactor.clear(before.messages, { keep }).catch(() => undefined);
        if (turn === undefined) return;
        expect(apiRuleViolations(turn.request.messages)).toEqual([]);
        const cleared = clearedIdsIn(lines.slice(-1));
        expect(cleared.size).toBe(turn.cleared);
        expect(sentIn(turn, new Set(), isBinding)).toBe(sentIn(before, cleared, isBinding));
        expect(await codeOf(() => compactor.clear(turn.messages, { keep }))).toBe("nothing-to-clear");
        const after = await compactor.before(turn.messages, { caller: "compact" });
        expect(after.messages).toBe(turn.messages);
        expect(JSON.stringify(after.request)).toBe(JSON.stringify(turn.request));
      }),
      { numRuns: 150 },
    );
  });
});

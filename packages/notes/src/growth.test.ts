import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type GrowthThresholds, NotesGrowth } from "./notes-keeper.ts";

/** Reports these responses in order. Returns for each response whether notes are due after it. */
function course(
  growth: NotesGrowth,
  ...turns: readonly (readonly [tokens: number, calls: number])[]
): boolean[] {
  return turns.map(([tokens, toolCalls]) => {
    growth.responded({ tokens, toolCalls });
    return growth.isDue();
  });
}

describe("NotesGrowth, which decides when a notes update is due", () => {
  it("the first notes update is due after 10,000 tokens and 3 tool calls", () => {
    expect(course(new NotesGrowth(), [9_999, 3], [10_000, 0])).toEqual([false, true]);
    expect(course(new NotesGrowth(), [12_000, 2], [13_000, 1])).toEqual([false, true]);
  });

  it("a further notes update is due after 5,000 more tokens and 3 more tool calls", () => {
    const growth = new NotesGrowth();
    course(growth, [20_000, 3]);
    growth.updateStarted();
    expect(course(growth, [24_999, 3], [25_000, 1])).toEqual([false, true]);
    growth.updateStarted();
    expect(course(growth, [31_000, 2], [32_000, 1])).toEqual([false, true]);
  });

  it("a notes update is due after fewer tool calls when the last response made no tool call", () => {
    expect(course(new NotesGrowth(), [15_000, 1], [15_100, 0])).toEqual([false, true]);
  });

  it("tool calls without enough new tokens never make a notes update due", () => {
    expect(course(new NotesGrowth(), [1_000, 50], [2_000, 0])).toEqual([false, false]);
  });

  it("counts new tokens and tool calls from the start of the last notes update", () => {
    const growth = new NotesGrowth();
    course(growth, [20_000, 3]);
    growth.updateStarted();
    expect(growth.isDue()).toBe(false);
    expect(course(growth, [23_000, 2], [26_000, 1])).toEqual([false, true]);
  });

  it("after a compaction, counts new tokens from the reduced size of the conversation", () => {
    const growth = new NotesGrowth();
    course(growth, [150_000, 3]);
    growth.updateStarted();
    expect(course(growth, [20_000, 2], [24_000, 2], [25_000, 1])).toEqual([false, false, true]);
  });

  it("NotesGrowth uses the thresholds that it is given", () => {
    const small: GrowthThresholds = { firstTokens: 1_000, nextTokens: 500, toolCalls: 1 };
    const growth = new NotesGrowth(small);
    expect(course(growth, [1_000, 1])).toEqual([true]);
    growth.updateStarted();
    expect(course(growth, [1_499, 4], [1_500, 0])).toEqual([false, true]);
  });
});

type Event = Parameters<NotesGrowth["responded"]>[0] | "begun";

const events = (): fc.Arbitrary<readonly Event[]> =>
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.record({ tokens: fc.nat(40), toolCalls: fc.nat(3) }) },
      { weight: 1, arbitrary: fc.constant("begun" as const) },
    ),
    { maxLength: 30 },
  );

/** Implements the rule of `NotesGrowth` in the plainest way: it reads the whole history each time. */
function dueByTheRule(
  history: readonly Event[],
  { firstTokens, nextTokens, toolCalls }: GrowthThresholds,
): boolean {
  const at = history.lastIndexOf("begun");
  const before = history.slice(0, Math.max(0, at)).filter((event) => event !== "begun");
  const since = history.slice(at + 1).filter((event) => event !== "begun");
  const then = at === -1 ? 0 : (before.at(-1)?.tokens ?? 0);
  const last = since.at(-1) ?? before.at(-1);
  if (last === undefined) return false;
  const lowest = Math.min(then, ...since.map(({ tokens }) => tokens));
  const calls = since.reduce((sum, turn) => sum + turn.toolCalls, 0);
  const isEnough = last.tokens - lowest >= (at === -1 ? firstTokens : nextTokens);
  return isEnough && (calls >= toolCalls || last.toolCalls === 0);
}

describe("NotesGrowth, for any sequence of responses", () => {
  const thresholds: GrowthThresholds = { firstTokens: 10, nextTokens: 5, toolCalls: 3 };

  it("NotesGrowth agrees with a plain implementation of its rule after each response", () => {
    fc.assert(
      fc.property(events(), (history) => {
        const growth = new NotesGrowth(thresholds);
        for (const [index, event] of history.entries()) {
          if (event === "begun") growth.updateStarted();
          else growth.responded(event);
          expect(growth.isDue()).toBe(dueByTheRule(history.slice(0, index + 1), thresholds));
        }
      }),
      { numRuns: 300 },
    );
  });

  it("a notes update is never due right after an update started", () => {
    fc.assert(
      fc.property(events(), (history) => {
        const growth = new NotesGrowth(thresholds);
        for (const event of history) {
          if (event !== "begun") growth.responded(event);
          growth.updateStarted();
          expect(growth.isDue()).toBe(false);
        }
      }),
    );
  });
});

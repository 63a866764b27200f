import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type GrowthThresholds, NotesGrowth } from "./notes-keeper.ts";

/** Simulates consecutive responses, and returns whether notes are due after each. */
function course(
  growth: NotesGrowth,
  ...turns: readonly (readonly [tokens: number, calls: number])[]
): boolean[] {
  return turns.map(([tokens, toolCalls]) => {
    growth.responded({ tokens, toolCalls });
    return growth.isDue();
  });
}

describe("notes are due", () => {
  it("the first time after 10,000 tokens and 3 tool calls", () => {
    expect(course(new NotesGrowth(), [9_999, 3], [10_000, 0])).toEqual([false, true]);
    expect(course(new NotesGrowth(), [12_000, 2], [13_000, 1])).toEqual([false, true]);
  });

  it("again after 5,000 more tokens and 3 more tool calls", () => {
    const growth = new NotesGrowth();
    course(growth, [20_000, 3]);
    growth.begun();
    expect(course(growth, [24_999, 3], [25_000, 1])).toEqual([false, true]);
    growth.begun();
    expect(course(growth, [31_000, 2], [32_000, 1])).toEqual([false, true]);
  });

  it("after fewer calls where the last response made none: the work has come to a pause", () => {
    expect(course(new NotesGrowth(), [15_000, 1], [15_100, 0])).toEqual([false, true]);
  });

  it("never by calls alone", () => {
    expect(course(new NotesGrowth(), [1_000, 50], [2_000, 0])).toEqual([false, false]);
  });

  it("by what has come since the last ones were begun, not since they were finished", () => {
    const growth = new NotesGrowth();
    course(growth, [20_000, 3]);
    growth.begun();
    expect(growth.isDue()).toBe(false);
    expect(course(growth, [23_000, 2], [26_000, 1])).toEqual([false, true]);
  });

  it("from the new size on, where the conversation was compacted", () => {
    const growth = new NotesGrowth();
    course(growth, [150_000, 3]);
    growth.begun();
    expect(course(growth, [20_000, 2], [24_000, 2], [25_000, 1])).toEqual([false, false, true]);
  });

  it("by the thresholds that are given: those of a small window are smaller", () => {
    const small: GrowthThresholds = { firstTokens: 1_000, nextTokens: 500, toolCalls: 1 };
    const growth = new NotesGrowth(small);
    expect(course(growth, [1_000, 1])).toEqual([true]);
    growth.begun();
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

/** Applies the rule of SPEC.md to the whole history each time. */
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

describe("whatever the course of a conversation", () => {
  const thresholds: GrowthThresholds = { firstTokens: 10, nextTokens: 5, toolCalls: 3 };

  it("notes are due exactly when the rule says so, after each response", () => {
    fc.assert(
      fc.property(events(), (history) => {
        const growth = new NotesGrowth(thresholds);
        for (const [index, event] of history.entries()) {
          if (event === "begun") growth.begun();
          else growth.responded(event);
          expect(growth.isDue()).toBe(dueByTheRule(history.slice(0, index + 1), thresholds));
        }
      }),
      { numRuns: 300 },
    );
  });

  it("they are never due right after they were begun", () => {
    fc.assert(
      fc.property(events(), (history) => {
        const growth = new NotesGrowth(thresholds);
        for (const event of history) {
          if (event !== "begun") growth.responded(event);
          growth.begun();
          expect(growth.isDue()).toBe(false);
        }
      }),
    );
  });
});

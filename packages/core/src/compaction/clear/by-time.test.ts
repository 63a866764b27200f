import { describe, expect, it } from "vitest";
import { indexOf, work } from "../../../../../test/clear/work.ts";
import type { Clearing } from "./stale-results.ts";
import { chooseByTime, isIdle } from "./stale-results.ts";

const HOUR_MS = 3_600_000;
const IDLE = { idleMs: HOUR_MS + 1 };
const idsOf = (clearing: Clearing | undefined): readonly string[] | undefined =>
  clearing?.results.map(({ id }) => id);

describe("clearing tool results by time", () => {
  it("clears all but the newest 5 tool results once the last reply is over 60 minutes old", () => {
    const index = indexOf(work(100, 100, 100, 100, 100, 100, 100));
    expect(chooseByTime(index, { idleMs: HOUR_MS })).toBeUndefined();
    const clearing = chooseByTime(index, IDLE);
    expect(idsOf(clearing)).toEqual(["t0", "t1"]);
    expect(clearing).toMatchObject({ form: "time", tokensBefore: 700 });
    expect(clearing?.tokensAfter).toBe(500 + 2 * index.placeholderTokens);
  });

  it("clearing by time keeps at least 1 tool result", () => {
    const index = indexOf(work(100, 100, 100));
    for (const keepNewest of [1, 0, -3, Number.NaN])
      expect(idsOf(chooseByTime(index, { ...IDLE, keepNewest }))).toEqual(["t0", "t1"]);
  });

  it("clears no tool results by time when at most 5 exist, or right after a clearing", () => {
    expect(chooseByTime(indexOf(work(100, 100, 100, 100, 100)), IDLE)).toBeUndefined();
    const index = indexOf(work(100, 100, 100, 100, 100, 100));
    index.applied(chooseByTime(index, IDLE) as Clearing);
    expect(index.activeCount).toBe(5);
    expect(chooseByTime(index, IDLE)).toBeUndefined();
  });

  it("clearing by time uses a given idle threshold, and treats a missing or negative idle time as not idle", () => {
    expect([isIdle(11, 10), isIdle(10, 10)]).toEqual([true, false]);
    expect([isIdle(undefined), isIdle(-HOUR_MS * 2), isIdle(Number.NaN)]).toEqual([false, false, false]);
    const index = indexOf(work(100, 100, 100, 100, 100, 100));
    expect(idsOf(chooseByTime(index, { idleMs: 11, thresholdMs: 10 }))).toEqual(["t0"]);
    expect(chooseByTime(index, { idleMs: undefined })).toBeUndefined();
  });
});

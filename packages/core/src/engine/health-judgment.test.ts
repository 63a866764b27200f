import { describe, expect, it } from "vitest";
import { Health, Judgment } from "./health.ts";

describe("Judgment", () => {
  const judge = (tokens: number | undefined, threshold = 100): Judgment | string | undefined => {
    const judgment = new Judgment();
    judgment.compacted({ trigger: "auto", turn: 4 });
    return judgment.reported({ turn: 4, tokens, threshold });
  };

  it("judges a compaction as ineffective if the next usage report is at or above the threshold", () => {
    expect(judge(99)).toBe("effective");
    expect(judge(100)).toBe("ineffective");
    expect(judge(101)).toBe("ineffective");
  });

  it("waits for a usage report to judge a compaction, and judges it once", () => {
    const judgment = new Judgment();
    expect(judgment.reported({ turn: 1, tokens: 5, threshold: 10 })).toBeUndefined();
    judgment.compacted({ trigger: "reactive", turn: 2 });
    for (const tokens of [undefined, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(judgment.reported({ turn: 2, tokens, threshold: 10 })).toBeUndefined();
    }
    expect(judgment.reported({ turn: 2, tokens: 5, threshold: Number.NaN })).toBeUndefined();
    expect(judgment.isPending).toBe(true);
    expect(judgment.reported({ turn: 7, tokens: 5, threshold: 10 })).toBe("effective");
    expect(judgment.isPending).toBe(false);
    expect(judgment.reported({ turn: 8, tokens: 50, threshold: 10 })).toBeUndefined();
  });

  it("judges a compaction only by responses to requests that were sent after it", () => {
    const judgment = new Judgment();
    judgment.compacted({ trigger: "manual", turn: 3 });
    expect(judgment.reported({ turn: 3, tokens: 500, threshold: 100 })).toBeUndefined();
    expect(judgment.reported({ turn: 4, tokens: 50, threshold: 100 })).toBe("effective");
    judgment.compacted({ trigger: "auto", turn: 9 });
    expect(judgment.reported({ turn: 8, tokens: 500, threshold: 100 })).toBeUndefined();
    expect(judgment.reported({ turn: 9, tokens: 50, threshold: 100 })).toBe("effective");
  });
});

describe("shouldReportFloor", () => {
  it("reports once that the minimum size reaches the threshold, and again if either changes by over a tenth", () => {
    const health = new Health({ now: () => 0 });
    expect(health.shouldReportFloor({ floorTokens: 100_000, threshold: 90_000 })).toBe(true);
    for (const floorTokens of [100_000, 110_000, 95_000]) {
      expect(health.shouldReportFloor({ floorTokens, threshold: 90_000 })).toBe(false);
    }
    expect(health.shouldReportFloor({ floorTokens: 110_001, threshold: 90_000 })).toBe(true);
    expect(health.shouldReportFloor({ floorTokens: 100_000, threshold: 90_000 })).toBe(false);
    expect(health.shouldReportFloor({ floorTokens: 110_000, threshold: 80_999 })).toBe(true);
  });

  it("reports again that the minimum size reaches the threshold if it was below the threshold in between", () => {
    const health = new Health({ now: () => 0 });
    expect(health.shouldReportFloor({ floorTokens: 90_000, threshold: 90_000 })).toBe(true);
    expect(health.shouldReportFloor({ floorTokens: 89_999, threshold: 90_000 })).toBe(false);
    expect(health.shouldReportFloor({ floorTokens: 90_000, threshold: 90_000 })).toBe(true);
  });

  it("reports nothing if the minimum size is below the threshold or is not a number", () => {
    expect(new Health({ now: () => 0 }).shouldReportFloor({ floorTokens: 10, threshold: 90_000 })).toBe(
      false,
    );
    expect(
      new Health({ now: () => 0 }).shouldReportFloor({ floorTokens: Number.NaN, threshold: 90_000 }),
    ).toBe(false);
  });
});

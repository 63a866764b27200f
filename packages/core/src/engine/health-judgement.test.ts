import { describe, expect, it } from "vitest";
import { Health, Judgement } from "./health.ts";

describe("the judgement of a compaction", () => {
  const judge = (tokens: number | undefined, threshold = 100): Judgement | string | undefined => {
    const judgement = new Judgement();
    judgement.compacted({ trigger: "auto", turn: 4 });
    return judgement.reported({ turn: 4, tokens, threshold });
  };

  it("is made by the next usage: at or above the threshold it was ineffective", () => {
    expect(judge(99)).toBe("effective");
    expect(judge(100)).toBe("ineffective");
    expect(judge(101)).toBe("ineffective");
  });

  it("waits where there is no usage, and is made once", () => {
    const judgement = new Judgement();
    expect(judgement.reported({ turn: 1, tokens: 5, threshold: 10 })).toBeUndefined();
    judgement.compacted({ trigger: "reactive", turn: 2 });
    for (const tokens of [undefined, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(judgement.reported({ turn: 2, tokens, threshold: 10 })).toBeUndefined();
    }
    expect(judgement.reported({ turn: 2, tokens: 5, threshold: Number.NaN })).toBeUndefined();
    expect(judgement.isPending).toBe(true);
    expect(judgement.reported({ turn: 7, tokens: 5, threshold: 10 })).toBe("effective");
    expect(judgement.isPending).toBe(false);
    expect(judgement.reported({ turn: 8, tokens: 50, threshold: 10 })).toBeUndefined();
  });

  it("does not take an answer to the conversation as it was before", () => {
    const judgement = new Judgement();
    judgement.compacted({ trigger: "manual", turn: 3 });
    expect(judgement.reported({ turn: 3, tokens: 500, threshold: 100 })).toBeUndefined();
    expect(judgement.reported({ turn: 4, tokens: 50, threshold: 100 })).toBe("effective");
    judgement.compacted({ trigger: "auto", turn: 9 });
    expect(judgement.reported({ turn: 8, tokens: 500, threshold: 100 })).toBeUndefined();
    expect(judgement.reported({ turn: 9, tokens: 50, threshold: 100 })).toBe("effective");
  });
});

describe("a floor above the threshold", () => {
  it("is said once, and again when it changed by more than a tenth", () => {
    const health = new Health({ now: () => 0 });
    expect(health.isFloorNews({ floorTokens: 100_000, threshold: 90_000 })).toBe(true);
    for (const floorTokens of [100_000, 110_000, 95_000]) {
      expect(health.isFloorNews({ floorTokens, threshold: 90_000 })).toBe(false);
    }
    expect(health.isFloorNews({ floorTokens: 110_001, threshold: 90_000 })).toBe(true);
    expect(health.isFloorNews({ floorTokens: 100_000, threshold: 90_000 })).toBe(false);
    expect(health.isFloorNews({ floorTokens: 110_000, threshold: 80_999 })).toBe(true);
  });

  it("is said again after it had been below", () => {
    const health = new Health({ now: () => 0 });
    expect(health.isFloorNews({ floorTokens: 90_000, threshold: 90_000 })).toBe(true);
    expect(health.isFloorNews({ floorTokens: 89_999, threshold: 90_000 })).toBe(false);
    expect(health.isFloorNews({ floorTokens: 90_000, threshold: 90_000 })).toBe(true);
  });

  it("below the threshold there is nothing to say", () => {
    expect(new Health({ now: () => 0 }).isFloorNews({ floorTokens: 10, threshold: 90_000 })).toBe(false);
    expect(new Health({ now: () => 0 }).isFloorNews({ floorTokens: Number.NaN, threshold: 90_000 })).toBe(
      false,
    );
  });
});

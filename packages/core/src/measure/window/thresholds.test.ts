import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { computeThresholds, windowState } from "./thresholds.ts";

const usual = { windowTokens: 200_000, maxOutputTokens: 32_000 };

describe("computeThresholds", () => {
  it("computes the documented thresholds of a window of 200,000 tokens", () => {
    expect(computeThresholds(usual)).toEqual({
      size: 200_000,
      origin: "model-table",
      effective: 180_000,
      autoCompact: 167_000,
      warning: 147_000,
      error: 147_000,
      blocking: 177_000,
      headroomBy: "auto-compact",
      autoCompactEnabled: true,
    });
  });

  it("reserves only the model's maximum output if that is under 20,000 tokens", () => {
    expect(computeThresholds({ windowTokens: 200_000, maxOutputTokens: 8_192 }).effective).toBe(191_808);
  });

  it("computes the warning threshold from the effective window if auto-compact is off", () => {
    expect(computeThresholds(usual, { autoCompactEnabled: false }).warning).toBe(160_000);
  });

  it("disables automatic compaction if all compaction is off", () => {
    const off = computeThresholds(usual, { compactEnabled: false });
    expect(off).toMatchObject({ headroomBy: "nobody", autoCompactEnabled: false, warning: 160_000 });
    expect(windowState(170_000, off)).toMatchObject({ percentLeft: 6, isAboveAutoCompactThreshold: false });
  });

  it.each([
    [{}, "auto-compact"],
    [{ collapseEnabled: true }, "collapse"],
    [{ collapseEnabled: true, reactiveOnly: true }, "overflow"],
    [{ autoCompactEnabled: false, collapseEnabled: true, reactiveOnly: true }, "manual"],
    [{ compactEnabled: false, autoCompactEnabled: false, collapseEnabled: true }, "nobody"],
  ])("with the options %o, headroomBy is %s", (options, headroomBy) => {
    const autoCompactEnabled = headroomBy === "auto-compact";
    expect(computeThresholds(usual, options)).toMatchObject({ headroomBy, autoCompactEnabled });
  });

  it("autoCompactPercent is rounded down to whole tokens and never raises the default threshold", () => {
    expect(computeThresholds(usual, { autoCompactPercent: 33.333 }).autoCompact).toBe(59_999);
    expect(computeThresholds(usual, { autoCompactPercent: 100 }).autoCompact).toBe(167_000);
  });

  it("autoCompactWindow can make the window of the model smaller, but not larger", () => {
    expect(computeThresholds(usual, { autoCompactWindow: 100_000 }).size).toBe(100_000);
    expect(computeThresholds(usual, { autoCompactWindow: 900_000 }).size).toBe(200_000);
  });

  it("the option blockingLimit replaces the computed blocking limit", () => {
    expect(computeThresholds(usual, { blockingLimit: 50_000 }).blocking).toBe(50_000);
  });

  it("thresholds stay positive and ordered (warning < auto < blocking < effective) for every window", () => {
    const windows = fc.integer({ min: 16, max: 2_000_000 });
    const outputs = fc.integer({ min: 1, max: 200_000 });
    const percents = fc.option(fc.double({ min: 0.01, max: 100, noNaN: true }), { nil: undefined });
    fc.assert(
      fc.property(windows, outputs, percents, (windowTokens, maxOutputTokens, percent) => {
        const options = percent === undefined ? {} : { autoCompactPercent: percent };
        const t = computeThresholds({ windowTokens, maxOutputTokens }, options);
        const ordered = [0, t.warning, t.autoCompact, t.blocking, t.effective, t.size];
        expect(ordered).toEqual([...new Set(ordered)].sort((a, b) => a - b));
      }),
    );
  });
});

describe("windowState", () => {
  const thresholds = computeThresholds(usual);

  it("treats a token count that equals a threshold as above the threshold", () => {
    expect(windowState(146_999, thresholds).isAboveWarningThreshold).toBe(false);
    expect(windowState(147_000, thresholds)).toMatchObject({
      isAboveWarningThreshold: true,
      isAboveErrorThreshold: true,
      isAboveAutoCompactThreshold: false,
    });
    expect(windowState(167_000, thresholds).isAboveAutoCompactThreshold).toBe(true);
    expect(windowState(176_999, thresholds).isAtBlockingLimit).toBe(false);
    expect(windowState(177_000, thresholds).isAtBlockingLimit).toBe(true);
  });

  it("returns the rounded percentage of tokens left below the threshold, and never less than 0", () => {
    expect(windowState(0, thresholds).percentLeft).toBe(100);
    expect(windowState(83_500, thresholds).percentLeft).toBe(50);
    expect(windowState(400_000, thresholds).percentLeft).toBe(0);
  });

  it("no token count is above the auto-compact threshold if auto-compact is off", () => {
    const off = computeThresholds(usual, { autoCompactEnabled: false });
    expect(windowState(179_000, off).isAboveAutoCompactThreshold).toBe(false);
    expect(windowState(90_000, off).percentLeft).toBe(50);
  });
});

import { describe, expect, it } from "vitest";
import type { ReplayPolicyName } from "../policy.ts";
import { BreakdownTracker } from "./cost-breakdown.ts";
import type { PolicyReplay } from "./replay-result.ts";
import { compare } from "./replay-result.ts";

const replayed = (policy: ReplayPolicyName, total: number, probesKept: number): PolicyReplay => ({
  policy,
  cost: { total, summaries: 0 },
  breakdown: new BreakdownTracker(() => 0).sums,
  tokens: { plain: 0, written: 0, read: 0, output: 0 },
  summaryCalls: 0,
  compactions: 0,
  clearings: 0,
  stallMs: 0,
  cacheBreaks: 0,
  refusedCalls: 0,
  peakTokens: 0,
  lastTokens: 0,
  probesKept,
  turns: [],
});

describe("compare", () => {
  it("compares longhaul with the cheapest policy that keeps at least as many probes as longhaul within the window", () => {
    const comparison = compare([
      replayed("longhaul", 6, 90),
      replayed("drop-oldest", 5, 40),
      replayed("clear-results", 12, 90),
      replayed("plain-summary", 10, 95),
      replayed("everything", 20, 100),
    ]);
    expect(comparison).toEqual({
      equal: { policy: "plain-summary", ratio: 0.6, probesKept: 95 },
      fullest: { policy: "plain-summary", ratio: 0.6, probesKept: 95 },
      everything: { policy: "everything", ratio: 0.3, probesKept: 100 },
      cheapest: { policy: "drop-oldest", ratio: 1.2, probesKept: 40 },
    });
  });

  it("names no equal policy if no other policy keeps as many probes as longhaul within the window", () => {
    const comparison = compare([
      replayed("longhaul", 6, 90),
      replayed("drop-oldest", 5, 40),
      replayed("everything", 20, 100),
    ]);
    expect(comparison?.equal).toBeNull();
    expect(comparison?.everything?.ratio).toBe(0.3);
  });

  it("names the other policy that keeps the most probes, even if it keeps fewer than longhaul", () => {
    const ours = replayed("longhaul", 6, 90);
    const rivals = [replayed("drop-oldest", 5, 90), replayed("plain-summary", 10, 95)];
    expect(compare([ours, ...rivals])).toMatchObject({
      equal: { policy: "drop-oldest", ratio: 1.2 },
      fullest: { policy: "plain-summary", ratio: 0.6, probesKept: 95 },
    });
    expect(compare([ours, replayed("drop-oldest", 5, 40), replayed("plain-summary", 10, 80)])).toMatchObject({
      equal: null,
      fullest: { policy: "plain-summary", probesKept: 80 },
    });
  });

  it("a policy with more refused calls than longhaul is never the equal policy or the policy with the most probes", () => {
    const stuck = { ...replayed("keep-last", 1, 95), refusedCalls: 1 };
    const comparison = compare([replayed("longhaul", 6, 90), stuck, replayed("plain-summary", 10, 90)]);
    expect(comparison?.equal?.policy).toBe("plain-summary");
    expect(comparison?.fullest?.policy).toBe("plain-summary");
    expect(comparison?.cheapest?.policy).toBe("keep-last");
    expect(compare([replayed("longhaul", 6, 90), stuck])).toMatchObject({ equal: null, fullest: null });
  });

  it("compare returns null unless both longhaul and a policy of another program were replayed", () => {
    expect(compare([replayed("longhaul", 6, 90), replayed("longhaul-built-in", 1, 99)])).toBeNull();
    expect(compare([replayed("drop-oldest", 6, 90)])).toBeNull();
    expect(compare([replayed("longhaul", 0, 0), replayed("drop-oldest", 0, 0)])?.equal?.ratio).toBe(1);
  });
});

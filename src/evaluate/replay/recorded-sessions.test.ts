import { beforeAll, expect, it } from "vitest";
import { claudeCodeSessions, describeRecorded } from "../../../test/support/real-sessions.ts";
import { loadSession } from "../../transcript/load.ts";
import { replaySession } from "./replay.ts";
import type { PolicyReplay, ReplayPolicyName, ReplayTotal } from "./result.ts";
import { totalOfReplays } from "./total.ts";

/** As small as in the figures of `eval`, so that sessions fill it many times. */
const WINDOW_TOKENS = 50_000;
const MINUTE_MS = 60_000;

/** Those with the most calls take half of the time, and tell the same. */
const LONGEST = /6c0a282a|e0a6db83|large-conversation/;

describeRecorded("recorded sessions in a small window", () => {
  let total: ReplayTotal;
  const of = (name: ReplayPolicyName): PolicyReplay | undefined =>
    total.policies.find(({ policy }) => policy === name);

  beforeAll(async () => {
    const policies = ["longhaul", "drop-oldest", "plain-summary", "everything"] as const;
    const replays = [];
    for (const path of claudeCodeSessions().filter((name) => !LONGEST.test(name))) {
      const session = await loadSession(path);
      replays.push(await replaySession(session, { windowTokens: WINDOW_TOKENS, policies }));
    }
    total = totalOfReplays(replays);
  }, 5 * MINUTE_MS);

  it("go through without a call that is too long, and without a turn that waits", () => {
    expect(of("longhaul")).toMatchObject({ refusedCalls: 0, stallMs: 0 });
    expect(of("longhaul")?.compactions).toBeGreaterThan(20);
  });

  it("are known at their end as by no other policy, and by the most part", () => {
    const kept = of("longhaul")?.probesKept ?? 0;
    expect(kept / total.probes).toBeGreaterThan(0.9);
    for (const name of ["drop-oldest", "plain-summary"] as const) {
      expect(kept).toBeGreaterThan(of(name)?.probesKept ?? Number.POSITIVE_INFINITY);
    }
  });

  it("cost at most 0.7 times what keeping as much costs", () => {
    const { equal, everything } = total.comparison ?? {};
    expect((equal ?? everything)?.ratio).toBeLessThanOrEqual(0.7);
  });
});

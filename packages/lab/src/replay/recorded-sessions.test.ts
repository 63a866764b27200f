import { loadSession } from "@longhaul/sessions";
import { beforeAll, expect, it } from "vitest";
import { claudeCodeSessions, describeRecorded } from "../../../../test/support/real-sessions.ts";
import type { ReplayPolicyName } from "../policy.ts";
import { replaySession } from "./replay.ts";
import type { PolicyReplay, ReplayTotal } from "./replay-result.ts";
import { totalOfReplays } from "./replay-result.ts";

/** The default window of `eval`, so small that sessions fill it several times. */
const WINDOW_TOKENS = 50_000;
const MINUTE_MS = 60_000;

/**
 * The test skips these sessions. Replaying them would take most of the test's time, and their numbers of
 * probes differ from those of the other sessions.
 */
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

  it("longhaul replays recorded sessions without a refused call and without making a turn wait", () => {
    expect(of("longhaul")).toMatchObject({ refusedCalls: 0, stallMs: 0 });
    expect(of("longhaul")?.compactions).toBeGreaterThan(20);
  });

  // Most of the others are names and figures, which recall finds, and earlier requests that were shortened.
  it("longhaul keeps over 85% of the probes of recorded sessions, and more probes than drop-oldest", () => {
    const kept = of("longhaul")?.probesKept ?? 0;
    expect(kept / total.probes).toBeGreaterThan(0.85);
    expect(kept).toBeGreaterThan(of("drop-oldest")?.probesKept ?? Number.POSITIVE_INFINITY);
  });

  // No test compares the cost of longhaul with that of plain summaries. Both cost the same in these sessions.
  // `docs/replay.md` compares them over all sessions.
  it("longhaul costs less than two thirds of the price of sending the whole history in an unlimited window", () => {
    expect(total.comparison?.everything?.ratio).toBeLessThan(2 / 3);
  });
});

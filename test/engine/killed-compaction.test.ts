import { describe, expect, it } from "vitest";
import { createRandom } from "../../packages/simulator/src/demo/random.ts";
import { isSummaryCall } from "./faults.case.ts";
import { afterEvent, atWrite, whileAnswering, whileSilent } from "./killed-moments.case.ts";
import { KILLS_TIMEOUT, killAt, killedRounds, ROUNDS, tornShare } from "./killed-rounds.case.ts";
import type { KilledSession } from "./killed-session.case.ts";

const open = killedRounds("compaction");

const boundaryOf = async (session: KilledSession): Promise<string | undefined> => {
  const [first] = await session.conversation();
  return first?.type === "system" && first.subtype === "compact_boundary" ? first.uuid : undefined;
};

/** Returns true if the last process compacted before its first call. */
const compactedAtOnce = ({ last }: KilledSession): boolean =>
  last?.reports.find(({ type, ...report }) => {
    return type === "turn" || ("name" in report && report.name === "compaction-started");
  })?.type === "event";

describe.concurrent.each(ROUNDS)("processes killed during a compaction (%d)", (seed) => {
  it(
    "a kill while the model writes the summary leaves the session without a compaction",
    KILLS_TIMEOUT,
    async () => {
      const session = await open({ headroom: "summaries", seed });
      const chance = createRandom(seed);
      const answering = whileAnswering(isSummaryCall, chance.between(0, 80));
      await killAt(session, seed % 2 === 1 ? whileSilent(isSummaryCall) : answering);
      expect(await boundaryOf(session)).toBeUndefined();
      expect(await session.finish()).toEqual([]);
    },
  );

  it.each(["summaries", "notes"] as const)(
    "a kill during a compaction from %s leaves the whole compaction or nothing of it",
    KILLS_TIMEOUT,
    async (headroom) => {
      const session = await open({ headroom, seed });
      const chance = createRandom(seed);
      await killAt(session, atWrite("torn", "compaction", { share: tornShare(seed, chance) }));
      expect(await session.conversation()).toEqual(await session.conversationBeforeWrite());

      await killAt(session, atWrite("after", "compaction"));
      expect(await boundaryOf(session)).toBe(session.last?.reportsOf("writing").at(-1)?.boundaryUuid);

      await killAt(session, afterEvent("compaction-started", chance.between(0, 60)));
      expect(compactedAtOnce(session)).toBe(false);
      expect(await session.finish()).toEqual([]);
    },
  );

  it(
    "a session resumes from its last complete line after its process was killed during any other write",
    KILLS_TIMEOUT,
    async () => {
      const session = await open({ headroom: "notes", seed });
      const chance = createRandom(seed);
      for (const skip of [chance.between(1, 4), chance.between(3, 8)]) {
        const share = chance.between(1, 1_000) / 1_000;
        await killAt(session, atWrite("torn", "messages", { share, skip }));
      }
      expect(await session.finish()).toEqual([]);
    },
  );
});

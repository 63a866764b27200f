import { describe, expect, it } from "vitest";
import { isCompactBoundary } from "../../packages/core/src/messages/entry.ts";
import { createRandom } from "../../packages/simulator/src/demo/random.ts";
import { isSummaryCall } from "./faults.case.ts";
import { afterAnswer, afterEvent, atWrite, whileAnswering, whileSilent } from "./killed-moments.case.ts";
import { KILLS_TIMEOUT, killAt, killedRounds, ROUNDS, tornShare } from "./killed-rounds.case.ts";
import type { KilledSession } from "./killed-session.case.ts";

const open = killedRounds("background");

const boundariesIn = async (session: KilledSession): Promise<number> =>
  (await session.conversation()).filter(isCompactBoundary).length;

/** Counts the events with this name in the last process. */
const times = ({ last }: KilledSession, name: string): number =>
  last?.reportsOf("event").filter((event) => event.name === name).length ?? 0;

describe.concurrent.each(ROUNDS)("processes that are killed around a background summary (%d)", (seed) => {
  it(
    "a kill while the model writes a background summary leaves the session without a compaction",
    KILLS_TIMEOUT,
    async () => {
      const session = await open({ headroom: "background", seed });
      const chance = createRandom(seed);
      // Runs at most one more turn before the kill. More turns could fill the window, and then no turn would
      // wait for the summary.
      await killAt(session, whileSilent(isSummaryCall, chance.between(0, 1)));
      expect(times(session, "background-started")).toBe(1);
      expect(times(session, "compaction-started")).toBe(0);
      expect(await boundariesIn(session)).toBe(0);

      // The killed process has lost the answer, so the next process requests the summary again.
      await killAt(session, whileAnswering(isSummaryCall, chance.between(0, 80)));
      expect(await boundariesIn(session)).toBe(0);
      await killAt(session, afterAnswer(isSummaryCall, chance.between(0, 20)));
      expect(await session.finish()).toEqual([]);
    },
  );

  it(
    "a session resumes without its background summary after a kill before the summary is swapped in",
    KILLS_TIMEOUT,
    async () => {
      const session = await open({ headroom: "background", seed });
      const chance = createRandom(seed);
      await killAt(session, afterEvent("background-ended", 0));
      expect(times(session, "background-started")).toBeGreaterThan(0);
      await killAt(session, afterEvent("compaction-started", chance.between(0, 30)));
      await killAt(session, afterEvent("compacted", chance.between(0, 60)));
      expect(await boundariesIn(session)).toBe(1);
      expect(await session.finish()).toEqual([]);
    },
  );

  it(
    "a kill while a background summary is swapped in leaves the whole compaction or nothing of it",
    KILLS_TIMEOUT,
    async () => {
      const session = await open({ headroom: "background", seed });
      const chance = createRandom(seed);
      await killAt(session, atWrite("torn", "compaction", { share: tornShare(seed, chance) }));
      expect(times(session, "background-ended")).toBeGreaterThan(0);
      expect(await session.conversation()).toEqual(await session.conversationBeforeWrite());

      await killAt(session, atWrite("after", "compaction"));
      const [first] = await session.conversation();
      expect(first?.uuid).toBe(session.last?.reportsOf("writing").at(-1)?.boundaryUuid);
      expect(await session.finish()).toEqual([]);
    },
  );
});

import { isSpanCall } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { afterEvent, atWrite, whileSilent } from "../../../../../test/engine/killed-moments.case.ts";
import {
  KILLS_TIMEOUT,
  killAt,
  killedRounds,
  ROUNDS,
  tornShare,
} from "../../../../../test/engine/killed-rounds.case.ts";
import type { KilledSession } from "../../../../../test/engine/killed-session.case.ts";
import { createRandom } from "../../../../simulator/src/demo/random.ts";
import { isCollapsedSpan } from "../../messages/stand-ins.ts";

const open = killedRounds("collapse");

const spansIn = async (session: KilledSession): Promise<number> =>
  (await session.conversation()).filter(isCollapsedSpan).length;

describe.concurrent.each(ROUNDS)(
  "a process that is killed before or during a commit of collapsed spans (%d)",
  (seed) => {
    it("a process killed while spans are summarized has collapsed nothing", KILLS_TIMEOUT, async () => {
      const session = await open({ headroom: "collapse", seed });
      const chance = createRandom(seed);
      await killAt(session, whileSilent(isSpanCall, chance.between(0, 2)));
      expect(await spansIn(session)).toBe(0);
      await killAt(session, afterEvent("span-staged", chance.between(0, 40)));
      expect(await session.finish()).toEqual([]);
    });

    it(
      "a process killed while it writes collapsed spans has collapsed all of them or none",
      KILLS_TIMEOUT,
      async () => {
        const session = await open({ headroom: "collapse", seed });
        const chance = createRandom(seed);
        const skip = chance.between(0, 1);
        await killAt(session, atWrite("torn", "commit", { share: tornShare(seed, chance), skip }));
        expect(await session.conversation()).toEqual(await session.conversationBeforeWrite());

        await killAt(session, atWrite("after", "commit"));
        expect(await spansIn(session)).toBeGreaterThan(0);
        await killAt(session, afterEvent("spans-committed", chance.between(0, 60)));
        expect(await session.finish()).toEqual([]);
      },
    );
  },
);

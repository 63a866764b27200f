import { groupRounds } from "../../conversation/rounds.ts";
import { ESTIMATORS, measureEntries } from "../../tokens/measure.ts";
import type { Policy, PolicyOptions } from "../policy.ts";
import { targetUnder, withoutOldestRounds } from "./oldest-rounds.ts";
import { isPersonsMessage } from "./persons-message.ts";

/** As LangChain's summarisation keeps by default; others keep 6 to 40. */
const KEPT_MESSAGES = 20;
/** A response, and the user's message before it or the results after it: two messages of the API. */
const KEPT_ROUNDS = KEPT_MESSAGES / 2;

/** The first request and the newest messages, as Roo, OpenHands (`keep_first`) and many chat memories have it. */
export function keepLast({ countText = ESTIMATORS.o200k }: PolicyOptions): Policy {
  return {
    name: "keep-last",
    description: `the first request and the last ${KEPT_MESSAGES} messages`,
    hasRecall: false,
    shrink: async ({ entries, thresholds }) => {
      const newest = groupRounds(entries)
        .slice(-KEPT_ROUNDS)
        .flatMap((round) => round.entries);
      const first = entries.find(isPersonsMessage);
      const lead = first === undefined || newest.includes(first) ? [] : [first];
      const kept = [...lead, ...newest];
      if (measureEntries(kept, countText) < thresholds.autoCompact) return { entries: kept, calls: [] };
      // Twenty messages may be more than the window holds.
      const room = targetUnder(thresholds) - measureEntries(lead, countText);
      const tail = withoutOldestRounds(newest, room, countText);
      return { entries: [...lead, ...tail], calls: [] };
    },
  };
}

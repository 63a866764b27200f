import { withClearedResults } from "../../conversation/cleared.ts";
import { indexPairs } from "../../conversation/pairs.ts";
import { ESTIMATORS, measureEntries } from "../../tokens/measure.ts";
import type { Policy, PolicyOptions } from "../policy.ts";
import { targetUnder, withoutOldestRounds } from "./oldest-rounds.ts";

/** As LangChain's `ClearToolUsesEdit` and Anthropic's `clear_tool_uses` have it by default. */
const KEPT_RESULTS = 3;

/** Calls stay, their results go; where that does not make enough room, the oldest rounds go as well. */
export function clearResults({ countText = ESTIMATORS.o200k }: PolicyOptions): Policy {
  return {
    name: "clear-results",
    description: `tool results are emptied but for the last ${KEPT_RESULTS}`,
    hasRecall: false,
    shrink: async ({ entries, thresholds }) => {
      const answered = [...indexPairs(entries).pairs.values()].filter(({ results }) => results.length > 0);
      const stale = answered.slice(0, -KEPT_RESULTS).map(({ id }) => id);
      const cleared = withClearedResults(entries, new Set(stale));
      const isEnough = measureEntries(cleared, countText) < thresholds.autoCompact;
      const kept = isEnough ? cleared : withoutOldestRounds(cleared, targetUnder(thresholds), countText);
      return { entries: kept, calls: [] };
    },
  };
}

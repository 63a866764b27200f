import type { Policy, PolicyOptions } from "../policy.ts";
import { targetUnder, withoutOldestRounds } from "./oldest-rounds.ts";

/** A sliding window, as LangChain's `trimMessages` and most truncating agents have it. */
export function dropOldest({ countText }: PolicyOptions): Policy {
  return {
    name: "drop-oldest",
    description: "the oldest rounds are left out",
    hasRecall: false,
    shrink: async ({ entries, thresholds }) => ({
      entries: withoutOldestRounds(entries, targetUnder(thresholds), countText),
      calls: [],
    }),
  };
}

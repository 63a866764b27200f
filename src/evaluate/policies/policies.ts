import { isEntry } from "../../conversation/entry.ts";
import { ESTIMATORS, measureEntries } from "../../tokens/measure.ts";
import type { Policy, PolicyName, PolicyOptions } from "../policy.ts";
import { clearResults } from "./clear-results.ts";
import { dropOldest } from "./drop-oldest.ts";
import { keepLast } from "./keep-last.ts";
import { longhaul, longhaulHostile } from "./longhaul.ts";
import { plainSummary } from "./plain-summary.ts";

const MAKERS: Readonly<Record<PolicyName, (options: PolicyOptions) => Policy>> = {
  longhaul,
  "longhaul-hostile": longhaulHostile,
  "drop-oldest": dropOldest,
  "keep-last": keepLast,
  "clear-results": clearResults,
  "plain-summary": plainSummary,
};

/** A policy for one conversation. What would not make it smaller leaves it as it is. */
export function createPolicy(name: PolicyName, options: PolicyOptions = {}): Policy {
  const policy = MAKERS[name](options);
  const { countText = ESTIMATORS.o200k } = options;
  return {
    ...policy,
    shrink: async (input) => {
      const entries = input.entries.filter(isEntry);
      const outcome = await policy.shrink({ ...input, entries });
      const isSmaller = measureEntries(outcome.entries, countText) < measureEntries(entries, countText);
      return isSmaller ? outcome : { ...outcome, entries };
    },
  };
}

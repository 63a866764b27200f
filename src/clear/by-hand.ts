import type { Clearing } from "./clearing.ts";
import type { ResultIndex } from "./result-index.ts";

/** What the agent is working with right now. */
const KEPT_NEWEST_BY_HAND = 3;

export interface ByHandOptions {
  readonly keep?: number | undefined;
  /** Results that edits of the cached prefix leave out: a rewrite ends the edits, so these must go with the others. */
  readonly leftOut?: ReadonlySet<string> | undefined;
}

/** All results but the newest, whatever it saves: somebody asked for it. Undefined where no result is new to it. */
export function chooseByHand(index: ResultIndex, options: ByHandOptions = {}): Clearing | undefined {
  const { keep = KEPT_NEWEST_BY_HAND, leftOut } = options;
  const kept = index.keptCount(Number.isNaN(keep) ? KEPT_NEWEST_BY_HAND : keep);
  const results = index.results();
  const clearable = results.length - kept;
  const chosen = results.filter(({ id }, at) => at < clearable || leftOut?.has(id));
  return chosen.every(({ id }) => leftOut?.has(id)) ? undefined : index.describe("manual", chosen);
}

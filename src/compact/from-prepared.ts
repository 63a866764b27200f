import type { Entry } from "../conversation/entry.ts";
import { type CompactionPlan, isWorthSummarising, planAt, unseenCut } from "./plan.ts";
import { type SizeOptions, type Snapshot, sizeUp } from "./sized.ts";

/** Ids of what a summary stands for, in their order. */
export const idsOf = (entries: readonly Entry[]): readonly (string | undefined)[] =>
  entries.map(({ uuid }) => uuid);

/**
 * The plan by which a summary that was written earlier takes the place of the messages it stands for: all that came
 * since is kept. Undefined where these no longer stand at the beginning as they did. Also where a result among them is
 * unseen now, because the host took the response after it back, and nothing before that call is left to replace.
 */
export function planFromPrepared(
  snapshot: Snapshot,
  ids: readonly (string | undefined)[],
  options: SizeOptions,
): CompactionPlan | undefined {
  const sized = sizeUp(snapshot, options);
  const isThere = ids.length > 0 && ids.every((id, at) => sized.entries[at]?.uuid === id);
  const replaced = sized.entries.slice(0, Math.min(ids.length, unseenCut(sized)));
  if (!isThere || !replaced.some(isWorthSummarising)) return undefined;
  return planAt(sized, { trigger: "auto", variant: "whole", cut: ids.length });
}

import { sameResponse } from "../conversation/cut.ts";
import type { Entry } from "../conversation/entry.ts";
import { indexPairs } from "../conversation/pairs.ts";

/**
 * For each entry the number of the group it belongs to: entries of one response, calls and their results are
 * in one group, since none of them can go without the others. Everything else is a group of its own.
 */
export function boundGroups(entries: readonly Entry[]): readonly number[] {
  const leaders = entries.map((_, index) => index);
  for (const [first, later] of sameResponse(entries)) join(leaders, first, later);
  const { pairs, repeatedUses, orphanResults } = indexPairs(entries);
  for (const { use, results } of pairs.values()) {
    for (const result of results) join(leaders, use.entryIndex, result.entryIndex);
  }
  for (const repeated of repeatedUses) {
    join(leaders, pairs.get(repeated.block.id)?.use.entryIndex ?? repeated.entryIndex, repeated.entryIndex);
  }
  // Their call is nowhere; several with one id still belong together.
  const firstOrphan = new Map<string, number>();
  for (const { block, entryIndex } of orphanResults) {
    join(leaders, firstOrphan.get(block.tool_use_id) ?? entryIndex, entryIndex);
    firstOrphan.set(block.tool_use_id, entryIndex);
  }
  return leaders.map((_, index) => leaderOf(leaders, index));
}

function join(leaders: number[], one: number, other: number): void {
  const [a, b] = [leaderOf(leaders, one), leaderOf(leaders, other)];
  leaders[Math.max(a, b)] = Math.min(a, b);
}

/** Halves the way for whoever asks next. */
function leaderOf(leaders: number[], index: number): number {
  let at = index;
  for (;;) {
    const above = leaders[at] ?? at;
    if (above === at) return at;
    leaders[at] = leaders[above] ?? above;
    at = above;
  }
}

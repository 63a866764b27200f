import type { CacheEntry } from "./cache-entries.ts";
import type { PromptPosition } from "./prompt.ts";

/** How far a mark reaches back, itself included. */
const LOOK_BACK_POSITIONS = 20;

export interface Hit {
  /** Of the position at which the entry was written. */
  readonly index: number;
  readonly entry: CacheEntry;
}

type FindEntry = (position: PromptPosition, index: number) => CacheEntry | undefined;

/** For each mark the longest prefix within its reach that an earlier call has written. */
export function lookBack(
  positions: readonly PromptPosition[],
  marks: readonly number[],
  find: FindEntry,
): readonly Hit[] {
  const hits: Hit[] = [];
  for (const mark of marks) {
    let steps = 0;
    for (let index = mark; index >= 0; index--) {
      if (index === mark || !isSameRun(positions[index], positions[index + 1])) steps++;
      if (steps > LOOK_BACK_POSITIONS) break;
      const position = positions[index];
      const entry = position === undefined ? undefined : find(position, index);
      if (entry === undefined) continue;
      hits.push({ index, entry });
      break;
    }
  }
  return hits;
}

/** Parallel calls, and their results, count as one position each. */
function isSameRun(one: PromptPosition | undefined, next: PromptPosition | undefined): boolean {
  return one?.kind === next?.kind && (one?.kind === "tool_use" || one?.kind === "tool_result");
}

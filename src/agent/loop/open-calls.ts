import { type Entry, indexPairs } from "../../index.ts";

/** Calls of the newest response that have no result. Those of older ones cannot be answered any more. */
export function openCalls(entries: readonly Entry[]): readonly { readonly id: string }[] {
  const newest = entries.findLastIndex(({ type }) => type === "assistant");
  if (newest < 0) return [];
  return indexPairs(entries.slice(startOfResponse(entries, newest))).unanswered;
}

/** One response may stand in several entries, with results in between. */
function startOfResponse(entries: readonly Entry[], newest: number): number {
  const responseId = idOf(entries[newest]);
  if (responseId === undefined) return newest;
  let start = newest;
  for (let at = newest - 1; at >= 0; at--) {
    const entry = entries[at];
    if (entry?.type === "assistant" && idOf(entry) !== responseId) break;
    if (entry?.type === "assistant") start = at;
  }
  return start;
}

const idOf = (entry: Entry | undefined): string | undefined =>
  entry?.type === "assistant" ? entry.message?.id : undefined;

import type { Entry } from "./entry.ts";
import { isEntry, responseIdOf } from "./entry.ts";
import { IdTable } from "./id-table.ts";
import { indexPairs, type PairIndex } from "./pairs.ts";

/**
 * For every index from 0 to the number of entries: whether the entries can be cut in two there so that no
 * tool use is parted from its result and no response from one of its own entries. `index`: of these entries,
 * where it has been made already.
 */
export function soundCuts(
  entries: readonly Entry[],
  index: PairIndex = indexPairs(entries),
): readonly boolean[] {
  const firstMate = firstMates(entries, index);
  const sound = new Array<boolean>(entries.length + 1).fill(true);
  let reach = entries.length;
  for (let at = entries.length - 1; at >= 0; at--) {
    reach = Math.min(reach, firstMate[at] ?? at);
    sound[at] = reach >= at;
  }
  return sound;
}

/** The largest index at or before `index` that is a sound cut. 0 means that nothing is cut off. */
export function moveCutBack(entries: readonly Entry[], index: number): number {
  return previousSound(soundCuts(entries), Math.min(Math.max(0, Math.trunc(index) || 0), entries.length));
}

/** Of the answers of {@link soundCuts}, the last one at or before the index that is a sound cut. */
export function previousSound(sound: readonly boolean[], index: number): number {
  let cut = index;
  while (cut > 0 && sound[cut] === false) cut--;
  return cut;
}

/** Entries of one response: its first one, with each that follows. */
export function* sameResponse(entries: readonly Entry[]): Generator<readonly [first: number, later: number]> {
  const table = new IdTable(entries, idOfResponse);
  for (let at = 0; at < entries.length; at++) {
    const id = idOfResponse(entries[at]);
    if (id === undefined) continue;
    const first = table.firstWith(id, at);
    if (first !== at) yield [first, at];
  }
}

const idOfResponse = (entry: Entry | undefined): string | undefined =>
  isEntry(entry) && entry.type === "assistant" ? responseIdOf(entry) : undefined;

/** For each entry the index of the earliest entry that must stay on its side of a cut. */
function firstMates(entries: readonly Entry[], { pairs, repeatedUses }: PairIndex): number[] {
  const mates = entries.map((_, index) => index);
  const bind = (at: number, first: number): void => {
    mates[at] = Math.min(mates[at] ?? at, first);
  };
  for (const [first, later] of sameResponse(entries)) bind(later, first);
  for (const { use, results } of pairs.values()) {
    for (const result of results) {
      bind(Math.max(use.entryIndex, result.entryIndex), Math.min(use.entryIndex, result.entryIndex));
    }
  }
  for (const repeated of repeatedUses)
    bind(repeated.entryIndex, pairs.get(repeated.block.id)?.use.entryIndex ?? 0);
  return mates;
}

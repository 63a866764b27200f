import type { Entry } from "../../conversation/entry.ts";
import { isEntry } from "../../conversation/entry.ts";
import { groupRounds, type Round } from "../../conversation/rounds.ts";
import { type CountText, measureEntries } from "../../tokens/measure.ts";

/** Dropped when the provider does not say by how much a request is too long. */
const SHARE_DROPPED_BLINDLY = 0.2;

/** Our count is an estimate; a little more is dropped than it says, so that one retry is enough. */
const ESTIMATE_MARGIN = 1.05;

/** A conversation by its rounds, the oldest of which can be dropped. Rounds come whole or not at all. */
export interface Cut {
  readonly rounds: readonly Round[];
  /** How many of the oldest are dropped. */
  readonly dropped: number;
}

export function uncut(entries: readonly Entry[]): Cut {
  return { rounds: groupRounds(entries.filter(isEntry)), dropped: 0 };
}

export const keptEntries = ({ rounds, dropped }: Cut): readonly Entry[] =>
  rounds.slice(dropped).flatMap((round) => round.entries);

export const droppedEntries = ({ rounds, dropped }: Cut): readonly Entry[] =>
  rounds.slice(0, dropped).flatMap((round) => round.entries);

/**
 * Drops the oldest rounds until at least `excess` is gone, or a fifth of what is left when the excess is not
 * known. Undefined when nothing more can go: at least one round always stays.
 */
export function cutOldest(
  { rounds, dropped }: Cut,
  excess: number | undefined,
  sizeOf: (entries: readonly Entry[]) => number,
): Cut | undefined {
  const left = rounds.length - dropped;
  if (left <= 1) return undefined;
  if (excess === undefined) {
    const count = Math.max(1, Math.floor(left * SHARE_DROPPED_BLINDLY));
    return { rounds, dropped: dropped + Math.min(count, left - 1) };
  }
  let gone = 0;
  let end = dropped;
  while (end < rounds.length - 1 && gone < excess * ESTIMATE_MARGIN) {
    gone += sizeOf(rounds[end]?.entries ?? []);
    end++;
  }
  return end === dropped ? undefined : { rounds, dropped: end };
}

/** Size in tokens, as the count has it. */
export const inTokens =
  (countText: CountText) =>
  (entries: readonly Entry[]): number =>
    measureEntries(entries, countText);

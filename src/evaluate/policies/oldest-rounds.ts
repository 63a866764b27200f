import { RESULT_SHARE } from "../../compaction/plan/compaction-plan.ts";
import type { Entry } from "../../conversation/entry.ts";
import { groupRounds, type Round } from "../../conversation/rounds.ts";
import { type CountText, ESTIMATORS, measureEntries } from "../../tokens/measure.ts";
import type { Thresholds } from "../../window/thresholds.ts";

/** What a policy that only leaves things out goes down to: the same as our own compactions aim at. */
export const targetUnder = ({ autoCompact }: Thresholds): number => Math.floor(autoCompact * RESULT_SHARE);

/**
 * Without the oldest rounds, until what is left is below the target. The newest is always kept, and a call is never
 * parted from its result. The very entries where they are below it already.
 */
export function withoutOldestRounds(
  entries: readonly Entry[],
  targetTokens: number,
  countText: CountText = ESTIMATORS.o200k,
): readonly Entry[] {
  const rounds = groupRounds(entries);
  const sizes = rounds.map((round) => measureEntries(round.entries, countText));
  let left = sizes.reduce((total, size) => total + size, 0);
  let first = 0;
  while (first < rounds.length - 1 && left >= targetTokens) left -= sizes[first++] ?? 0;
  return first === 0 ? entries : entriesOf(rounds.slice(first));
}

const entriesOf = (rounds: readonly Round[]): readonly Entry[] => rounds.flatMap((round) => round.entries);

import type { Entry } from "../../messages/entry.ts";
import type { Fact } from "../../messages/fact-ledger.ts";
import type { PairIndex } from "../../messages/pairs.ts";
import { stringField } from "../../messages/untrusted.ts";
import type { SessionDigest } from "../summary/readers/readers.ts";

/** The input and the output of every fact reader: entries that were read once, and facts without a name. */

/** A fact that has no name yet. */
export type DraftFact = Omit<Fact, "id">;

/** Source of facts: entries that were read once, with those that follow them. */
export interface ReadEntries {
  readonly digest: SessionDigest;
  /** True for a position in the entries, false for one in what follows. */
  has(at: number): boolean;
  /** Ids of the lines at these positions; none for lines without an id. */
  idsAt(...positions: readonly number[]): readonly string[];
  /** Ids of the outcome of a call, and of the call. */
  outcomeIds(callAt: number): readonly string[];
}

/** `digest` and `pairs` are of the entries, and of more that may follow them. */
export function readEntries(
  entries: readonly Entry[],
  digest: SessionDigest,
  { pairs }: PairIndex,
): ReadEntries {
  const has = (at: number): boolean => at < entries.length;
  const idsAt = (...positions: readonly number[]): readonly string[] => [
    ...new Set(positions.flatMap((at) => stringField(entries[at], "uuid") ?? [])),
  ];
  const answers = new Map<number, number>();
  for (const { use, results } of pairs.values()) {
    const answeredAt = results[0]?.entryIndex ?? entries.length;
    if (has(use.entryIndex) && has(answeredAt)) answers.set(use.entryIndex, answeredAt);
  }
  return { digest, has, idsAt, outcomeIds: (at) => idsAt(answers.get(at) ?? at, at) };
}

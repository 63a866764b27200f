import type { Entry } from "../../messages/entry.ts";
import type { Fact } from "../../messages/fact-ledger.ts";
import type { PairIndex } from "../../messages/pairs.ts";
import { stringField } from "../../messages/untrusted.ts";
import type { SessionDigest } from "../summary/readers/readers.ts";

/**
 * Input and output of every fact reader. The input is entries that were read once, and the output is facts
 * without an id.
 */

/** Fact without an id. */
export type DraftFact = Omit<Fact, "id">;

/**
 * Source of facts: the entries from which facts are extracted, and the entries after them. All of them were
 * read once.
 */
export interface ReadEntries {
  readonly digest: SessionDigest;
  /** Returns true for a position in the entries, and false for a position in the entries after them. */
  has(at: number): boolean;
  /** Returns the ids of the lines at these positions. Lines without an id are skipped. */
  idsAt(...positions: readonly number[]): readonly string[];
  /** Returns the ids of two lines: the line with the result of a call, and the line with the call itself. */
  outcomeIds(callAt: number): readonly string[];
}

/** Reads entries. `digest` and `pairs` cover these entries and the entries after them. */
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

import type { Entry } from "../../conversation/entry.ts";
import type { Fact } from "../../conversation/fact-ledger.ts";
import type { PairIndex } from "../../conversation/pairs.ts";
import { stringField } from "../../conversation/untrusted.ts";

/** A fact that has no name yet. */
export type DraftFact = Omit<Fact, "id">;

/** Of what somebody said at length; the rest may be shortened later. */
const TELLING_CHARS = 60;

/** What a fact is about: two with the same are one fact, told twice. */
export function identityOf({ kind, text, needles, entryIds }: DraftFact): string {
  const isSaid = kind === "directive" || kind === "plan";
  return isSaid
    ? `${kind}\n${entryIds[0] ?? ""}\n${text.slice(0, TELLING_CHARS)}`
    : `${kind}\n${needles?.[0] ?? text}`;
}

/** Where a position can be read; nothing for lines that have no name. */
export function entryIdsAt(entries: readonly Entry[], ...positions: readonly number[]): readonly string[] {
  const ids = positions.flatMap((at) => stringField(entries[at], "uuid") ?? []);
  return [...new Set(ids)];
}

/** Where the outcome of a call can be read, and the call. */
export type OutcomeIds = (callAt: number) => readonly string[];

/** @param index of these entries, or of these and more that follow them. */
export function outcomeIdsIn(entries: readonly Entry[], { pairs }: PairIndex): OutcomeIds {
  const answers = new Map<number, number>();
  for (const { use, results } of pairs.values()) {
    const answeredAt = results[0]?.entryIndex ?? entries.length;
    if (use.entryIndex < entries.length && answeredAt < entries.length)
      answers.set(use.entryIndex, answeredAt);
  }
  return (at) => entryIdsAt(entries, answers.get(at) ?? at, at);
}

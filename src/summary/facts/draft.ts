import type { Entry } from "../../conversation/entry.ts";
import type { Fact } from "../../conversation/facts.ts";
import { stringField } from "../../conversation/fields.ts";

/** A fact that has no name yet. */
export type DraftFact = Omit<Fact, "id">;

/** What a fact is about: two with the same are one fact, told twice. */
export function identityOf(fact: DraftFact): string {
  const about = fact.needles?.[0] ?? fact.text;
  const isSaid = fact.kind === "directive" || fact.kind === "plan";
  return `${fact.kind}\n${isSaid ? (fact.entryIds[0] ?? "") : ""}\n${isSaid ? fact.text : about}`;
}

/** Where a position can be read; nothing for lines that have no name. */
export function entryIdsAt(entries: readonly Entry[], ...positions: readonly number[]): readonly string[] {
  const ids = positions.flatMap((at) => stringField(entries[at], "uuid") ?? []);
  return [...new Set(ids)];
}

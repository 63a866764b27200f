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

/** Short names for facts, the same whenever they are derived from the same things. */
export class FactIds {
  readonly #taken: Set<string>;

  /** `taken`: those of earlier compactions, which stay theirs. */
  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  /** Two things with one name are told apart by a number. */
  make(letter: string, key: string): string {
    const name = `${letter}${shortHash(key)}`;
    let id = name;
    for (let count = 2; this.#taken.has(id); count++) id = `${name}-${count}`;
    this.#taken.add(id);
    return id;
  }
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const ID_CHARS = 5;

/** FNV-1a in base 36, cut: 60 million names, for some hundred facts. */
function shortHash(text: string): string {
  let hash = FNV_OFFSET;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME);
  }
  return (hash >>> 0).toString(36).padStart(ID_CHARS, "0").slice(-ID_CHARS);
}

import type { Entry } from "../../conversation/entry.ts";
import type { Fact } from "../../conversation/fact-ledger.ts";
import type { PairIndex } from "../../conversation/pairs.ts";
import { stringField } from "../../conversation/untrusted.ts";
import type { SessionDigest } from "../../summary/readers/readers.ts";

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

/** Of what somebody said at length; the rest may be shortened later. */
const TELLING_CHARS = 60;

/** Subject of a fact: two facts with the same subject are one fact, told twice. */
export function identityOf({ kind, text, needles, entryIds }: DraftFact): string {
  const isSaid = kind === "directive" || kind === "plan";
  return isSaid
    ? `${kind}\n${entryIds[0] ?? ""}\n${text.slice(0, TELLING_CHARS)}`
    : `${kind}\n${needles?.[0] ?? text}`;
}

/**
 * A short name for a fact, the same whenever it is derived from the same things. Two with one name are told apart by a
 * number.
 */
export function nameOf({ kind }: DraftFact, identity: string, taken: ReadonlySet<string>): string {
  const name = `${kind.slice(0, 1)}${shortHash(identity)}`;
  let id = name;
  for (let count = 2; taken.has(id); count++) id = `${name}-${count}`;
  return id;
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

import type { Entry } from "../../messages/entry.ts";
import { type Fact, isExpired, type KnownFacts, type LedgerFact } from "../../messages/fact-ledger.ts";
import { indexPairs } from "../../messages/pairs.ts";
import { digestSession, isRequest, preservedIn, type SessionDigest } from "../summary/readers/readers.ts";
import { readDirectives } from "./directives.ts";
import { type DraftFact, readEntries } from "./fact-source.ts";
import { isReasonFact, reasonFacts } from "./reason-facts.ts";
import {
  askedFacts,
  commitsReplaced,
  mentionFacts,
  openBefore,
  planFacts,
  withoutAmendedCommits,
  withPlansUpToDate,
} from "./said-facts.ts";
import {
  commandFacts,
  errorFacts,
  fileFacts,
  isOpenError,
  operationIn,
  withErrorsResolved,
  withoutMovedFiles,
  withoutRunsRepeated,
} from "./work-facts.ts";

export interface FactSheet {
  /** Facts, most important first. */
  readonly facts: readonly Fact[];
  /** Number of earlier facts that did not fit, and the boundary whose ledger lists them. */
  readonly earlier: { readonly boundary: string; readonly facts: number } | undefined;
}

export interface ExtractOptions {
  /** The last boundary and its ledger. The ledger has the facts that were known before `entries`. */
  readonly previous?: { readonly boundary: string; readonly ledger: KnownFacts } | undefined;
  /** Later messages that stay unchanged. They may answer a question or cancel a request. */
  readonly following?: readonly Entry[] | undefined;
}

/**
 * Maximum number of facts in a ledger, which every compaction reads and writes. The ledger of the previous
 * boundary lists the facts that do not fit.
 */
const MAX_FACTS = 400;

/**
 * Extracts the hard facts of the entries and of earlier compactions. Reads the entries once and calls no
 * model.
 */
export function extractFacts(entries: readonly Entry[], options: ExtractOptions = {}): FactSheet {
  const { previous, following = [] } = options;
  const before = factsIn(previous?.ledger);
  const all = following.length === 0 ? entries : [...entries, ...following];
  const pairs = indexPairs(all);
  const read = readEntries(entries, digestSession(all, openBefore(before), pairs), pairs);
  const directives = readDirectives(read, before);
  const people = [...directives.carried, ...directives.fresh];
  const reasons = reasonFacts(read, before);
  const replaced = commitsReplaced(before, read.digest, preservedIn(all));
  const carried = [
    ...withPlansUpToDate(stillValid(before, read.digest, replaced), people),
    ...reasons.carried,
    ...directives.carried,
  ];
  const fresh = [
    ...planFacts(read, people),
    ...commandFacts(read),
    ...errorFacts(read),
    ...fileFacts(read, before.filter(isOf("file"))),
    ...mentionFacts(read, replaced),
    ...reasons.fresh,
    ...askedFacts(read, before),
    ...directives.fresh,
  ];
  return sheetOf(carried, named(fresh, carried), previous);
}

/** Returns the facts of a ledger in reverse order, so that the oldest facts come first. */
const factsIn = (ledger: KnownFacts | undefined): readonly Fact[] =>
  (ledger?.facts ?? []).map(({ fate: _, ...fact }: Fact & Partial<LedgerFact>) => fact).reverse();

const isOf =
  (...kinds: readonly Fact["kind"][]) =>
  (fact: DraftFact): boolean =>
    kinds.includes(fact.kind);

/**
 * Returns earlier facts that still apply. Directives, to-dos, causes and choices are left out, because they are tracked
 * elsewhere. If the user has written again, questions are left out too.
 */
function stillValid(
  before: readonly Fact[],
  digest: SessionDigest,
  replaced: ReadonlySet<string>,
): readonly Fact[] {
  const hasSpoken = digest.exchanges.some(isRequest);
  const kept = before.filter(
    (fact) =>
      !isOf("directive", "todo")(fact) && !isReasonFact(fact) && !(hasSpoken && fact.kind === "question"),
  );
  const current = withoutAmendedCommits(withoutMovedFiles(kept, digest), digest, replaced);
  return withErrorsResolved(withoutRunsRepeated(current, digest), digest);
}

/** Gives each fact an id. A fact that was already known keeps its id. */
function named(drafts: readonly DraftFact[], carried: readonly Fact[]): readonly Fact[] {
  const known = new Map(carried.map((fact) => [identityOf(fact), fact.id]));
  const taken = new Set(carried.map(({ id }) => id));
  const facts = new Map<string, Fact>();
  for (const draft of drafts) {
    const identity = identityOf(draft);
    const id = known.get(identity) ?? facts.get(identity)?.id ?? nameOf(draft, identity, taken);
    taken.add(id);
    // Delete a repeated fact before adding it, so that it moves to the newest end of the order.
    facts.delete(identity);
    facts.set(identity, { id, ...draft });
  }
  return [...facts.values()];
}

function sheetOf(
  carried: readonly Fact[],
  fresh: readonly Fact[],
  previous: ExtractOptions["previous"],
): FactSheet {
  const freshIds = new Set(fresh.map(({ id }) => id));
  const old = byImportance(carried.filter(({ id }) => !freshIds.has(id)));
  const room = Math.max(0, MAX_FACTS - fresh.length);
  const kept = old.filter((fact, index) => index < room || (fact.status === "active" && !isExpired(fact)));
  const facts = byImportance([...kept.toReversed(), ...fresh]);
  const unlisted = old.length - kept.length + (previous?.ledger.earlier?.facts ?? 0);
  if (previous === undefined || unlisted === 0) return { facts, earlier: undefined };
  return { facts, earlier: { boundary: previous.boundary, facts: unlisted } };
}

/**
 * Ranks of facts. Requests come before work, open items before closed ones, and users' words before the
 * figures in them.
 */
const RANKS = [
  "active directive",
  "todo",
  "question",
  "decision",
  "open error",
  "changed file",
  "root cause",
  "assistant decision",
  "correction",
  "retracted directive",
  "directive",
  "reference",
  "error",
  "command",
  "read file",
  "reason",
  "plan",
  "expired",
] as const;

type Rank = (typeof RANKS)[number];

function rankOf(fact: DraftFact): Rank {
  if (isExpired(fact)) return "expired";
  switch (fact.kind) {
    case "directive":
      if (fact.status === "active") return "active directive";
      return fact.status === "done" || fact.status === "answered" ? "directive" : "retracted directive";
    case "error":
      return isOpenError(fact) ? "open error" : "error";
    case "file":
      return operationIn(fact) === "read" ? "read file" : "changed file";
    case "decision":
      return fact.by === "assistant" ? "assistant decision" : "decision";
    case "cause":
      return fact.causeType === "root-cause" ? "root cause" : (fact.causeType ?? "reason");
    case "quantity":
      return "reference";
    default:
      return fact.kind;
  }
}

/** Sorts facts by importance. `facts` are oldest first. Among equals, the newest come first. */
function byImportance<T extends DraftFact>(facts: readonly T[]): readonly T[] {
  const placed = facts.map((fact) => ({ fact, rank: RANKS.indexOf(rankOf(fact)) })).reverse();
  return placed.sort((a, b) => a.rank - b.rank).map(({ fact }) => fact);
}

/** Number of first characters that identify a long text. A later compaction may cut the text after them. */
const TELLING_CHARS = 60;

/** Returns the subject of a fact. Two facts with the same subject are one fact. */
function identityOf({ kind, type, text, needles, by, entryIds }: DraftFact): string {
  const isSaid = kind === "directive" || kind === "plan";
  // A rule inside a request may start with the same words as the request.
  const name = type === "rule" ? "rule" : kind;
  return isSaid
    ? `${name}\n${entryIds[0] ?? ""}\n${text.slice(0, TELLING_CHARS)}`
    : `${kind}\n${isReasonFact({ kind, by }) ? text : (needles?.[0] ?? text)}`;
}

/**
 * Returns a short id for a fact. The same subject always yields the same id. If another fact already has this
 * id, a number is added.
 */
function nameOf({ kind }: DraftFact, identity: string, taken: ReadonlySet<string>): string {
  const name = `${kind.slice(0, 1)}${shortHash(identity)}`;
  let id = name;
  for (let count = 2; taken.has(id); count++) id = `${name}-${count}`;
  return id;
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const ID_CHARS = 5;

/**
 * Returns a truncated FNV-1a hash in base 36. There are 60 million possible hashes, and a session has a few
 * hundred facts.
 */
function shortHash(text: string): string {
  let hash = FNV_OFFSET;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME);
  }
  return (hash >>> 0).toString(36).padStart(ID_CHARS, "0").slice(-ID_CHARS);
}

import type { Entry } from "../../conversation/entry.ts";
import type { Fact } from "../../conversation/facts.ts";
import type { Ledger, LedgerFact } from "../../conversation/ledger.ts";
import { digestSession } from "../builtin/digest.ts";
import { askedFacts } from "./asked-facts.ts";
import { directiveFacts } from "./directives.ts";
import { type DraftFact, identityOf } from "./draft.ts";
import { workFacts } from "./found-facts.ts";
import { FactIds } from "./ids.ts";
import { byImportance } from "./order.ts";

export interface FactSheet {
  /** Most important first. */
  readonly facts: readonly Fact[];
  /** Facts of earlier compactions that had no room: the boundary that tells of them, and how many. */
  readonly earlier: { readonly boundary: string; readonly facts: number } | undefined;
}

export interface ExtractOptions {
  /** The last boundary and what its ledger says: what was known before `entries`. */
  readonly previous?: { readonly boundary: string; readonly ledger: Ledger } | undefined;
  /** Messages that come after and stay as they are: they may answer a question or call off a request. */
  readonly following?: readonly Entry[] | undefined;
}

/** A ledger is read and written with every compaction; facts beyond these are told by the boundary before. */
const MAX_FACTS = 400;

/** What is hard fact in the entries, and in all that came before them. Reads them once, and asks no model. */
export function extractFacts(entries: readonly Entry[], options: ExtractOptions = {}): FactSheet {
  const { previous, following = [] } = options;
  const digest = digestSession([...entries, ...following]);
  const before = previous?.ledger.facts ?? [];
  const drafts = [
    ...workFacts(digest, entries),
    ...askedFacts(digest, entries),
    ...directiveFacts(digest, entries, before),
  ];
  return carryOn(before, drafts, previous);
}

function carryOn(
  before: readonly LedgerFact[],
  drafts: readonly DraftFact[],
  previous: ExtractOptions["previous"],
): FactSheet {
  const ids = new FactIds(before.map(({ id }) => id));
  const carried = new Map(before.map(({ fate: _fate, ...fact }) => [identityOf(fact), fact as Fact]));
  const fresh = new Map<string, Fact>();
  for (const draft of drafts) {
    const identity = identityOf(draft);
    const id =
      carried.get(identity)?.id ?? fresh.get(identity)?.id ?? ids.make(draft.kind.slice(0, 1), identity);
    carried.delete(identity);
    fresh.set(identity, { id, ...draft });
  }
  const ranked = byImportance([...carried.values()]);
  const room = Math.max(0, MAX_FACTS - fresh.size);
  const kept = ranked.filter((fact, index) => index < room || fact.status === "active");
  const dropped = ranked.length - kept.length;
  const already = previous?.ledger.earlier?.facts ?? 0;
  const facts = byImportance([...kept.toReversed(), ...fresh.values()]);
  if (previous === undefined || dropped + already === 0) return { facts, earlier: undefined };
  return { facts, earlier: { boundary: previous.boundary, facts: dropped + already } };
}

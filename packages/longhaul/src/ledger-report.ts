import { LonghaulError } from "@longhaul/core/errors";
import { countFates, FACT_KINDS, isInContext, numberField } from "@longhaul/core/internal/messages";
import type { FactKind, Fate, Ledger, LedgerFact } from "@longhaul/core/messages";
import type { Session } from "@longhaul/sessions";
import { type SessionLedger, sessionLedgers } from "@longhaul/sessions";
import { chooseId } from "./message-choice.ts";

/** Output format of `ledger --json`. Stable, because other programs read it. See docs/json.md. */
export interface LedgerReport {
  readonly session: { readonly id: string; readonly path: string };
  /**
   * The compactions that led to the conversation, newest first. If one compaction was requested, the list
   * contains only that one.
   */
  readonly compactions: readonly CompactionLedgerReport[];
}

export interface CompactionLedgerReport {
  readonly uuid: string;
  readonly timestamp: string;
  readonly trigger: string;
  /** Tokens of the context before and after the compaction. Null if the boundary does not record them. */
  readonly before: number | null;
  readonly after: number | null;
  /** Version of the prompts of the compaction. Null if the boundary does not record it. */
  readonly promptVersion: number | null;
  /** True if the current conversation starts at this compaction. */
  readonly isCurrent: boolean;
  /**
   * `file`: the compaction's boundary contains a ledger. `computed`: longhaul derived the ledger from the
   * session just now. `none`: the file contains no data for a ledger.
   */
  readonly source: SessionLedger["source"];
  /**
   * True if the file contains the summarized messages. A file that `compact --out` wrote does not contain
   * them.
   */
  readonly inThisFile: boolean;
  readonly counts: FateCounts;
  readonly kinds: readonly KindReport[];
  /** The ledger with the requested facts. Null for compactions that are only counted. */
  readonly ledger: Ledger | null;
}

export interface FateCounts extends Readonly<Record<Fate, number>> {
  readonly facts: number;
  readonly inContext: number;
}

export interface KindReport extends FateCounts {
  readonly kind: FactKind;
}

export interface LedgerChoice {
  /** Uuid of a boundary, or the beginning of the uuid. */
  readonly boundary?: string;
  readonly kind?: FactKind;
  /** True to include facts that are in the context. */
  readonly all?: boolean;
}

export function ledgerReport(session: Session, choice: LedgerChoice): LedgerReport {
  const ledgers = sessionLedgers(session);
  const chosen = choice.boundary === undefined ? undefined : chooseBoundary(ledgers, choice.boundary);
  const uuids = new Set(session.entries.map(({ uuid }) => uuid));
  const shown = chosen === undefined ? ledgers.filter(({ isInChain }) => isInChain) : [chosen];
  return {
    session: { id: session.id, path: session.path },
    compactions: shown.map((one, nth) => compactionReport(one, uuids, nth === 0 ? choice : undefined)),
  };
}

function compactionReport(
  { boundary, ledger, source, isCurrent }: SessionLedger,
  uuids: ReadonlySet<string | undefined>,
  choice: LedgerChoice | undefined,
): CompactionLedgerReport {
  const { compactMetadata: metadata } = boundary;
  const facts = ledger?.facts ?? [];
  const ofKind = (kind: FactKind): readonly LedgerFact[] => facts.filter((fact) => fact.kind === kind);
  return {
    uuid: boundary.uuid,
    timestamp: boundary.timestamp,
    trigger: metadata?.trigger ?? "auto",
    before: metadata?.preTokens ?? null,
    after: metadata?.postTokens ?? null,
    promptVersion: numberField(metadata?.longhaul, "promptVersion") || null,
    isCurrent,
    source,
    inThisFile: facts.every(({ entryIds }) => entryIds.length === 0 || entryIds.some((id) => uuids.has(id))),
    counts: fateCounts(facts),
    kinds: FACT_KINDS.map((kind) => ({ kind, ...fateCounts(ofKind(kind)) })).filter(
      ({ facts: all }) => all > 0,
    ),
    ledger: choice === undefined || ledger === undefined ? null : chosenFacts(ledger, choice),
  };
}

const fateCounts = (facts: readonly LedgerFact[]): FateCounts => ({
  facts: facts.length,
  inContext: facts.filter(isInContext).length,
  ...countFates(facts),
});

function chosenFacts(ledger: Ledger, { kind, all }: LedgerChoice): Ledger {
  const isChosen = (fact: LedgerFact): boolean =>
    (kind === undefined || fact.kind === kind) && (all === true || !isInContext(fact));
  return { ...ledger, facts: ledger.facts.filter(isChosen) };
}

const LIST_COMPACTIONS = "`longhaul ledger SESSION` lists the compactions of a session.";
const NOT_COMPACTED = "This session has no compaction. Choose another session.";

function chooseBoundary(ledgers: readonly SessionLedger[], wanted: string): SessionLedger | undefined {
  const uuids = ledgers.map(({ boundary }) => boundary.uuid);
  const chosen = chooseId(uuids, wanted, {
    many: "compactions",
    whereToLook: LIST_COMPACTIONS,
    facts: { boundary: wanted },
    notFound: () =>
      new LonghaulError(
        "boundary-not-found",
        `No compaction found: no compaction of this session has an id that starts with ${wanted}.`,
        {
          remedy: ledgers.length === 0 ? NOT_COMPACTED : LIST_COMPACTIONS,
          facts: { boundary: wanted },
        },
      ),
  });
  return ledgers.find(({ boundary }) => boundary.uuid === chosen);
}

import type { PreviousLedger } from "../compact/ledger.ts";
import type { CompactBoundaryEntry } from "../conversation/entry.ts";
import type { Ledger } from "../conversation/ledger.ts";
import { readLedger } from "../conversation/ledger-reader.ts";
import { undoRecordOf } from "../conversation/undo.ts";
import type { Session } from "../transcript/session.ts";
import { computeFacts, computeLedger } from "./compute-ledger.ts";
import { type Stretch, stretchesOf } from "./session-history.ts";

/** What became of things in one compaction of a session. */
export interface SessionLedger {
  readonly boundary: CompactBoundaryEntry;
  /**
   * - `file`: as the boundary tells it.
   * - `computed`: the boundary tells nothing (it is another agent's, or older than ledgers); worked out from what
   *   stands before and after it.
   * - `none`: it tells nothing, and what came before it is not in the session.
   */
  readonly source: "file" | "computed" | "none";
  readonly ledger: Ledger | undefined;
  /** Whether the conversation starts at it. */
  readonly isCurrent: boolean;
  /** Whether it led to the conversation: those on a branch that was left, or that were undone, did not. */
  readonly isInChain: boolean;
}

/** Of every compaction that the session tells of, newest first; those that led to the conversation before the others. */
export function sessionLedgers(session: Session): readonly SessionLedger[] {
  const chain = ledgersOf(stretchesOf(session));
  const inChain = new Set(chain.map(({ boundary }) => boundary.uuid));
  const others = session.boundaries.flatMap(({ boundary }): readonly SessionLedger[] => {
    if (inChain.has(boundary.uuid)) return [];
    const ledger = readLedger(boundary);
    return [
      {
        boundary,
        source: ledger === undefined ? "none" : "file",
        ledger,
        isCurrent: false,
        isInChain: false,
      },
    ];
  });
  return [...chain.toReversed(), ...others.toReversed()];
}

function ledgersOf(stretches: readonly Stretch[]): readonly SessionLedger[] {
  const ledgers: SessionLedger[] = [];
  const takenBack = takenBackIn(stretches);
  let previous: { readonly boundary: string; readonly ledger: Ledger } | undefined;
  for (const [nth, { boundary, entries: after }] of stretches.entries()) {
    if (boundary === undefined || takenBack.has(boundary)) continue;
    const written = readLedger(boundary);
    const before = stretches[nth - 1]?.entries;
    const ledger = written ?? (before && computeLedger({ before, after, boundary, previous }));
    const source = written === undefined ? (ledger === undefined ? "none" : "computed") : "file";
    const isCurrent = nth === stretches.length - 1;
    ledgers.push({ boundary, source, ledger, isCurrent, isInChain: true });
    previous = ledger && { boundary: boundary.uuid, ledger };
  }
  return ledgers;
}

/**
 * Facts for the next compaction to continue from: those of the newest compaction that led to the conversation, whoever
 * made it. An undo is none. The facts that {@link sessionLedgers} gives for it, without the work of finding their places.
 */
export function knownFacts(session: Session): PreviousLedger | undefined {
  const current = session.boundaries.find(({ isCurrent }) => isCurrent)?.boundary;
  if (current === undefined) return undefined;
  const own = undoRecordOf(current) === undefined ? readLedger(current) : undefined;
  if (own !== undefined) return { boundary: current.uuid, ledger: own };
  const stretches = stretchesOf(session);
  const takenBack = takenBackIn(stretches);
  const newestWritten = stretches.findLastIndex(
    ({ boundary }) => boundary && !takenBack.has(boundary) && readLedger(boundary),
  );
  let previous: PreviousLedger | undefined;
  for (let nth = Math.max(0, newestWritten); nth < stretches.length; nth++) {
    const { boundary, entries: after = [] } = stretches[nth] ?? {};
    if (boundary === undefined || takenBack.has(boundary)) continue;
    const before = stretches[nth - 1]?.entries;
    const ledger = readLedger(boundary) ?? (before && computeFacts({ before, after, boundary, previous }));
    previous = ledger && { boundary: boundary.uuid, ledger };
  }
  return previous;
}

/** Boundaries of undos, which are no compactions, and with each the steps that it took back. */
function takenBackIn(stretches: readonly Stretch[]): ReadonlySet<CompactBoundaryEntry> {
  const newestFirst = stretches.flatMap(({ boundary }) => boundary ?? []).reverse();
  const takenBack = new Set<CompactBoundaryEntry>();
  for (let nth = 0; nth < newestFirst.length; nth++) {
    const undo = newestFirst[nth];
    const record = undo && undoRecordOf(undo);
    if (undo === undefined || record === undefined) continue;
    // A step that is no compaction has no boundary: then nothing else goes with the undo.
    const last = newestFirst.findIndex(({ uuid }, place) => place > nth && uuid === record.before);
    for (const boundary of newestFirst.slice(nth, Math.max(nth, last) + 1)) takenBack.add(boundary);
    nth = Math.max(nth, last);
  }
  return takenBack;
}

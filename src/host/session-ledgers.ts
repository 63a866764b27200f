import type { PreviousLedger } from "../compaction/facts/fact-ledger.ts";
import type { CompactBoundaryEntry, Entry } from "../conversation/entry.ts";
import { type Ledger, readLedger } from "../conversation/fact-ledger.ts";
import { undoRecordOf } from "../conversation/undo-rewind.ts";
import { wholeLines } from "../transcript/released-line.ts";
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
  for (const [nth, { boundary, entries }] of stretches.entries()) {
    if (boundary === undefined || takenBack.has(boundary)) continue;
    const written = readLedger(boundary);
    const before = written === undefined ? stretches[nth - 1]?.entries() : undefined;
    const ledger = written ?? (before && computeLedger({ before, after: entries(), boundary, previous }));
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
  let before: readonly Entry[] | undefined;
  for (const { boundary, entries } of stretches.slice(Math.max(0, newestWritten))) {
    const after = readAtOnce(entries());
    if (boundary !== undefined && !takenBack.has(boundary)) {
      const ledger = readLedger(boundary) ?? (before && computeFacts({ before, after, boundary, previous }));
      previous = ledger && { boundary: boundary.uuid, ledger };
    }
    before = after;
  }
  return previous;
}

/** Lines of a stretch that are read into memory together: more than a context window holds. */
const LINES_AT_ONCE = 10_000;

/** Extracting facts reads each line twice. A stretch that no window can hold is read from the file line by line. */
const readAtOnce = (entries: readonly Entry[]): readonly Entry[] =>
  entries.length > LINES_AT_ONCE ? entries : wholeLines(entries);

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

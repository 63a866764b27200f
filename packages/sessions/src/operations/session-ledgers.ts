import {
  type ExtractOptions,
  extractFacts,
  type FactSheet,
  findFacts,
  listedFacts,
  makeLedger,
  type PreviousLedger,
  searched,
  withFates,
} from "@longhaul/core/internal/compaction";
import type { KnownFacts } from "@longhaul/core/internal/messages";
import {
  contentText,
  copiedIds,
  firstString,
  isCompactBoundary,
  isSummaryEntry,
  rawContent,
  stringField,
  undoRecordOf,
} from "@longhaul/core/internal/messages";
import { classifyUserText } from "@longhaul/core/internal/summary";
import { ESTIMATORS, measureEntries } from "@longhaul/core/measure";
import type { AttachmentEntry, CompactBoundaryEntry, Entry } from "@longhaul/core/messages";
import { type Ledger, readLedger } from "@longhaul/core/messages";
import type { RestoreKind } from "@longhaul/core/restore";
import type { Session } from "../transcript/load.ts";
import { wholeLines } from "../transcript/released-line.ts";
import { type HistorySegment, historySegmentsOf } from "./session-history.ts";

/** Facts that one compaction of a session kept, restored or lost. */
export interface SessionLedger {
  readonly boundary: CompactBoundaryEntry;
  /**
   * - `file`: the boundary contains the ledger.
   * - `computed`: another agent or an old version wrote the boundary without a ledger, so the ledger was
   *   derived from the entries before and after the boundary.
   * - `none`: the boundary contains no ledger, and the session lacks the entries before the boundary.
   */
  readonly source: "file" | "computed" | "none";
  readonly ledger: Ledger | undefined;
  /** True if the current conversation starts at this compaction. */
  readonly isCurrent: boolean;
  /**
   * True if this compaction led to the current conversation. False if it was undone or is on an abandoned
   * branch.
   */
  readonly isInChain: boolean;
}

/**
 * Returns the ledgers of all compactions in the session, newest first. Compactions that led to the current
 * conversation come before all others.
 */
export function sessionLedgers(session: Session): readonly SessionLedger[] {
  const chain = ledgersOf(historySegmentsOf(session));
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

function ledgersOf(stretches: readonly HistorySegment[]): readonly SessionLedger[] {
  const ledgers: SessionLedger[] = [];
  const undone = undoneIn(stretches);
  let previous: { readonly boundary: string; readonly ledger: Ledger } | undefined;
  for (const [nth, { boundary, entries }] of stretches.entries()) {
    if (boundary === undefined || undone.has(boundary)) continue;
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
 * Returns the facts from which the next compaction continues. They come from the newest compaction, by any
 * agent, that led to the current conversation. An undo does not count as a compaction. {@link sessionLedgers}
 * returns the same facts, but takes longer, because it also locates the facts.
 */
export function knownFacts(session: Session): PreviousLedger | undefined {
  const current = session.boundaries.find(({ isCurrent }) => isCurrent)?.boundary;
  if (current === undefined) return undefined;
  const own = undoRecordOf(current) === undefined ? readLedger(current) : undefined;
  if (own !== undefined) return { boundary: current.uuid, ledger: own };
  const stretches = historySegmentsOf(session);
  const undone = undoneIn(stretches);
  const newestWritten = stretches.findLastIndex(
    ({ boundary }) => boundary && !undone.has(boundary) && readLedger(boundary),
  );
  let previous: PreviousLedger | undefined;
  let before: readonly Entry[] | undefined;
  for (const { boundary, entries } of stretches.slice(Math.max(0, newestWritten))) {
    const after = readAtOnce(entries());
    if (boundary !== undefined && !undone.has(boundary)) {
      const ledger = readLedger(boundary) ?? (before && computeFacts({ before, after, boundary, previous }));
      previous = ledger && { boundary: boundary.uuid, ledger };
    }
    before = after;
  }
  return previous;
}

/**
 * Maximum number of lines of a segment to read into memory. A conversation that fits a context window never
 * has more lines.
 */
const LINES_AT_ONCE = 10_000;

/**
 * Reads the lines of a segment into memory, because extracting facts reads each line twice. If a segment is
 * too long, its lines are read from the file one by one.
 */
const readAtOnce = (entries: readonly Entry[]): readonly Entry[] =>
  entries.length > LINES_AT_ONCE ? entries : wholeLines(entries);

/**
 * Returns the boundaries that do not count as compactions. These are the boundaries of undos, and of the
 * steps that were undone.
 */
function undoneIn(stretches: readonly HistorySegment[]): ReadonlySet<CompactBoundaryEntry> {
  const newestFirst = stretches.flatMap(({ boundary }) => boundary ?? []).reverse();
  const undone = new Set<CompactBoundaryEntry>();
  for (let nth = 0; nth < newestFirst.length; nth++) {
    const undo = newestFirst[nth];
    const record = undo && undoRecordOf(undo);
    if (undo === undefined || record === undefined) continue;
    // If the undone step was not a compaction, it has no boundary. In that case, only the boundary of the
    // undo itself is added.
    const last = newestFirst.findIndex(({ uuid }, place) => place > nth && uuid === record.before);
    for (const boundary of newestFirst.slice(nth, Math.max(nth, last) + 1)) undone.add(boundary);
    nth = Math.max(nth, last);
  }
  return undone;
}

interface CompactionInFile {
  /** Conversation just before the compaction. */
  readonly before: readonly Entry[];
  /** Result of the compaction, and everything after it. */
  readonly after: readonly Entry[];
  readonly boundary: CompactBoundaryEntry;
  readonly previous: ExtractOptions["previous"];
}

/**
 * Computes the missing ledger of a compaction. As for a new ledger, searches the result for facts of the
 * removed entries.
 */
function computeLedger(compaction: CompactionInFile): Ledger {
  const { boundary } = compaction;
  const parts = partsOf(compaction);
  const { summary, kept, restored } = parts;
  const { summarized, facts, earlier } = factSheet(compaction, parts);
  return makeLedger({
    facts: withFates(facts, [
      ["summary", findFacts(facts, searched(summary))],
      ["kept", findFacts(facts, searched(kept))],
      ["restored", findFacts(facts, searched(restored))],
    ]),
    plan: isClearing(boundary)
      ? { summarized: [], summarizedTokens: 0 }
      : { summarized, summarizedTokens: tokensIn(summarized) },
    kept: { entries: kept, tokens: tokensIn(kept) },
    restored: { items: restored.map(itemOf), skipped: [] },
    quotedTokens: 0,
    earlier,
    hasTranscript: true,
  });
}

/**
 * Computes the same facts as {@link computeLedger} in half the time, because it does not compute their
 * locations.
 */
function computeFacts(compaction: CompactionInFile): KnownFacts {
  const { facts, earlier } = factSheet(compaction, partsOf(compaction));
  return { facts: listedFacts(facts), earlier };
}

function factSheet(
  { before, previous }: CompactionInFile,
  { kept, keptPlace }: Parts,
): FactSheet & { readonly summarized: readonly Entry[] } {
  const keptUuids = new Set(kept.flatMap((entry) => [entry.uuid, ...copiedIds(entry)]));
  const summarized = before.filter((entry) => entry.uuid === undefined || !keptUuids.has(entry.uuid));
  const following = keptPlace === "after" ? kept : [];
  return { summarized, ...extractFacts(summarized, { previous, following }) };
}

/** Checks whether a boundary belongs to a clearing, which keeps everything and clears results. */
const isClearing = ({ compactMetadata }: CompactBoundaryEntry): boolean =>
  compactMetadata?.messagesSummarized === 0;

interface Parts {
  readonly summary: readonly Entry[];
  readonly kept: readonly Entry[];
  readonly keptPlace: "before" | "after";
  readonly restored: readonly AttachmentEntry[];
}

/**
 * Splits the result of a compaction into its parts. Leaves out new work. New work starts with the next
 * request or the agent's next words.
 */
function partsOf({ after, before, boundary }: CompactionInFile): Parts {
  const known = new Set(before.flatMap(({ uuid }) => uuid ?? []));
  const summary: Entry[] = [];
  const kept: Entry[] = [];
  const restored: AttachmentEntry[] = [];
  let isKeptFirst = false;
  for (const entry of after) {
    if (isCompactBoundary(entry)) continue;
    const isKnown = known.has(entry.uuid ?? "");
    // An earlier summary may be kept like a message.
    if (isSummaryEntry(entry) && !isKnown) summary.push(entry);
    else if (isKnown || isRenewed(entry, boundary)) {
      isKeptFirst ||= summary.length === 0;
      kept.push(entry);
    } else if (entry.type === "attachment") {
      if (KINDS_BY_TYPE.has(stringField(entry.attachment, "type") ?? "")) restored.push(entry);
    } else if (isNewWork(entry)) break;
  }
  return { summary, kept, keptPlace: isKeptFirst ? "before" : "after", restored };
}

/**
 * Checks whether an entry is a kept message that was written again. Such an entry names its boundary, as all
 * lines of our compactions do.
 */
const isRenewed = (entry: Entry, boundary: CompactBoundaryEntry): boolean =>
  (entry.type === "user" || entry.type === "assistant") &&
  stringField(entry, "writtenWith") === boundary.uuid;

function isNewWork(entry: Entry): boolean {
  if (entry.type === "assistant") return true;
  if (entry.type !== "user" || entry.isMeta === true) return false;
  return classifyUserText(contentText(rawContent(entry))).kind === "request";
}

/** Attachments with which agents restore content, by type. */
const KINDS_BY_TYPE: ReadonlyMap<string, RestoreKind> = new Map<string, RestoreKind>([
  ["file", "files"],
  ["compact_file_reference", "files"],
  ["todo", "todos"],
  ["todo_reminder", "todos"],
  ["task_reminder", "todos"],
  ["plan_file", "plan"],
  ["plan_file_reference", "plan"],
  ["plan_mode", "plan-mode"],
  ["task_status", "agents"],
  ["agent_listing_delta", "agents"],
  ["deferred_tools_delta", "tools"],
  ["mcp_instructions_delta", "mcp-instructions"],
  ["invoked_skills", "skills"],
  ["nested_memory", "memory-files"],
  ["hook_success", "hook-output"],
  ["hook_additional_context", "hook-output"],
]);

function itemOf(entry: AttachmentEntry): Ledger["restored"][number] {
  const type = stringField(entry.attachment, "type") ?? "";
  const name = firstString(entry.attachment, "displayPath", "filename", "planFilePath", "path", "hookName");
  return {
    kind: KINDS_BY_TYPE.get(type) ?? type,
    name: name ?? type.replaceAll("_", " "),
    tokens: tokensIn([entry]),
  };
}

const tokensIn = (entries: readonly Entry[]): number => Math.round(measureEntries(entries, ESTIMATORS.o200k));

import { LonghaulError } from "@longhaul/core/errors";
import { measureConversation, type SizedConversation } from "@longhaul/core/internal/compaction";
import { accountKnown } from "@longhaul/core/internal/measure";
import { NestedMemory } from "@longhaul/core/internal/memory-files";
import { isEntry, isSummaryEntry, reportedUsage, undoRecordOf } from "@longhaul/core/internal/messages";
import { countMessages } from "@longhaul/core/internal/request";
import { memoryPathOf } from "@longhaul/core/internal/restore";
import {
  accountingMetrics,
  type DuplicateRead,
  type MeasuredResult,
  type Thresholds,
  type TokenAccounting,
  type WindowState,
  windowState,
} from "@longhaul/core/measure";
import { type AttachedMemory, memoryFilesIn } from "@longhaul/core/memory-files";
import type { Entry, UndoRecord } from "@longhaul/core/messages";
import { notesLimitsFor } from "@longhaul/notes/internal/keeper";
import type { Session, SessionProject } from "@longhaul/sessions";
import { memoryFilesPort, notesPath, readNotes } from "@longhaul/sessions";
import { counterFor } from "@longhaul/sessions/internal";
import { type NotesFigures, notesFigures } from "./notes-report.ts";
import { type CollapseReport, collapseReport } from "./spans.ts";
import { type ReportWindow, reportWindow } from "./window-report.ts";

/** Output format of `inspect --json`. Stable, because other programs read it. See docs/json.md. */
export interface InspectReport {
  readonly session: Pick<Session, "id" | "path" | "bytes" | "damage"> & {
    readonly entries: number;
    readonly model: string | null;
    readonly cwd: string | null;
  };
  readonly context: {
    readonly tokens: number;
    readonly source: "usage" | "estimate";
    /**
     * The step since which no response has reported its usage. Null if the newest response reports its usage.
     * Also null if no response in the file reports its usage.
     */
    readonly unreportedSince: ContextStep | null;
    readonly reportedTokens: number;
    readonly estimatedTokens: number;
    readonly messages: number;
  };
  readonly window: ReportWindow & Pick<Thresholds, "error" | "headroomBy">;
  readonly state: WindowState;
  readonly accounting: AccountingReport;
  readonly largest: readonly MeasuredResult[];
  readonly duplicates: readonly DuplicateRead[];
  readonly compactions: readonly CompactionReport[];
  readonly collapse: CollapseReport;
}

type ContextStep = "compaction" | "clearing" | UndoRecord["direction"];

type Accounted = Omit<TokenAccounting, "duplicateReads" | "results">;

/** The token accounting of the context. It contains records instead of maps, because JSON has no maps. */
type AccountingReport = {
  readonly [Name in keyof Accounted]: Accounted[Name] extends number
    ? number
    : Readonly<Record<string, number>>;
} & {
  /** Tokens in the context but not in the file: system prompt, tools, and the agent's additions. */
  readonly notInFile: number;
  readonly metrics: Readonly<Record<string, number>>;
};

interface CompactionReport {
  readonly uuid: string;
  readonly timestamp: string;
  readonly trigger: string;
  readonly preTokens: number | null;
  readonly postTokens: number | null;
  readonly fromNotes: boolean;
  readonly isCurrent: boolean;
}

const LARGEST_SHOWN = 10;

export function inspectSession(
  session: Session,
  thresholds: Thresholds,
  sized: SizedConversation = sizedSession(session),
): InspectReport {
  const { sent, overheadTokens } = sized;
  const { id, path, bytes, entries, model = null, cwd = null, damage } = session;
  const { tokens, source, reportedTokens, estimatedTokens } = sized.context;
  const accounting = accountKnown(sent, sized.tokensSent);
  return {
    session: { id, path, bytes, entries: entries.length, model, cwd, damage },
    context: {
      tokens,
      source,
      unreportedSince: source === "usage" ? null : unreportedSince(session),
      reportedTokens,
      estimatedTokens,
      messages: countMessages(sent),
    },
    window: { ...reportWindow(thresholds), error: thresholds.error, headroomBy: thresholds.headroomBy },
    state: windowState(tokens, thresholds),
    accounting: accountingReport(accounting, overheadTokens),
    largest: accounting.results.slice(0, LARGEST_SHOWN),
    duplicates: accounting.duplicateReads,
    compactions: compactionsOf(session),
    collapse: collapseReport(session),
  };
}

/** Computes the sizes of messages for all parts of a report. */
export const sizedSession = ({ conversation: entries, clearedToolUseIds }: Session): SizedConversation =>
  measureConversation({ entries, clearedToolUseIds }, {});

function unreportedSince({ boundaries, entries, conversation }: Session): ContextStep | null {
  const boundary = boundaries.find(({ isCurrent }) => isCurrent)?.boundary;
  if (boundary === undefined || !entries.some(reportsUsage)) return null;
  const undo = undoRecordOf(boundary);
  if (undo !== undefined) return undo.direction;
  // A clearing of tool results also writes a boundary, but it summarizes no messages.
  return boundary.compactMetadata?.messagesSummarized === 0 && !conversation.some(isSummaryEntry)
    ? "clearing"
    : "compaction";
}

const reportsUsage = (entry: Entry): boolean => isEntry(entry) && reportedUsage(entry) !== undefined;

/** Excludes the boundaries of undos, because they only repeat an earlier conversation. */
function compactionsOf({ boundaries }: Session): readonly CompactionReport[] {
  return boundaries.flatMap(({ boundary, isCurrent }) => {
    if (undoRecordOf(boundary) !== undefined) return [];
    const { uuid, timestamp, compactMetadata } = boundary;
    return {
      uuid,
      timestamp,
      trigger: compactMetadata?.trigger ?? "auto",
      preTokens: compactMetadata?.preTokens ?? null,
      postTokens: compactMetadata?.postTokens ?? null,
      fromNotes: compactMetadata?.longhaul?.tier === "memory",
      isCurrent,
    };
  });
}

function accountingReport(accounting: TokenAccounting, notInFile: number): AccountingReport {
  const { duplicateReads: _, results: __, ...figures } = accounting;
  const plain = Object.entries(figures).map(([name, figure]) => [
    name,
    typeof figure === "number" ? figure : Object.fromEntries(figure),
  ]);
  return { ...Object.fromEntries(plain), notInFile, metrics: accountingMetrics(accounting) };
}

/** Facts of `inspect` that are not in the session file: notes, and memory files of the project. */
export interface BesideReport {
  /** Figures of the notes. Null if there are no notes. */
  readonly notes: NotesFigures | NotesProblem | null;
  readonly memory: MemoryReport;
}

export interface NotesProblem {
  readonly path: string;
  /** Reason why the notes are unreadable. */
  readonly problem: string;
}

export interface MemoryReport {
  /** Memory files in the session, with their content when they were attached. */
  readonly attached: readonly AttachedMemory[];
  /** Folder of the session, if files of its project may be read. */
  readonly folder: string | null;
  /** Memory files that are now in the project and apply to the files of the session. */
  readonly governing: readonly { readonly path: string; readonly tokens: number }[];
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

/**
 * Reads the notes of a session. If they are unreadable, returns the problem instead of throwing, so that the
 * inspection can continue.
 */
export async function notesBeside(session: Session, thresholds: Thresholds): Promise<BesideReport["notes"]> {
  try {
    const read = await readNotes(session);
    return read === undefined ? null : notesFigures(session, read, notesLimitsFor(thresholds));
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    return { path: notesPath(session.path), problem: error.message };
  }
}

/** @param project folder of the memory files, and the session's working folder in it */
export async function memoryOf(
  session: Session,
  project: Pick<SessionProject, "folder" | "cwd">,
  sized?: SizedConversation,
): Promise<MemoryReport> {
  const countTokens = counterFor(session, sized);
  const attached = memoryFilesIn(session.entries, countTokens, session.conversation);
  if (project.folder === undefined) return { attached, folder: null, governing: [], skipped: [] };
  const folder = project.cwd;
  const memory = new NestedMemory({ cwd: folder, port: memoryFilesPort({ cwd: folder }) });
  // Skips entries that attach memory files. Otherwise, the attached files would count as known and would not
  // be listed.
  memory.touched(session.entries.filter((entry) => memoryPathOf(entry) === undefined));
  const { files, skipped } = await memory.drain({ countTokens, budgetTokens: Number.POSITIVE_INFINITY });
  return { attached, folder, governing: files, skipped };
}

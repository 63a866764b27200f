import type { SizedConversation } from "../compaction/plan/sized.ts";
import { LonghaulError } from "../errors.ts";
import { memoryFilesPort } from "../host/memory-files.ts";
import { notesPath } from "../host/notes-file.ts";
import { counterFor, readNotes } from "../host/session-notes.ts";
import type { SessionProject } from "../host/session-project.ts";
import { type AttachedMemory, memoryFilesIn } from "../memory-files/attached-memory.ts";
import { NestedMemory } from "../memory-files/nested-memory.ts";
import { memoryPathOf } from "../restore/read-state.ts";
import type { Session } from "../transcript/session.ts";
import { notesLimitsFor } from "../turn/notes-limits.ts";
import type { Thresholds } from "../window/thresholds.ts";
import { type NotesFigures, notesFigures } from "./notes-report.ts";

/** What `inspect` tells of a session besides its file: its notes, and memory files of its project. */
export interface BesideReport {
  /** Null where there are none. */
  readonly notes: NotesFigures | NotesProblem | null;
  readonly memory: MemoryReport;
}

export interface NotesProblem {
  readonly path: string;
  /** Why they cannot be read. */
  readonly problem: string;
}

export interface MemoryReport {
  /** In the session, as they were when they were attached. */
  readonly attached: readonly AttachedMemory[];
  /** The folder of the session, if files of its project may be read. */
  readonly folder: string | null;
  /** Files in that folder that govern what the session touched, as they are now. */
  readonly governing: readonly { readonly path: string; readonly tokens: number }[];
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

export interface BesideOptions {
  readonly thresholds: Thresholds;
  /** The folder that memory files are read from, and where in it the session worked. */
  readonly project: Pick<SessionProject, "folder" | "cwd">;
  readonly sized?: SizedConversation | undefined;
}

export async function besideSession(
  session: Session,
  { thresholds, project, sized }: BesideOptions,
): Promise<BesideReport> {
  const [notes, memory] = await Promise.all([
    notesBeside(session, thresholds),
    memoryOf(session, project, sized),
  ]);
  return { notes, memory };
}

/** Never fails: a session can be looked at whatever lies beside it. */
async function notesBeside(session: Session, thresholds: Thresholds): Promise<BesideReport["notes"]> {
  try {
    const read = await readNotes(session);
    return read === undefined ? null : notesFigures(session, read, notesLimitsFor(thresholds));
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    return { path: notesPath(session.path), problem: error.message };
  }
}

async function memoryOf(
  session: Session,
  project: BesideOptions["project"],
  sized: SizedConversation | undefined,
): Promise<MemoryReport> {
  const countTokens = counterFor(session, sized);
  const attached = memoryFilesIn(session.entries, countTokens, session.conversation);
  if (project.folder === undefined) return { attached, folder: null, governing: [], skipped: [] };
  const folder = project.cwd;
  const memory = new NestedMemory({ cwd: folder, port: memoryFilesPort({ cwd: folder }) });
  // Those that are attached govern as well.
  memory.touched(session.entries.filter((entry) => memoryPathOf(entry) === undefined));
  const { files, skipped } = await memory.drain({ countTokens, budgetTokens: Number.POSITIVE_INFINITY });
  return { attached, folder, governing: files, skipped };
}

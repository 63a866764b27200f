import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import type { SizedConversation } from "../compact/sized.ts";
import { LonghaulError } from "../errors.ts";
import { memoryFilesPort } from "../host/memory-files.ts";
import { notesPath } from "../host/notes-file.ts";
import { counterFor, readNotes } from "../host/session-notes.ts";
import { NestedMemory } from "../memory/nested/nested-memory.ts";
import { type AttachedMemory, memoryFilesIn } from "../memory/nested/report.ts";
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
  /** The session's folder, where it is here. */
  readonly folder: string | null;
  /** Files in that folder that govern what the session touched, as they are now. */
  readonly governing: readonly { readonly path: string; readonly tokens: number }[];
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

export async function besideSession(
  session: Session,
  thresholds: Thresholds,
  sized?: SizedConversation,
): Promise<BesideReport> {
  const [notes, memory] = await Promise.all([notesBeside(session, thresholds), memoryOf(session, sized)]);
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

async function memoryOf(session: Session, sized: SizedConversation | undefined): Promise<MemoryReport> {
  const countTokens = counterFor(session, sized);
  const attached = memoryFilesIn(session.entries, countTokens, session.conversation);
  const folder = await folderOf(session);
  if (folder === null) return { attached, folder, governing: [], skipped: [] };
  const memory = new NestedMemory({ cwd: folder, port: memoryFilesPort({ cwd: folder }) });
  // Those that are attached govern as well.
  memory.touched(session.entries.filter((entry) => memoryPathOf(entry) === undefined));
  const { files, skipped } = await memory.drain({ countTokens, budgetTokens: Number.POSITIVE_INFINITY });
  return { attached, folder, governing: files, skipped };
}

/** A session outlives its project's folder, and may come from another machine. */
async function folderOf({ cwd }: Session): Promise<string | null> {
  if (cwd === undefined || !isAbsolute(cwd)) return null;
  const found = await stat(cwd).catch(() => undefined);
  return found?.isDirectory() ? cwd : null;
}

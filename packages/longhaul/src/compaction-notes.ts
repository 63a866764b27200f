import { resolve } from "node:path";
import type { Thresholds } from "@longhaul/core/measure";
import type { HostState } from "@longhaul/core/restore";
import { sectionName } from "@longhaul/notes/internal/format";
import { notesLimitsFor } from "@longhaul/notes/internal/keeper";
import { notesAsSummary } from "@longhaul/notes/internal/work";
import type { Session } from "@longhaul/sessions";
import { buildNotes, fileState, notesPath, readNotes } from "@longhaul/sessions";
import type { SessionNotesSource } from "@longhaul/sessions/internal";
import { counterFor } from "@longhaul/sessions/internal";

/** Notes that take the place of a summary, and where they came from. */
export interface CompactionNotes {
  readonly source: SessionNotesSource;
  readonly path: string;
  /** Names of the sections in which something is noted. */
  readonly sections: readonly string[];
  /** There were none, so they were built for it, without a model. */
  readonly isBuilt: boolean;
  readonly isWritten: boolean;
}

/**
 * The session's notes, however old: messages that they do not cover are kept. Without notes they are built but not
 * written, because the compaction may not pay.
 */
export async function notesForCompaction(
  session: Session,
  thresholds: Thresholds,
  signal: AbortSignal,
): Promise<CompactionNotes> {
  const limits = notesLimitsFor(thresholds);
  const present = await readNotes(session);
  const used = present ?? (await buildNotes(session, { limits, dryRun: true, signal }));
  // The agent that is told where they are may be in another folder than we are.
  const path = resolve(used.path);
  const text = notesAsSummary(used.notes, { limits, path, countTokens: counterFor(session) });
  const source = { text, coveredUuid: used.notes.coveredUuid };
  const filled = used.notes.sections.filter(({ body }) => body !== "");
  const sections = filled.map(({ heading }) => sectionName(heading));
  return { source, path, sections, isBuilt: present === undefined, isWritten: false };
}

/** Writes notes that were built for a compaction which is about to be written. */
export async function writeBuiltNotes(
  session: Session,
  notes: CompactionNotes,
  thresholds: Thresholds,
): Promise<CompactionNotes> {
  if (!notes.isBuilt) return notes;
  const { isWritten } = await buildNotes(session, { limits: notesLimitsFor(thresholds) });
  return { ...notes, isWritten };
}

/** After a compaction the agent is told where the notes are, if there are any or the compaction is made from them. */
export function notesPointer(
  session: Session,
  notes: CompactionNotes | undefined,
): Pick<HostState, "sessionMemory"> {
  if (notes !== undefined) return { sessionMemory: () => notes.path };
  const path = resolve(notesPath(session.path));
  return { sessionMemory: fileState({ folder: undefined, notesPath: path }).sessionMemory };
}

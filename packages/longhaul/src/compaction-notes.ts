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

/** Notes that replace a summary, and their origin. */
export interface CompactionNotes {
  readonly source: SessionNotesSource;
  readonly path: string;
  /** Names of the sections that are not empty. */
  readonly sections: readonly string[];
  /** True if the session had no notes, so notes were built for this compaction without a model. */
  readonly isBuilt: boolean;
  readonly isWritten: boolean;
}

/**
 * Returns the session's notes, even if they are old. The compaction keeps messages that the notes do not
 * cover. If there are no notes, builds them. Does not write the built notes, because the compaction may not
 * be worthwhile.
 */
export async function notesForCompaction(
  session: Session,
  thresholds: Thresholds,
  signal: AbortSignal,
): Promise<CompactionNotes> {
  const limits = notesLimitsFor(thresholds);
  const present = await readNotes(session);
  const used = present ?? (await buildNotes(session, { limits, dryRun: true, signal }));
  // Absolute, because the agent that reads this path may work in another folder.
  const path = resolve(used.path);
  const text = notesAsSummary(used.notes, { limits, path, countTokens: counterFor(session) });
  const source = { text, coveredUuid: used.notes.coveredUuid };
  const filled = used.notes.sections.filter(({ body }) => body !== "");
  const sections = filled.map(({ heading }) => sectionName(heading));
  return { source, path, sections, isBuilt: present === undefined, isWritten: false };
}

/** Writes the notes that were built for a compaction. Called right before the compaction is written. */
export async function writeBuiltNotes(
  session: Session,
  notes: CompactionNotes,
  thresholds: Thresholds,
): Promise<CompactionNotes> {
  if (!notes.isBuilt) return notes;
  const { isWritten } = await buildNotes(session, { limits: notesLimitsFor(thresholds) });
  return { ...notes, isWritten };
}

/**
 * Points the agent to the notes after a compaction, if the session has notes or the compaction uses notes.
 */
export function notesPointer(
  session: Session,
  notes: CompactionNotes | undefined,
): Pick<HostState, "sessionMemory"> {
  if (notes !== undefined) return { sessionMemory: () => notes.path };
  const path = resolve(notesPath(session.path));
  return { sessionMemory: fileState({ folder: undefined, notesPath: path }).sessionMemory };
}

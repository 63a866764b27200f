/** Session files and everything else that accesses the disk. Requires Node. */

export { type FileStateOptions, fileState } from "./machine/file-state.ts";
export { endProcessTree, isGroupRunning } from "./machine/process-tree.ts";
export { type MemoryFilesPortOptions, memoryFilesPort, projectFiles } from "./machine/project-files.ts";
export { runCommand } from "./machine/run-command.ts";
export { isSecretFile, pathNames } from "./machine/secret-files.ts";
export { readUserHooks, type UserHooks, type UserHooksOptions } from "./machine/user-hooks.ts";
export {
  type ClearSessionOptions,
  clearSession,
  type SessionClearing,
  writeClearing,
} from "./operations/clear-session.ts";
export {
  type CompactSessionOptions,
  compactSession,
  type SessionCompaction,
  writeCompaction,
} from "./operations/compact-session.ts";
export type { NotesCoverage } from "./operations/notes-coverage.ts";
export { notesFile, notesPath } from "./operations/notes-file.ts";
export type { NotesProgress } from "./operations/notes-work.ts";
export { type SessionLedger, sessionLedgers } from "./operations/session-ledgers.ts";
export {
  type BuildNotesOptions,
  type BuiltNotes,
  buildNotes,
  type NotesPlace,
  type ReadNotes,
  readNotes,
  undoNotes,
} from "./operations/session-notes.ts";
export {
  isTooWide,
  type ProjectProblem,
  type ProjectSource,
  type SessionProject,
  type SessionProjectOptions,
  sessionProject,
  userHome,
} from "./operations/session-project.ts";
export {
  type RewindPoint,
  rewindPoints,
  rewindSession,
  type SessionRewind,
  type SessionUndo,
  type UndoSessionOptions,
  undoableSteps,
  undoSession,
  writeUndo,
} from "./operations/undo-rewind.ts";
export type { WriteTarget, WrittenLines } from "./operations/write-lines.ts";
export {
  type RecallSession,
  recallAcrossSessions,
  type SessionsRecallHit,
  type SessionsRecallOptions,
  type SessionsRecallPage,
  type SkippedSession,
} from "./recall/across-sessions.ts";
export { openRecall, type Recall, type RecallOptions, recallIndexPath } from "./recall/open-recall.ts";
export {
  GuardedPattern,
  literalsIn as literalsInPattern,
  type Match as PatternMatch,
} from "./recall/pattern.ts";
export type { RecallHit, RecallPage, RecallPiece, RecallQuery, RecallReading } from "./recall/query.ts";
export type { ReadOptions } from "./recall/read-by-id.ts";
export type { RecallScope } from "./recall/session-scope.ts";
export {
  createRecallTool,
  RECALL_TOOL,
  type RecallTool,
  type RecallToolDefinition,
  type RecallToolOptions,
} from "./recall/tool.ts";
export type { Damage, DamageKind } from "./transcript/entry-reader.ts";
export { findSession } from "./transcript/find-session.ts";
export { type ListOptions, listSessions, type SessionListing } from "./transcript/list-sessions.ts";
export { type LoadOptions, loadSession, type Session, type SessionBoundary } from "./transcript/load.ts";
export { type SessionAgent, sessionPath, type UserPlaces } from "./transcript/locations.ts";
export { type Conversation, currentConversation, historyBefore } from "./transcript/relink.ts";
export {
  dedupeAcrossFiles,
  lastUsageOfMessage,
  type ModelResponse,
  responses,
} from "./transcript/responses.ts";
export { type ResumedSession, resumeSession } from "./transcript/resume.ts";
export type { Step } from "./transcript/steps.ts";
export { writeNewSession } from "./transcript/whole-file.ts";
export { openTranscript, type TranscriptOptions, type TranscriptWriter } from "./transcript/writer.ts";

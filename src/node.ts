/** Everything that touches files: `longhaul/node`. The package's main entry runs anywhere. */
export {
  type ClearSessionOptions,
  clearSession,
  type SessionClearing,
  writeClearing,
} from "./host/clear-session.ts";
export {
  type CompactSessionOptions,
  compactSession,
  type SessionCompaction,
  writeCompaction,
} from "./host/compact-session.ts";
export { type FileStateOptions, fileState } from "./host/file-state.ts";
export type { NotesCoverage } from "./host/notes-coverage.ts";
export { notesFile, notesPath } from "./host/notes-file.ts";
export type { NotesProgress } from "./host/notes-work.ts";
export { endProcessTree, isGroupRunning } from "./host/process-tree.ts";
export { type MemoryFilesPortOptions, memoryFilesPort, projectFiles } from "./host/project-files.ts";
export { runCommand } from "./host/run-command.ts";
export { isSecretFile, pathNames } from "./host/secret-files.ts";
export { type SessionLedger, sessionLedgers } from "./host/session-ledgers.ts";
export {
  type BuildNotesOptions,
  type BuiltNotes,
  buildNotes,
  type NotesPlace,
  type ReadNotes,
  readNotes,
  takeNotesBack,
} from "./host/session-notes.ts";
export {
  isTooWide,
  type ProjectProblem,
  type ProjectSource,
  type SessionProject,
  type SessionProjectOptions,
  sessionProject,
  userHome,
} from "./host/session-project.ts";
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
} from "./host/undo-rewind.ts";
export { readUserHooks, type UserHooks, type UserHooksOptions } from "./host/user-hooks.ts";
export type { WriteTarget, WrittenLines } from "./host/write-lines.ts";
export { openRecall, type Recall, type RecallOptions, recallIndexPath } from "./recall/open-recall.ts";
export {
  GuardedPattern,
  literalsIn as literalsInPattern,
  type Match as PatternMatch,
} from "./recall/pattern.ts";
export type {
  RecallHit,
  RecallPage,
  RecallPiece,
  RecallQuery,
  RecallReading,
} from "./recall/query.ts";
export type { ReadOptions } from "./recall/read-by-id.ts";
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

export { readRegularFile, readTextFile } from "./machine/text-file.ts";
export type { SessionNotesSource } from "./operations/compact-session.ts";
export {
  type CallCost,
  expectedCall,
  type SessionSituation,
  sessionSituation,
  usualPlan,
  type WeighedCompaction,
  weighSession,
} from "./operations/session-cost.ts";
export {
  historySegmentsOf,
  messagesOfSpan,
  type SessionHistory,
  sessionHistory,
} from "./operations/session-history.ts";
export { counterFor, hasNotes } from "./operations/session-notes.ts";
export { isSystemError } from "./transcript/file-bytes.ts";
export { findLatest, type LatestSession, latestSession } from "./transcript/find-session.ts";
export { peekSession, type SessionFile, sessionFiles, sessionLabel } from "./transcript/list-sessions.ts";
export { loadSparsely } from "./transcript/load.ts";
export { agentFolder } from "./transcript/locations.ts";
export { promptIn, spokenIn } from "./transcript/prompts.ts";
export { withSessionFile } from "./transcript/session-file.ts";
export { whyNotWritten } from "./transcript/whole-file.ts";

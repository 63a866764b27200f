export type {
  AssistantEntry,
  AssistantMessage,
  Attachment,
  AttachmentEntry,
  BoundaryRecord,
  CompactBoundaryEntry,
  CompactMetadata,
  Entry,
  EntryLink,
  MicrocompactBoundaryEntry,
  OpaqueEntry,
  PreservedMessages,
  PreservedSegment,
  ProgressEntry,
  SessionRecord,
  StepKind,
  SystemEntry,
  UndoRecord,
  Usage,
  UserEntry,
  UserMessage,
} from "./messages/entry.ts";
export {
  type CauseType,
  type DirectiveStatus,
  type DirectiveType,
  type Fact,
  type FactAuthor,
  type FactKind,
  type Fate,
  type Ledger,
  type LedgerFact,
  readLedger,
} from "./messages/fact-ledger.ts";
export type {
  ApiMessage,
  ApiRequest,
  CacheControl,
  ContentBlock,
  DocumentBlock,
  ImageBlock,
  MediaSource,
  MessageContent,
  OpaqueBlock,
  RedactedThinkingBlock,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  ToolSchema,
  ToolUseBlock,
} from "./messages/message.ts";
export {
  groupRounds,
  indexPairs,
  moveCutBack,
  type PairIndex,
  type Round,
  type ToolPair,
  type ToolResultAt,
  type ToolUseAt,
} from "./messages/pairs.ts";
export { CLEARED_RESULT_TEXT, withClearedResults } from "./messages/stand-ins.ts";
export { headOf, tailOf } from "./messages/text.ts";
export type { Todo } from "./messages/todo-ledger.ts";
export { FILE_TOOLS, type FileTools } from "./messages/tool-kinds.ts";
export type { StepBack } from "./messages/undo-marks.ts";

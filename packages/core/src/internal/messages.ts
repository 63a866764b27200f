export { asAtomicWrite, markMoved, withoutTornWrites } from "../messages/atomic-write.ts";
export { claudeVersion, isAtLeast } from "../messages/claude-version.ts";
export {
  CLEARED_FIELD,
  entryBlocks,
  isCompactBoundary,
  isEntry,
  isMicrocompactBoundary,
  isSummaryEntry,
  isSynthetic,
  PREFIX_FIELD,
  type RewindMark,
  rawContent,
  responseIdOf,
} from "../messages/entry.ts";
export { environmentVariable, processEnvironment } from "../messages/environment.ts";
export { countFates, FACT_KINDS, isInContext, type KnownFacts } from "../messages/fact-ledger.ts";
export { IdTable, PositionList, PositionSet, type Positions } from "../messages/id-table.ts";
export {
  copiedIds,
  indexInConversation,
  indexOfMessage,
  isFromQueue,
  isQueueOperation,
  isSlashCommand,
  isTypedMessage,
  keptMessagesAfterBoundary,
  timeOf,
} from "../messages/lines.ts";
export { type ApiVersion, contentBlocks, isBlock, isMedia, isThinking, tagOf } from "../messages/message.ts";
export { previousSoundCut, soundCuts } from "../messages/pairs.ts";
export {
  hasOpenCalls,
  inputTokens,
  isOutputProvisional,
  recordedModel,
  reportedUsage,
  respondingModel,
} from "../messages/responses.ts";
export {
  type CollapsedSpan,
  clearedIdsIn,
  clearedResultIds,
  collapsedUuids,
  committedSpanIds,
  expandedSpanIds,
  isCleared,
  isCollapsedSpan,
  isCollapseMark,
  isSettled,
  isSnipMarker,
  isStandIn,
  replacesMessage,
  standInUuids,
  withStandInsApplied,
} from "../messages/stand-ins.ts";
export { formatCount, withoutControls } from "../messages/text.ts";
export type { TrackedTodo } from "../messages/todo-ledger.ts";
export {
  filePathIn,
  fileUseOf,
  isShellTool,
  PATH_FIELDS,
  RECALL_TOOL_NAME,
  writesWholeFile,
} from "../messages/tool-kinds.ts";
export { isUndoMark, rewindRecordOf, undoRecordOf } from "../messages/undo-marks.ts";
export {
  asList,
  contentText,
  field,
  firstString,
  isNestedTooDeep,
  isRecord,
  type JsonRecord,
  listField,
  MAX_NESTED_LEVELS,
  mayNestTooDeep,
  numberField,
  parseJson,
  stringField,
  stringListField,
  withoutDeepParts,
} from "../messages/untrusted.ts";
export { withoutRefusedThinking } from "../messages/without-thinking.ts";

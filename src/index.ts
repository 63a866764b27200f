export type { ClearedResult, Clearing } from "./clear/stale-results.ts";
export {
  type AppliedClearing,
  applyClearing,
  type BySizeOptions,
  type ByTimeOptions,
  chooseBySize,
  chooseByTime,
  ELIGIBLE_TOOLS,
  ResultIndex,
  type ResultIndexOptions,
} from "./clear/stale-results.ts";
export { rebuild } from "./compaction/apply/assemble.ts";
export type { CompactionPorts } from "./compaction/apply/new-entries.ts";
export {
  conventionsOf,
  type HostConventions,
  linesInPlace,
  linesOfNewSession,
} from "./compaction/apply/session-lines.ts";
export { type Compaction, type CompactOptions, compact } from "./compaction/compact.ts";
export { type LedgerTextOptions, ledgerText } from "./compaction/facts/ledger-text.ts";
export type { HookContext } from "./compaction/hook-steps.ts";
export {
  type CompactionPlan,
  type Feasibility,
  fitToTarget,
  type PlanOptions,
  planCompaction,
  type ResultWishes,
} from "./compaction/plan/compaction-plan.ts";
export { planReactive, type ReactiveOptions } from "./compaction/plan/reactive.ts";
export { KEEP_RECENT_TOKENS } from "./compaction/plan/room.ts";
export type { Snapshot } from "./compaction/plan/sized.ts";
export { type LeastSaving, type Saving, SMALLEST_WORTHWHILE_SAVING } from "./compaction/worthwhile.ts";
export type { ModelSummary } from "./compaction/write/ask-model.ts";
export {
  AttemptedError,
  attemptsOf,
  type SummaryAttempt,
  SummaryChainError,
  type SummaryProgress,
  type SummaryStep,
} from "./compaction/write/attempts.ts";
export { requestSummary, type SummaryRequestOptions } from "./compaction/write/request-summary.ts";
export type { ForkSource, RequestFrame } from "./compaction/write/shared-prefix.ts";
export type {
  BuiltInFallback,
  ChainOptions,
  SummaryOptions,
  SummarySource,
  WrittenSummary,
} from "./compaction/write/summary-chain.ts";
export { type CheckedRequest, checkRequest } from "./conversation/check/check.ts";
export { MAX_MEDIA, MAX_MEDIA_SMALL_WINDOW, MAX_REQUEST_BYTES } from "./conversation/check/limits.ts";
export type { CheckOptions, Finding, RepairAction, RuleName } from "./conversation/check/rule.ts";
export type {
  AssistantEntry,
  AssistantMessage,
  Attachment,
  AttachmentEntry,
  BoundaryKnowledge,
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
} from "./conversation/entry.ts";
export {
  type DirectiveStatus,
  type Fact,
  type FactKind,
  type Fate,
  type Ledger,
  type LedgerFact,
  readLedger,
} from "./conversation/fact-ledger.ts";
export { attachmentContent, sentContent } from "./conversation/flatten/attachment-content.ts";
export {
  type FlattenedConversation,
  type FlattenOptions,
  flatten,
  flattenChecked,
} from "./conversation/flatten/flatten.ts";
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
} from "./conversation/message.ts";
export {
  groupRounds,
  indexPairs,
  moveCutBack,
  type PairIndex,
  type Round,
  type ToolPair,
  type ToolResultAt,
  type ToolUseAt,
} from "./conversation/pairs.ts";
export { CLEARED_RESULT_TEXT, withClearedResults } from "./conversation/stand-ins.ts";
export { headOf, tailOf } from "./conversation/text.ts";
export type { Todo } from "./conversation/todo-ledger.ts";
export { FILE_TOOLS, type FileTools } from "./conversation/tool-kinds.ts";
export type { StepBack } from "./conversation/undo-marks.ts";
export { expectedTurns } from "./cost/pace.ts";
export {
  type Alternative,
  type NetSaving,
  netSaving,
  type Rewrite,
  type Situation,
  type WeighedOption,
  type WeighedWhy,
  type Weighing,
  weigh,
} from "./cost/rewrite-cost.ts";
export { LonghaulError, type LonghaulErrorCode } from "./errors.ts";
export type { HookAgent, HookCallback, HookCallbacks, HookFunction } from "./hooks/handlers.ts";
export type {
  CommandRequest,
  CommandResult,
  HookEvent,
  HookInput,
  HookOutcome,
  HookRun,
  HookRunner,
  HookRunOptions,
  RunCommand,
} from "./hooks/hook.ts";
export { createHooks, type Hooks, type HooksOptions } from "./hooks/runner.ts";
export { TimeLimitError, untilAborted, withTimeLimit } from "./models/abortable.ts";
export { type AiSdkModelOptions, aiSdkModel } from "./models/ai-sdk/ai-sdk-model.ts";
export type { AiSdk, AiSdkLanguageModel } from "./models/ai-sdk/sdk.ts";
export { type AnthropicModelOptions, anthropicModel } from "./models/anthropic/anthropic-model.ts";
export type { AnthropicClient } from "./models/anthropic/client.ts";
export { type CacheMarkOptions, withCacheMarks } from "./models/anthropic/prompt-cache-marks.ts";
export { complete } from "./models/complete.ts";
export { failureOf } from "./models/foreign-error.ts";
export {
  ModelError,
  type ModelErrorDetails,
  type ModelFailure,
  type ModelFailureKind,
} from "./models/model-error.ts";
export { MODEL_TIME_LIMITS, type ModelTimeLimits, withFirstByteLimit } from "./models/model-time-limits.ts";
export type {
  CacheEdit,
  CallOptions,
  ContextEdit,
  Model,
  ModelCapabilities,
  ModelEvent,
  ModelReply,
  ModelRequest,
  ModelUsage,
  ProviderCompaction,
  RequestChange,
  StopReason,
  TokenCount,
  ToolChoice,
  ToolDefinition,
  UsageIteration,
} from "./models/port.ts";
export { requireModel } from "./models/require-model.ts";
export { type Retry, type RetryOptions, withRetries } from "./models/retry.ts";
export { apiClearing, type ContextEditOptions, contextEdits } from "./modules/api-clearing/api-clearing.ts";
export { cachedEdits } from "./modules/cached-edits/cached-edits.ts";
export { type CollapseCommands, type CollapseOptions, spanCollapse } from "./modules/collapse/collapse.ts";
export { type AttachedMemory, memoryFilesIn } from "./modules/memory-files/attached-memory.ts";
export { memoryFiles } from "./modules/memory-files/memory-files-module.ts";
export type {
  MemoryFilesOptions,
  MemoryFilesPort,
  SkippedMemory,
} from "./modules/memory-files/memory-reader.ts";
export { memoryFilesNow } from "./modules/memory-files/memory-reader.ts";
export {
  expandBraces,
  fitsName,
  type NamePattern,
  namePattern,
} from "./modules/memory-files/name-pattern.ts";
export type { NotesOptions } from "./modules/notes/notes-keeper.ts";
export { sessionNotes } from "./modules/notes/notes-module.ts";
export { type SnipOptions, type Snipped, type SnipSelection, snip } from "./modules/snip/snip.ts";
export { messageSnip, type SnipCommands, type SnipTurn } from "./modules/snip/snip-module.ts";
export type {
  BackgroundAgent,
  FileAnswer,
  HostState,
  McpInstructions,
  MemoryFile,
  MemoryFileAnswer,
  Plan,
  ProjectFiles,
  UnavailableReason,
  UsedSkill,
} from "./restore/host-state.ts";
export { type RestoreOptions, readHostState, restoreAll, type ToldState } from "./restore/restore-all.ts";
export type {
  Restored,
  RestoredItem,
  RestoreInput,
  RestoreKind,
  SkippedItem,
} from "./restore/restored.ts";
export { SUMMARY_BUDGET_TOKENS } from "./summary/builtin/budget.ts";
export {
  BUILT_IN_MODEL_NAME,
  type BuiltInModelOptions,
  builtInModel,
} from "./summary/builtin/builtin-model.ts";
export {
  type BuiltInSummary,
  type SummariseOptions,
  summarise,
} from "./summary/builtin/summarise.ts";
export { formatSummary } from "./summary/format.ts";
export {
  type ContinuationInput,
  continuationMessage,
  presentSections,
  SECTION_NAMES,
  type SectionName,
  type SummaryVariant,
} from "./summary/summary-message.ts";
export {
  SUMMARY_SYSTEM_PROMPT,
  type SummaryPromptOptions,
  type SummaryWishes,
  summaryPrompt,
} from "./summary/summary-prompt.ts";
export type { OpenTelemetryApi } from "./telemetry/api.ts";
export {
  type LoadOptions,
  loadOpenTelemetry,
  type OpenTelemetryOptions,
  openTelemetry,
} from "./telemetry/open-telemetry.ts";
export {
  accountingMetrics,
  accountTokens,
  type DuplicateRead,
  type MeasuredResult,
  type TokenAccounting,
} from "./tokens/accounting.ts";
export type { Calibration } from "./tokens/context-meter.ts";
export {
  ContextMeter,
  type ContextMeterOptions,
  type ContextSize,
  contextTokens,
  measureContext,
} from "./tokens/context-meter.ts";
export { estimateTokens, type TokenProfile } from "./tokens/estimate/estimate.ts";
export { type ImageHeader, readImageHeader } from "./tokens/image-size.ts";
export {
  type CountText,
  ESTIMATORS,
  type EstimatorName,
  measureContent,
  measureEntries,
  measureRequest,
} from "./tokens/measure.ts";
export { createCompactor } from "./turn/create-compactor.ts";
export type {
  ChainRecord,
  ClearingForm,
  CompactorEvent,
  FailureReason,
  SkipReason,
  Trigger,
} from "./turn/events.ts";
export type {
  AiSdkUsage,
  AnyUsage,
  BeforeOptions,
  Caller,
  ChildOptions,
  ClearingOptions,
  ClearOptions,
  CommandsOf,
  CompactionOptions,
  Compactor,
  CompactorModule,
  CompactorOptions,
  CostOptions,
  EnginePorts,
  HostCallbacks,
  ManualOptions,
  Message,
  OpenAiChatUsage,
  OpenAiResponsesUsage,
  ResponseFacts,
  SessionOptions,
  TranscriptPort,
  Turn,
  UndoOptions,
  WindowSources,
} from "./turn/options.ts";
export { type OptionNames, requireOptionNames, requireWindow } from "./turn/require-options.ts";
export { type ClaudeFeatures, claudeFeatures, type ThinkingMode } from "./window/claude-features.ts";
export {
  findModel,
  type KnownModel,
  MODELS,
  type ModelFacts,
  type ModelTable,
  type WindowOrigin,
  withProvenWindow,
} from "./window/models.ts";
export type { CacheTtl } from "./window/prices.ts";
export {
  costOf,
  type OwnPrices,
  type PricedUsage,
  type Prices,
  type PriceTable,
  pricesOf,
  type ReadPrices,
  readPrices,
} from "./window/prices.ts";
export {
  type SessionWindowOptions,
  sessionRecord,
  sessionWindow,
  type WindowEvidence,
  type WindowedSession,
  windowEvidence,
} from "./window/session-window.ts";
export {
  type EffectiveSettings,
  type GivenSettings,
  type ResolvedSettings,
  resolveSettings,
  type Settings,
  type SettingsSources,
} from "./window/settings.ts";
export {
  computeThresholds,
  type HeadroomOwner,
  type ResolvedWindowOptions,
  type Thresholds,
  type WindowOptions,
  type WindowState,
  windowState,
} from "./window/thresholds.ts";

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
export { type LedgerTextOptions, ledgerText } from "./compaction/facts/make-ledger.ts";
export type { HookContext } from "./compaction/hook-steps.ts";
export { type CompactionPlan, type PlanOptions, planCompaction } from "./compaction/plan/compaction-plan.ts";
export { type Feasibility, fitToTarget, type ResultWishes } from "./compaction/plan/feasibility.ts";
export { KEEP_RECENT_TOKENS } from "./compaction/plan/keep-recent.ts";
export { planReactive, type ReactiveOptions } from "./compaction/plan/reactive.ts";
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
export type { BuiltInFallback, ChainOptions, WrittenSummary } from "./compaction/write/summary-chain.ts";
export type { SummaryOptions, SummarySource } from "./compaction/write/write-summary.ts";
export { type CheckedRequest, checkRequest } from "./conversation/check/check.ts";
export type { Finding, RepairAction, RuleName } from "./conversation/check/finding.ts";
export { MAX_MEDIA, MAX_MEDIA_SMALL_WINDOW, MAX_REQUEST_BYTES } from "./conversation/check/limits.ts";
export type { CheckOptions } from "./conversation/check/rule.ts";
export { CLEARED_RESULT_TEXT, withClearedResults } from "./conversation/cleared.ts";
export { moveCutBack } from "./conversation/cut.ts";
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
  indexPairs,
  type PairIndex,
  type ToolPair,
  type ToolResultAt,
  type ToolUseAt,
} from "./conversation/pairs.ts";
export { groupRounds, type Round } from "./conversation/rounds.ts";
export { headOf, tailOf } from "./conversation/text.ts";
export type { Todo } from "./conversation/todo-ledger.ts";
export { FILE_TOOLS, type FileTools } from "./conversation/tool-kinds.ts";
export type { StepBack } from "./conversation/undo-rewind.ts";
export { expectedTurns } from "./cost/pace.ts";
export type { CacheTtl } from "./cost/rates.ts";
export { type NetSaving, netSaving, type Rewrite } from "./cost/rewrite-cost.ts";
export {
  type Alternative,
  type Situation,
  type WeighedOption,
  type WeighedWhy,
  type Weighing,
  weigh,
} from "./cost/weigh.ts";
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
export { type AttachedMemory, memoryFilesIn } from "./memory-files/attached-memory.ts";
export type { MemoryFilesOptions, MemoryFilesPort, SkippedMemory } from "./memory-files/memory-reader.ts";
export { memoryFilesNow } from "./memory-files/memory-reader.ts";
export { expandBraces, fitsName, type NamePattern, namePattern } from "./memory-files/name-pattern.ts";
export { untilAborted } from "./models/abortable.ts";
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
export {
  MODEL_TIME_LIMITS,
  type ModelTimeLimits,
  TimeLimitError,
  withFirstByteLimit,
  withTimeLimit,
} from "./models/time-limit.ts";
export { apiClearing, type ContextEditOptions, contextEdits } from "./modules/api-clearing/api-clearing.ts";
export { cachedEdits } from "./modules/cached-edits/cached-edits.ts";
export { type CollapseCommands, type CollapseOptions, spanCollapse } from "./modules/collapse/collapse.ts";
export { type NotesOptions, sessionNotes } from "./modules/notes/notes-module.ts";
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
export {
  BUILT_IN_MODEL_NAME,
  type BuiltInModelOptions,
  builtInModel,
} from "./summary/builtin/builtin-model.ts";
export {
  type BuiltInSummary,
  SUMMARY_BUDGET_TOKENS,
  type SummariseOptions,
  summarise,
} from "./summary/builtin/summarise.ts";
export { type ContinuationInput, continuationMessage } from "./summary/continuation.ts";
export { formatSummary } from "./summary/format.ts";
export { presentSections, SECTION_NAMES, type SectionName, type SummaryVariant } from "./summary/sections.ts";
export { SUMMARY_SYSTEM_PROMPT, type SummaryPromptOptions, summaryPrompt } from "./summary/summary-prompt.ts";
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
export type { Calibration } from "./tokens/calibration.ts";
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
export type {
  AiSdkUsage,
  AnyUsage,
  OpenAiChatUsage,
  OpenAiResponsesUsage,
  ResponseFacts,
} from "./turn/any-usage.ts";
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
  HostCallbacks,
  ManualOptions,
  Message,
  TranscriptPort,
  Turn,
  UndoOptions,
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

export type { HostState } from "./compaction/restore/host-state.ts";
export { builtInModel } from "./compaction/summary/builtin/builtin-model.ts";
export { createCompactor } from "./engine/create-compactor.ts";
export type { CompactorEvent, FailureReason, SkipReason, Trigger } from "./engine/events.ts";
export type {
  AnyUsage,
  BeforeOptions,
  Caller,
  ChildOptions,
  ClearOptions,
  CommandsOf,
  Compactor,
  CompactorModule,
  CompactorOptions,
  EnginePorts,
  HostCallbacks,
  ManualOptions,
  Message,
  ResponseFacts,
  TranscriptPort,
  Turn,
  UndoOptions,
} from "./engine/options.ts";
export { createHooks, type Hooks } from "./hooks/runner.ts";
export { estimateTokens } from "./measure/tokens/estimate/estimate.ts";
export { findModel } from "./measure/window/models.ts";
export { costOf } from "./measure/window/prices.ts";
export type { Settings } from "./measure/window/settings.ts";
export type { Entry, Usage } from "./messages/entry.ts";
export { LonghaulError, type LonghaulErrorCode } from "./messages/errors.ts";
export type { Ledger } from "./messages/fact-ledger.ts";
export type {
  ApiMessage,
  ContentBlock,
  MessageContent,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
} from "./messages/message.ts";
export { complete } from "./models/complete.ts";
export { failureOf } from "./models/failure-of.ts";
export { ModelError, type ModelFailure } from "./models/model-error.ts";
export type {
  CallOptions,
  Model,
  ModelCapabilities,
  ModelEvent,
  ModelReply,
  ModelRequest,
  ModelUsage,
  ToolDefinition,
} from "./models/port.ts";
export { withRetries } from "./models/retry.ts";
export { apiClearing } from "./modules/api-clearing/api-clearing.ts";
export { cachedEdits } from "./modules/cached-edits/cached-edits.ts";
export { spanCollapse } from "./modules/collapse/collapse.ts";
export { memoryFiles } from "./modules/memory-files/memory-files-module.ts";
export { messageSnip } from "./modules/snip/snip-module.ts";
export { checkRequest } from "./request/check/check.ts";

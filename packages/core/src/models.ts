export { TimeLimitError, untilAborted, withTimeLimit } from "./models/abortable.ts";
export { complete } from "./models/complete.ts";
export { failureOf } from "./models/failure-of.ts";
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
export { type CacheMarkOptions, withCacheMarks } from "./models/prompt-cache-marks.ts";
export { requireModel } from "./models/require-model.ts";
export { type Retry, type RetryOptions, withRetries } from "./models/retry.ts";

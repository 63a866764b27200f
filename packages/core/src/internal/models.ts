export {
  type Abortable,
  abortableBy,
  abortedError,
  isTimeLimit,
  linkedTo,
  TimeBudget,
  throwIfAborted,
  waitWithTimeLimit,
} from "../models/abortable.ts";
export { modelErrorOf } from "../models/ai-sdk-failure.ts";
export { modelErrorFrom } from "../models/anthropic-failure.ts";
export { isInvalidInput, parsedInput, toInputObject } from "../models/call-input.ts";
export { type MapBlock, withBlocks } from "../models/map-blocks.ts";
export { isMissingPackage, loadingProblem } from "../models/missing-package.ts";
export { createModelError, type FailedCall } from "../models/model-error.ts";
export { timedOut, timeLimitsOf } from "../models/model-time-limits.ts";
export type { WindowOf } from "../models/output-limit.ts";
export { estimateRequest, PLAIN_CAPABILITIES } from "../models/plain-model.ts";
export { withoutMarks } from "../models/prompt-cache-marks.ts";
export {
  encodeProviderData,
  type ProviderMemory,
  requiredMetadata,
  unpackMemory,
} from "../models/provider-memory.ts";
export { sanitizeErrorText } from "../models/sanitize-error-text.ts";
export {
  hasThinking,
  ThinkingMemory,
  thinkingRemovalChange,
  withMismatchesDropped,
} from "../models/sent-thinking.ts";

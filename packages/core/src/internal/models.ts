export {
  type Abortable,
  abortableBy,
  abortedError,
  isTimeLimit,
  linkedTo,
  TimeBudget,
  throwIfAborted,
  withinTime,
} from "../models/abortable.ts";
export { modelErrorOf } from "../models/ai-sdk-failure.ts";
export { modelErrorFrom } from "../models/anthropic-failure.ts";
export { callInput, isBrokenInput, parsedInput } from "../models/call-input.ts";
export { fitToShow } from "../models/fit-to-show.ts";
export { type MapBlock, withBlocks } from "../models/map-blocks.ts";
export { isMissingPackage, loadingProblem } from "../models/missing-package.ts";
export { type FailedCall, failedCall } from "../models/model-error.ts";
export { timedOut, timeLimitsOf } from "../models/model-time-limits.ts";
export type { WindowOf } from "../models/output-limit.ts";
export { estimateRequest, PLAIN_CAPABILITIES } from "../models/plain-model.ts";
export { withoutMarks } from "../models/prompt-cache-marks.ts";
export { missedMetadata, type ProviderMemory, packMemory, unpackMemory } from "../models/provider-memory.ts";
export { droppingMismatches, hasThinking, ThinkingMemory, thinkingLeftOut } from "../models/sent-thinking.ts";

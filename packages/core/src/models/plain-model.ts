import { type CountText, ESTIMATORS, measureRequest } from "../measure/tokens/measure.ts";
import { throwIfAborted } from "./abortable.ts";
import type { CallOptions, ModelCapabilities, ModelRequest, TokenCount } from "./port.ts";

/** Capabilities that every model has: it can read text and pictures, and be estimated. */
export const PLAIN_CAPABILITIES: ModelCapabilities = Object.freeze({
  promptCache: false,
  cacheEdits: false,
  contextEdits: false,
  compaction: { onDemand: false, threshold: false },
  boundThinking: false,
  images: true,
  countTokens: "estimate",
});

/** The count of a model whose provider has none. */
export async function estimateRequest(
  request: ModelRequest,
  { signal }: CallOptions = {},
  countText: CountText = ESTIMATORS.o200k,
): Promise<TokenCount> {
  throwIfAborted(signal);
  return { tokens: measureRequest(request, countText), source: "estimate" };
}

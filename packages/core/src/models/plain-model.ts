import { estimateO200k } from "../measure/tokens/estimate/o200k.ts";
import { type CountText, measureRequest } from "../measure/tokens/measure.ts";
import { throwIfAborted } from "./abortable.ts";
import type { CallOptions, ModelCapabilities, ModelRequest, TokenCount } from "./port.ts";

/** Minimum capabilities of any model: it reads text and images, and its tokens can be estimated. */
export const PLAIN_CAPABILITIES: ModelCapabilities = Object.freeze({
  promptCache: false,
  cacheEdits: false,
  contextEdits: false,
  compaction: { onDemand: false, threshold: false },
  boundThinking: false,
  images: true,
  countTokens: "estimate",
});

/** Estimates tokens for a model whose provider cannot count them. */
export async function estimateRequest(
  request: ModelRequest,
  { signal }: CallOptions = {},
  countText: CountText = estimateO200k,
): Promise<TokenCount> {
  throwIfAborted(signal);
  return { tokens: measureRequest(request, countText), source: "estimate" };
}

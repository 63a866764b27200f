import { type CountText, ESTIMATORS, measureRequest } from "../tokens/measure.ts";
import { throwIfAborted } from "./abort.ts";
import type { CallOptions, ModelRequest, TokenCount } from "./port.ts";

/** The count of a model whose provider has none. */
export async function estimateRequest(
  request: ModelRequest,
  { signal }: CallOptions = {},
  countText: CountText = ESTIMATORS.o200k,
): Promise<TokenCount> {
  throwIfAborted(signal);
  return { tokens: measureRequest(request, countText), source: "estimate" };
}

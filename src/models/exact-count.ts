import { ModelError } from "./model-error.ts";
import type { CallOptions, Model, ModelRequest } from "./port.ts";
import { timedOut, withinTime } from "./time-limit.ts";

/** A turn waits meanwhile, and the estimate is there already. */
const EXACT_COUNT_TIMEOUT_MS = 2_000;

export type ExactCount =
  | { readonly outcome: "counted"; readonly tokens: number }
  | { readonly outcome: "failed" | "timed-out" };

/** The provider's own count of a request, or why there is none. Fails only with `aborted`, after an abort. */
export async function exactCount(
  model: Model,
  request: ModelRequest,
  { signal }: CallOptions = {},
  timeoutMs: number = EXACT_COUNT_TIMEOUT_MS,
): Promise<ExactCount> {
  try {
    const { tokens, source } = await withinTime(
      signal,
      timeoutMs,
      async (limited) => model.countTokens(request, { signal: limited }),
      () => timedOut(model.name, "answer", timeoutMs),
    );
    const isCount = source === "exact" && Number.isFinite(tokens) && tokens >= 0;
    return isCount ? { outcome: "counted", tokens } : { outcome: "failed" };
  } catch (error) {
    if (signal?.aborted) throw error;
    const isLate = error instanceof ModelError && error.failure.kind === "timed-out";
    return { outcome: isLate ? "timed-out" : "failed" };
  }
}

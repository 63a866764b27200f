import { isTimeLimit, linkedTo, waitWithTimeLimit } from "./abortable.ts";
import { createModelError, type ModelError, type ModelFailure } from "./model-error.ts";
import type { Model, ModelEvent } from "./port.ts";

/** Time limits for model calls, in milliseconds. */
export interface ModelTimeLimits {
  /** Limit until the first event of each attempt. */
  readonly firstByteMs: number;
  /** Limit for one result, including all fallbacks, retries and the pauses between them. */
  readonly totalMs: number;
}

/**
 * Default limits. A provider that accepts a call sends its first byte within seconds. A long summary takes a
 * few minutes.
 */
export const MODEL_TIME_LIMITS: ModelTimeLimits = Object.freeze({ firstByteMs: 60_000, totalMs: 300_000 });

/** Replaces each limit that is missing or not a positive number with its default. */
export function timeLimitsOf(
  given: { readonly [Limit in keyof ModelTimeLimits]?: unknown } = {},
): ModelTimeLimits {
  const { firstByteMs, totalMs } = given;
  return {
    firstByteMs: isTimeLimit(firstByteMs) ? firstByteMs : MODEL_TIME_LIMITS.firstByteMs,
    totalMs: isTimeLimit(totalMs) ? totalMs : MODEL_TIME_LIMITS.totalMs,
  };
}

/** Wraps a model so that a call fails with `timed-out` if the first event takes longer than `firstByteMs`. */
export function withFirstByteLimit(model: Model, firstByteMs: number): Model {
  return {
    name: model.name,
    capabilities: model.capabilities,
    stream: (request, call = {}) =>
      eventsWithin(model.name, call.signal, firstByteMs, (signal) =>
        model.stream(request, { ...call, signal }),
      ),
    countTokens: (request, call) => model.countTokens(request, call),
  };
}

async function* eventsWithin(
  model: string,
  signal: AbortSignal | undefined,
  firstByteMs: number,
  open: (signal: AbortSignal) => AsyncIterable<ModelEvent>,
): AsyncGenerator<ModelEvent, void, undefined> {
  const { controller, release } = linkedTo(signal);
  let events: AsyncIterator<ModelEvent> | undefined;
  let isOver = false;
  try {
    const opened = open(controller.signal)[Symbol.asyncIterator]();
    events = opened;
    let step = await waitWithTimeLimit(
      signal,
      firstByteMs,
      () => opened.next(),
      () => timedOut(model, "first-byte", firstByteMs),
    );
    while (step.done !== true) {
      yield step.value;
      step = await opened.next();
    }
    isOver = true;
  } finally {
    release();
    // Do not wait: a call that hangs must not delay its caller.
    if (!isOver) {
      controller.abort();
      events?.return?.()?.catch(() => undefined);
    }
  }
}

export function timedOut(
  model: string,
  waitedFor: Extract<ModelFailure, { kind: "timed-out" }>["waitedFor"],
  limitMs: number,
): ModelError {
  const failure: ModelFailure = { kind: "timed-out", limitMs, waitedFor };
  const what = waitedFor === "first-byte" ? "no first byte" : "no complete answer";
  return createModelError(failure, model, { providerMessage: `${what} within ${limitMs / 1_000} seconds` });
}

import { isTimeLimit, linkedTo, withinTime } from "./abortable.ts";
import { failedCall, type ModelError, type ModelFailure } from "./model-error.ts";
import type { Model, ModelEvent } from "./port.ts";

/** Time limits of a caller that waits for a model, in milliseconds. */
export interface ModelTimeLimits {
  /** Until the first event of each attempt. */
  readonly firstByteMs: number;
  /** For all attempts at one result together: every way to it, its retries and the pauses between them. */
  readonly totalMs: number;
}

/** A provider that accepts a call sends its first byte within seconds; a long summary takes a few minutes. */
export const MODEL_TIME_LIMITS: ModelTimeLimits = Object.freeze({ firstByteMs: 60_000, totalMs: 300_000 });

/** Complete: a limit that is missing or not a positive number has its default. */
export function timeLimitsOf(
  given: { readonly [Limit in keyof ModelTimeLimits]?: unknown } = {},
): ModelTimeLimits {
  const { firstByteMs, totalMs } = given;
  return {
    firstByteMs: isTimeLimit(firstByteMs) ? firstByteMs : MODEL_TIME_LIMITS.firstByteMs,
    totalMs: isTimeLimit(totalMs) ? totalMs : MODEL_TIME_LIMITS.totalMs,
  };
}

/** The same model, whose calls fail with `timed-out` when the first event takes longer than this. */
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
    let step = await withinTime(
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
    // Not waited for: a call that hangs must not hold up its caller.
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
  return failedCall(failure, model, { said: `${what} within ${limitMs / 1_000} seconds` });
}

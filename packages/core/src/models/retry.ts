import { abortedError, throwIfAborted } from "./abortable.ts";
import { ModelError } from "./model-error.ts";
import type { CallOptions, Model, ModelEvent } from "./port.ts";

export interface RetryOptions {
  /** How often a call is tried again; 2 unless given. */
  readonly retries?: number;
  /**
   * Also tries again when the answer breaks off after it began: for callers who keep only whole replies. A
   * second `start` tells that what came before it is void.
   */
  readonly restarts?: boolean;
  /** Told before each wait. */
  readonly onRetry?: (retry: Retry) => void;
  /** From 0 to below 1: spreads callers that failed together. */
  readonly random?: () => number;
  /** Waits, or rejects as soon as the signal fires. */
  readonly wait?: (delayMs: number, signal: AbortSignal | undefined) => Promise<void>;
}

export interface Retry {
  /** 1 for the first. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: ModelError;
}

/** As most clients of hosted models have it: a passing fault is over by then, a lasting one is reported soon. */
const DEFAULT_RETRIES = 2;
const FIRST_DELAY_MS = 500;
const LONGEST_BACKOFF_MS = 8_000;
/** Up to this share of the delay is taken off at random. */
const JITTER_SHARE = 0.25;
/** A provider that asks for a longer wait is not waited for: the caller should know, and decide. */
const LONGEST_REQUESTED_DELAY_MS = 120_000;

/**
 * The same model, whose calls are tried again where that helps and, unless `restarts` is set, as long as
 * nothing of the answer has been handed out: what the caller has shown to somebody cannot begin anew.
 */
export function withRetries(model: Model, options: RetryOptions = {}): Model {
  return {
    name: model.name,
    capabilities: model.capabilities,
    stream: (request, call = {}) => streamWithRetries(() => model.stream(request, call), call, options),
    countTokens: async (request, call = {}) => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await model.countTokens(request, call);
        } catch (error) {
          await pauseOrThrow(error, attempt, call, options);
        }
      }
    },
  };
}

async function* streamWithRetries(
  start: () => AsyncIterable<ModelEvent>,
  call: CallOptions,
  options: RetryOptions,
): AsyncGenerator<ModelEvent, void, undefined> {
  for (let attempt = 1; ; attempt += 1) {
    let hasSpoken = false;
    try {
      for await (const event of start()) {
        // A sign of life is no part of the answer.
        hasSpoken ||= event.type !== "keep-alive";
        yield event;
      }
      return;
    } catch (error) {
      if (hasSpoken && options.restarts !== true) throw error;
      await pauseOrThrow(error, attempt, call, options);
    }
  }
}

async function pauseOrThrow(
  error: unknown,
  attempt: number,
  { signal }: CallOptions,
  { retries = DEFAULT_RETRIES, onRetry, random = Math.random, wait = waitFor }: RetryOptions,
): Promise<void> {
  if (!(error instanceof ModelError) || !error.retryHelps || attempt > retries) throw error;
  const delayMs = requestedDelay(error) ?? backoffMs(attempt, random());
  if (delayMs > LONGEST_REQUESTED_DELAY_MS) throw error;
  throwIfAborted(signal);
  onRetry?.({ attempt, delayMs, error });
  await wait(delayMs, signal);
  throwIfAborted(signal);
}

function requestedDelay({ failure }: ModelError): number | undefined {
  return failure.kind === "overloaded" || failure.kind === "rate-limited" ? failure.delayMs : undefined;
}

/** Twice as long each time. */
function backoffMs(attempt: number, random: number): number {
  const delay = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), LONGEST_BACKOFF_MS);
  return Math.round(delay * (1 - JITTER_SHARE * random));
}

function waitFor(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(abortedError());
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, delayMs);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}

const MS_PER_SECOND = 1_000;

/** How long the server asks to wait, in milliseconds: by the exact header first, then by the standard one. */
export function headerDelayMs(header: (name: string) => string | undefined): number | undefined {
  const exact = amount(header("retry-after-ms"));
  if (exact !== undefined) return exact;
  const after = header("retry-after");
  const seconds = amount(after);
  if (seconds !== undefined) return seconds * MS_PER_SECOND;
  // A date is read against the server's own clock, so that ours need not be right.
  const delay = Date.parse(after ?? "") - Date.parse(header("date") ?? "");
  return delay >= 0 ? delay : undefined;
}

function amount(text: string | undefined): number | undefined {
  const value = text === undefined || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}

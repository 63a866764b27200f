import { abortedError, throwIfAborted } from "./abortable.ts";
import { ModelError } from "./model-error.ts";
import type { CallOptions, Model, ModelEvent } from "./port.ts";

export interface RetryOptions {
  /** Maximum number of retries, 2 by default. */
  readonly retries?: number;
  /**
   * Also retries when the answer breaks off after it started. This is for callers that use only whole
   * replies. After a second `start` event, the caller must discard everything before it.
   */
  readonly restarts?: boolean;
  /** Called before each wait. */
  readonly onRetry?: (retry: Retry) => void;
  /**
   * Returns a random number from 0 to below 1. It makes callers that failed together retry at different
   * times.
   */
  readonly random?: () => number;
  /** Waits. Rejects as soon as the signal fires. */
  readonly wait?: (delayMs: number, signal: AbortSignal | undefined) => Promise<void>;
}

export interface Retry {
  /** 1 for the first retry. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: ModelError;
}

/**
 * Number of retries that clients of hosted models commonly use. Most temporary failures have passed after two
 * retries, and a lasting failure is reported soon.
 */
const DEFAULT_RETRIES = 2;
const FIRST_DELAY_MS = 500;
const MAX_BACKOFF_MS = 8_000;
/** Largest share of the delay that is subtracted at random. */
const JITTER_SHARE = 0.25;
/**
 * Longest wait that a provider may ask for. If a provider asks for a longer wait, the call fails, so that the
 * caller can decide.
 */
const MAX_REQUESTED_DELAY_MS = 120_000;

/**
 * Wraps a model so that its calls are retried if a retry can help. Without `restarts`, a call is not retried
 * once part of the answer has been yielded, because the caller may have shown it already.
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
        // A keep-alive is not part of the answer.
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
  if (delayMs > MAX_REQUESTED_DELAY_MS) throw error;
  throwIfAborted(signal);
  onRetry?.({ attempt, delayMs, error });
  await wait(delayMs, signal);
  throwIfAborted(signal);
}

function requestedDelay({ failure }: ModelError): number | undefined {
  return failure.kind === "overloaded" || failure.kind === "rate-limited" ? failure.delayMs : undefined;
}

/** Doubles the delay for each retry. */
function backoffMs(attempt: number, random: number): number {
  const delay = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_BACKOFF_MS);
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

/**
 * Returns the delay that the server requests, in milliseconds. The header with milliseconds takes precedence
 * over the standard one.
 */
export function headerDelayMs(header: (name: string) => string | undefined): number | undefined {
  const exact = amount(header("retry-after-ms"));
  if (exact !== undefined) return exact;
  const after = header("retry-after");
  const seconds = amount(after);
  if (seconds !== undefined) return seconds * MS_PER_SECOND;
  // The date is compared with the server's own clock, so our clock need not be right.
  const delay = Date.parse(after ?? "") - Date.parse(header("date") ?? "");
  return delay >= 0 ? delay : undefined;
}

function amount(text: string | undefined): number | undefined {
  const value = text === undefined || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}

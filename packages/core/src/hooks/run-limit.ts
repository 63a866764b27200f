import { abortableBy, isTimeLimit } from "../models/abortable.ts";
import type { HookInput, HookRun, HookRunner } from "./hook.ts";
import { outcomeText } from "./shown-text.ts";

/** A person waits meanwhile; a hook that needs longer says so with `timeout`. */
export const DEFAULT_TIMEOUT_MS = 30_000;
/** Processes are ended within a second or two; a host's own way of running them must not hold us up longer. */
export const CLEAN_UP_MS = 3_000;
/** The longest that a timer can wait. */
export const LONGEST_MS: number = 2 ** 31 - 1;
/** A host's own runner does not say which hook took so long. */
const RUNNER_NAME = "hooks";

/**
 * The same runner, but nobody waits longer than its `timeoutMs`. A run that takes longer ends like a hook that timed out:
 * its signal fires, and the compaction continues without it.
 */
export function withRunLimit(runner: HookRunner): HookRunner {
  const timeoutMs = Math.min(
    LONGEST_MS,
    isTimeLimit(runner.timeoutMs) ? runner.timeoutMs : DEFAULT_TIMEOUT_MS,
  );
  return {
    timeoutMs,
    run: (input, options = {}) =>
      withStops(options.signal, async (stops, stopAll) => {
        const running = runLimited(async (own) => runner.run(input, { ...options, signal: own }), {
          timeoutMs,
          stops,
          cleanUpMs: 0,
          goesOn: () => false,
        });
        if (options.signal?.aborted) stopAll();
        const end = await running;
        return end.state === "done" ? end.value : endedRun(end.state, input, timeoutMs);
      }),
  };
}

/** Lets any number of hooks end with one signal: it would warn of a leak if each of them listened to it. */
export async function withStops<T>(
  signal: AbortSignal | undefined,
  work: (stops: Set<() => void>, stopAll: () => void) => Promise<T>,
): Promise<T> {
  const stops = new Set<() => void>();
  const stopAll = (): void => {
    for (const stop of [...stops]) stop();
  };
  signal?.addEventListener("abort", stopAll, { once: true });
  try {
    return await work(stops, stopAll);
  } finally {
    signal?.removeEventListener("abort", stopAll);
  }
}

function endedRun(state: "timed-out" | "aborted", input: HookInput, timeoutMs: number): HookRun {
  const event = input.hook_event_name;
  const text = outcomeText(event, RUNNER_NAME, state, wordsFor(state, timeoutMs));
  const durationMs = state === "timed-out" ? timeoutMs : 0;
  return { outcomes: [{ event, name: RUNNER_NAME, kind: "function", state, text, durationMs }], output: "" };
}

/** Words for the person at the screen about work that did not come to its end. */
export function wordsFor(state: "timed-out" | "aborted", timeoutMs: number): string {
  return state === "aborted" ? "aborted" : `it did not end within ${timeoutMs / 1_000} seconds`;
}

interface Limits<T> {
  readonly timeoutMs: number;
  /** Called when everything is to end, see {@link withStops}. */
  readonly stops: Set<() => void>;
  /** How long it may take to clean up after the end was called for; 0 does not wait for it. */
  readonly cleanUpMs: number;
  /** Its limit stays in force although nobody waits for it any longer. */
  readonly goesOn: (value: T) => boolean;
}

export type Limited<T> =
  | { readonly state: "done"; readonly value: T }
  | { readonly state: "timed-out" }
  | { readonly state: "aborted" };

/** Waits for work until its time is over or it is stopped, whether it heeds its signal or not. */
export async function runLimited<T>(
  work: (signal: AbortSignal) => Promise<T>,
  limits: Limits<T>,
): Promise<Limited<T>> {
  const controller = new AbortController();
  let why: "timed-out" | "aborted" | undefined;
  const stop = (reason: "timed-out" | "aborted"): void => {
    why ??= reason;
    controller.abort();
  };
  const abort = (): void => stop("aborted");
  limits.stops.add(abort);
  const timer = setTimeout(stop, limits.timeoutMs, "timed-out");
  const abortable = abortableBy(controller.signal);
  const running = work(controller.signal);
  let goesOn = false;
  try {
    const value = await abortable.wait(running);
    goesOn = limits.goesOn(value);
    return { state: "done", value };
  } catch (error) {
    if (why === undefined) throw error;
    if (limits.cleanUpMs > 0) await settledWithin(running, limits.cleanUpMs);
    return { state: why };
  } finally {
    // A hook that goes on alone is still ended in time, but keeps nobody waiting.
    if (goesOn) letProcessEnd(timer);
    else clearTimeout(timer);
    limits.stops.delete(abort);
    abortable.release();
  }
}

/** A timer is a number outside Node, where no process waits for it. */
function letProcessEnd(timer: ReturnType<typeof setTimeout>): void {
  (timer as { readonly unref?: () => void }).unref?.();
}

function settledWithin(work: Promise<unknown>, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    const settle = (): void => {
      clearTimeout(timer);
      resolve();
    };
    work.then(settle, settle);
  });
}

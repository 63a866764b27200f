import { abortableBy, isTimeLimit } from "../models/abortable.ts";
import { outcomeText } from "./display-text.ts";
import type { HookInput, HookRun, HookRunner } from "./hook.ts";

/**
 * Default time limit of a hook. It is short, because a person is waiting. A slower hook can set `timeout`.
 */
export const DEFAULT_TIMEOUT_MS = 30_000;
/** Time that a host's command runner has to end its processes. They usually end within two seconds. */
export const CLEANUP_TIMEOUT_MS = 3_000;
/** The longest delay that a timer supports. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;
/** Hook name in the outcome if a host's runner times out. The runner does not say which hook was slow. */
const RUNNER_NAME = "hooks";

/**
 * Limits each run to the runner's `timeoutMs`. A longer run counts as a hook that timed out: its signal is
 * aborted, and the compaction continues without it.
 */
export function withRunLimit(runner: HookRunner): HookRunner {
  const timeoutMs = Math.min(
    MAX_TIMER_MS,
    isTimeLimit(runner.timeoutMs) ? runner.timeoutMs : DEFAULT_TIMEOUT_MS,
  );
  return {
    timeoutMs,
    run: (input, options = {}) =>
      withSharedStop(options.signal, async (stops, stopAll) => {
        const running = runLimited(async (own) => runner.run(input, { ...options, signal: own }), {
          timeoutMs,
          stops,
          cleanupTimeoutMs: 0,
          runsInBackground: () => false,
        });
        if (options.signal?.aborted) stopAll();
        const end = await running;
        return end.state === "done" ? end.value : createEndedRun(end.state, input, timeoutMs);
      }),
  };
}

/**
 * Stops any number of hooks with one abort listener. Node would warn of a leak if each hook added its own
 * listener.
 */
export async function withSharedStop<T>(
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

function createEndedRun(state: "timed-out" | "aborted", input: HookInput, timeoutMs: number): HookRun {
  const event = input.hook_event_name;
  const text = outcomeText(event, RUNNER_NAME, state, describeEnd(state, timeoutMs));
  const durationMs = state === "timed-out" ? timeoutMs : 0;
  return { outcomes: [{ event, name: RUNNER_NAME, kind: "function", state, text, durationMs }], output: "" };
}

/** Explains to the user why a hook did not finish. */
export function describeEnd(state: "timed-out" | "aborted", timeoutMs: number): string {
  return state === "aborted" ? "aborted" : `timed out after ${timeoutMs / 1_000} seconds`;
}

interface Limits<T> {
  readonly timeoutMs: number;
  /** Callbacks that stop the work, see {@link withSharedStop}. */
  readonly stops: Set<() => void>;
  /** Maximum time to wait for the cleanup after an abort. 0 means no wait. */
  readonly cleanupTimeoutMs: number;
  /** True if the work still runs in the background, so that its time limit must stay active. */
  readonly runsInBackground: (value: T) => boolean;
}

export type Limited<T> =
  | { readonly state: "done"; readonly value: T }
  | { readonly state: "timed-out" }
  | { readonly state: "aborted" };

/**
 * Waits for work until it ends, times out or is stopped. Work that ignores its signal does not delay the
 * result.
 */
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
  let isInBackground = false;
  try {
    const value = await abortable.wait(running);
    isInBackground = limits.runsInBackground(value);
    return { state: "done", value };
  } catch (error) {
    if (why === undefined) throw error;
    if (limits.cleanupTimeoutMs > 0) await waitUntilSettled(running, limits.cleanupTimeoutMs);
    return { state: why };
  } finally {
    // The time limit still ends a background hook, but its timer does not keep the process alive.
    if (isInBackground) allowProcessExit(timer);
    else clearTimeout(timer);
    limits.stops.delete(abort);
    abortable.release();
  }
}

/** Lets Node exit before the timer fires. Outside Node a timer is a number and keeps no process alive. */
function allowProcessExit(timer: ReturnType<typeof setTimeout>): void {
  (timer as { readonly unref?: () => void }).unref?.();
}

function waitUntilSettled(work: Promise<unknown>, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    const settle = (): void => {
      clearTimeout(timer);
      resolve();
    };
    work.then(settle, settle);
  });
}

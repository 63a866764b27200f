import { abortableBy } from "../models/abortable.ts";

export interface Limits<T> {
  readonly timeoutMs: number;
  /** Called when everything is to end. A signal warns of a leak when each of many hooks listens to it. */
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
    // What goes on alone is still ended in time, but keeps nobody waiting.
    if (goesOn) timer.unref();
    else clearTimeout(timer);
    limits.stops.delete(abort);
    abortable.release();
  }
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

import { abortableBy, isTimeLimit } from "../models/abortable.ts";
import type { Model } from "../models/port.ts";
import { type Handler, type Handlers, type HookAgent, type HookCallbacks, readHandlers } from "./handlers.ts";
import {
  HOOK_EVENTS,
  type HookInput,
  type HookOutcome,
  type HookRun,
  type HookRunner,
  type RunCommand,
} from "./hook.ts";
import { failed, type Verdict } from "./hook-answer.ts";
import { isMatch } from "./hook-settings.ts";
import { outcomeText, shownName } from "./shown-text.ts";

export interface HooksOptions {
  /**
   * The parsed settings file, or several of them in a list. Only the user's own: whoever writes this file
   * runs programs as the user.
   */
  readonly settings?: unknown;
  readonly callbacks?: HookCallbacks | undefined;
  /** Asked by hooks of kind `prompt`. */
  readonly model?: Model | undefined;
  /** Asked by hooks of kind `agent`. */
  readonly agent?: HookAgent | undefined;
  /** Runs hooks of kind `command`; on node, `runCommand` of `longhaul/node`. */
  readonly runCommand?: RunCommand | undefined;
  readonly now?: (() => number) | undefined;
}

export interface Hooks extends HookRunner {
  /** Parts of the settings that cannot be used, one sentence each. */
  readonly warnings: readonly string[];
}

/** A person waits meanwhile; a hook that needs longer says so with `timeout`. */
const DEFAULT_TIMEOUT_MS = 30_000;
/** Processes are ended within a second or two; a host's own way of running them must not hold us up longer. */
const CLEAN_UP_MS = 3_000;
/** The longest that a timer can wait. */
const LONGEST_MS = 2 ** 31 - 1;
/** A host's own runner does not say which hook took so long. */
const RUNNER_NAME = "hooks";

export function createHooks(options: HooksOptions = {}): Hooks {
  const warnings = new Set<string>();
  const { settings, callbacks, now = Date.now } = options;
  const files: readonly unknown[] = Array.isArray(settings) ? settings : [settings];
  const handlers = readHandlers(
    { files, callbacks, means: options },
    (warning) => void warnings.add(warning),
  );
  return {
    warnings: [...warnings],
    timeoutMs: longestRunMs(handlers),
    run: (input, { signal, onStart } = {}) =>
      withStops(signal, async (stops) => {
        const hooks = matching(handlers, input);
        if (hooks.length > 0) onStart?.(hooks.length);
        return gather(await Promise.all(hooks.map((hook) => runHook(hook, input, { stops, signal, now }))));
      }),
  };
}

/** Each hook has its own limit. A run is over when the slowest hook has been ended and cleaned up. */
function longestRunMs(handlers: Handlers): number {
  const limits = HOOK_EVENTS.flatMap((event) =>
    handlers[event].map(({ timeoutMs = DEFAULT_TIMEOUT_MS }) => timeoutMs),
  );
  return Math.min(LONGEST_MS, Math.max(DEFAULT_TIMEOUT_MS, ...limits) + 2 * CLEAN_UP_MS);
}

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
async function withStops<T>(
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
  const { said } = endOf({ state }, input, timeoutMs);
  const text = outcomeText(event, RUNNER_NAME, state, said);
  const durationMs = state === "timed-out" ? timeoutMs : 0;
  return { outcomes: [{ event, name: RUNNER_NAME, kind: "function", state, text, durationMs }], output: "" };
}

function matching(handlers: Handlers, input: HookInput): readonly Handler[] {
  const occasion = input.hook_event_name === "SessionStart" ? input.source : input.trigger;
  const once = new Map<unknown, Handler>();
  const event = HOOK_EVENTS.find((name) => name === input.hook_event_name);
  for (const handler of event ? handlers[event] : []) {
    if (isMatch(handler.matcher, occasion) && !once.has(handler.identity))
      once.set(handler.identity, handler);
  }
  return [...once.values()];
}

interface RunContext {
  readonly stops: Set<() => void>;
  readonly signal: AbortSignal | undefined;
  readonly now: () => number;
}

interface Ended {
  readonly outcome: HookOutcome;
  readonly output: string;
  readonly reason: string;
}

async function runHook(
  handler: Handler,
  input: HookInput,
  { stops, signal, now }: RunContext,
): Promise<Ended> {
  const startedAt = now();
  const timeoutMs = handler.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const end = await waitFor(handler, input, timeoutMs, stops, signal);
  const { state, output, said } = endOf(end, input, timeoutMs);
  const name = shownName(handler.name);
  const event = input.hook_event_name;
  const text = outcomeText(event, name, state, said);
  // A clock that was set back in between.
  const durationMs = Math.max(0, now() - startedAt);
  return { outcome: { event, name, kind: handler.kind, state, text, durationMs }, output, reason: said };
}

async function waitFor(
  handler: Handler,
  input: HookInput,
  timeoutMs: number,
  stops: Set<() => void>,
  signal: AbortSignal | undefined,
): Promise<Limited<Verdict>> {
  if (signal?.aborted) return { state: "aborted" };
  try {
    return await runLimited((own) => handler.run(input, own), {
      timeoutMs,
      stops,
      cleanUpMs: handler.kind === "command" ? CLEAN_UP_MS : 0,
      goesOn: (verdict) => verdict.state === "completed" && verdict.goesOn === true,
    });
  } catch (error) {
    return { state: "done", value: failed(reasonOf(error)) };
  }
}

/** Anything can be thrown, also what cannot be made a text. */
function reasonOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return "it threw something that is no error";
  }
}

interface End {
  readonly state: HookOutcome["state"];
  readonly output: string;
  readonly said: string;
}

function endOf(end: Limited<Verdict>, input: HookInput, timeoutMs: number): End {
  if (end.state === "aborted") return { state: "aborted", output: "", said: "aborted" };
  if (end.state === "timed-out") {
    return { state: "timed-out", output: "", said: `it did not end within ${timeoutMs / 1_000} seconds` };
  }
  const verdict = end.value;
  if (verdict.state === "completed")
    return { state: "completed", output: verdict.output, said: verdict.shown };
  const isGranted = verdict.state === "blocked" && input.hook_event_name === "PreCompact";
  return { state: isGranted ? "blocked" : "failed", output: "", said: verdict.reason };
}

function gather(ended: readonly Ended[]): HookRun {
  const blocking = ended.find(({ outcome }) => outcome.state === "blocked");
  return {
    outcomes: ended.map(({ outcome }) => outcome),
    output: ended.flatMap(({ output }) => (output === "" ? [] : [output])).join("\n\n"),
    ...(blocking && { blocked: { by: blocking.outcome.name, reason: blocking.reason } }),
  };
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

type Limited<T> =
  | { readonly state: "done"; readonly value: T }
  | { readonly state: "timed-out" }
  | { readonly state: "aborted" };

/** Waits for work until its time is over or it is stopped, whether it heeds its signal or not. */
async function runLimited<T>(
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

import type { Model } from "../models/port.ts";
import { displayName, outcomeText } from "./display-text.ts";
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
import {
  CLEANUP_TIMEOUT_MS,
  DEFAULT_TIMEOUT_MS,
  describeEnd,
  type Limited,
  MAX_TIMER_MS,
  runLimited,
  withSharedStop,
} from "./run-limit.ts";

export interface HooksOptions {
  /**
   * The parsed settings file, or a list of parsed settings files. Pass only files that the user controls,
   * because their author can run programs as the user.
   */
  readonly settings?: unknown;
  readonly callbacks?: HookCallbacks | undefined;
  /** Answers hooks of type `prompt`. */
  readonly model?: Model | undefined;
  /** Answers hooks of type `agent`. */
  readonly agent?: HookAgent | undefined;
  /** Runs hooks of type `command`. On Node, use `runCommand` of `@longhaul/sessions`. */
  readonly runCommand?: RunCommand | undefined;
  readonly now?: (() => number) | undefined;
}

export interface Hooks extends HookRunner {
  /** One sentence for each setting that cannot be used. */
  readonly warnings: readonly string[];
}

export function createHooks(options: HooksOptions = {}): Hooks {
  const warnings = new Set<string>();
  const { settings, callbacks, now = Date.now } = options;
  const files: readonly unknown[] = Array.isArray(settings) ? settings : [settings];
  const handlers = readHandlers(
    { files, callbacks, executors: options },
    (warning) => void warnings.add(warning),
  );
  return {
    warnings: [...warnings],
    timeoutMs: maxRunMs(handlers),
    run: (input, { signal, onStart } = {}) =>
      withSharedStop(signal, async (stops) => {
        const hooks = findMatchingHandlers(handlers, input);
        if (hooks.length > 0) onStart?.(hooks.length);
        return combineOutcomes(
          await Promise.all(hooks.map((hook) => runHook(hook, input, { stops, signal, now }))),
        );
      }),
  };
}

/**
 * Returns the longest time that a run can take: the largest timeout of all hooks plus the time for the
 * cleanup.
 */
function maxRunMs(handlers: Handlers): number {
  const limits = HOOK_EVENTS.flatMap((event) =>
    handlers[event].map(({ timeoutMs = DEFAULT_TIMEOUT_MS }) => timeoutMs),
  );
  return Math.min(MAX_TIMER_MS, Math.max(DEFAULT_TIMEOUT_MS, ...limits) + 2 * CLEANUP_TIMEOUT_MS);
}

function findMatchingHandlers(handlers: Handlers, input: HookInput): readonly Handler[] {
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

interface FinishedHook {
  readonly outcome: HookOutcome;
  readonly output: string;
  readonly reason: string;
}

async function runHook(
  handler: Handler,
  input: HookInput,
  { stops, signal, now }: RunContext,
): Promise<FinishedHook> {
  const startedAt = now();
  const timeoutMs = handler.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const end = await waitFor(handler, input, timeoutMs, stops, signal);
  const { state, output, text: said } = endOf(end, input, timeoutMs);
  const name = displayName(handler.name);
  const event = input.hook_event_name;
  const text = outcomeText(event, name, state, said);
  // The clock may have been set back meanwhile.
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
      cleanupTimeoutMs: handler.kind === "command" ? CLEANUP_TIMEOUT_MS : 0,
      runsInBackground: (verdict) => verdict.state === "completed" && verdict.runsInBackground === true,
    });
  } catch (error) {
    return { state: "done", value: failed(reasonOf(error)) };
  }
}

/** Describes any thrown value, even one that cannot be converted to a string. */
function reasonOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return "it threw a value that cannot be converted to text";
  }
}

interface HookEnd {
  readonly state: HookOutcome["state"];
  readonly output: string;
  readonly text: string;
}

function endOf(end: Limited<Verdict>, input: HookInput, timeoutMs: number): HookEnd {
  if (end.state !== "done") return { state: end.state, output: "", text: describeEnd(end.state, timeoutMs) };
  const verdict = end.value;
  if (verdict.state === "completed")
    return { state: "completed", output: verdict.output, text: verdict.shown };
  const isGranted = verdict.state === "blocked" && input.hook_event_name === "PreCompact";
  return { state: isGranted ? "blocked" : "failed", output: "", text: verdict.reason };
}

function combineOutcomes(ended: readonly FinishedHook[]): HookRun {
  const blocking = ended.find(({ outcome }) => outcome.state === "blocked");
  return {
    outcomes: ended.map(({ outcome }) => outcome),
    output: ended.flatMap(({ output }) => (output === "" ? [] : [output])).join("\n\n"),
    ...(blocking && { blocked: { by: blocking.outcome.name, reason: blocking.reason } }),
  };
}

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
import {
  CLEAN_UP_MS,
  DEFAULT_TIMEOUT_MS,
  type Limited,
  LONGEST_MS,
  runLimited,
  withStops,
  wordsFor,
} from "./run-limit.ts";
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
  /** Runs hooks of kind `command`; on node, `runCommand` of `@longhaul/sessions`. */
  readonly runCommand?: RunCommand | undefined;
  readonly now?: (() => number) | undefined;
}

export interface Hooks extends HookRunner {
  /** Parts of the settings that cannot be used, one sentence each. */
  readonly warnings: readonly string[];
}

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
  if (end.state !== "done") return { state: end.state, output: "", said: wordsFor(end.state, timeoutMs) };
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

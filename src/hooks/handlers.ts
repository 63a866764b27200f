import type { Model } from "../models/port.ts";
import {
  announcesAsync,
  answerOfCommand,
  answerOfFunction,
  answerOfModel,
  failed,
  SAID_NOTHING,
  type Verdict,
} from "./answer.ts";
import { askModel, hookInstructions, promptText } from "./ask.ts";
import { type HookCallbacks, type InProcessHook, readCallbacks } from "./callbacks.ts";
import type { RunCommand } from "./command-port.ts";
import type { HookEvent, HookInput, HookOutcome } from "./hook.ts";
import type { Matcher } from "./matcher.ts";
import {
  type CommandHook,
  HOOK_EVENTS,
  type HookDefinition,
  type ModelHook,
  readHookSettings,
} from "./settings.ts";

/** An agent with tools, supplied by the host: it works on the prompt and gives back its last words. */
export type HookAgent = (prompt: string, options: { readonly signal: AbortSignal }) => Promise<string>;

/** What hooks are run with. */
export interface HookMeans {
  readonly model?: Model | undefined;
  readonly agent?: HookAgent | undefined;
  readonly runCommand?: RunCommand | undefined;
}

export interface HandlerAnswer {
  readonly verdict: Verdict;
  /** It was let go before its end. */
  readonly goesOn?: true;
}

/** A hook of any kind, ready to run. */
export interface Handler {
  readonly kind: HookOutcome["kind"];
  readonly name: string;
  readonly matcher: Matcher;
  /** Two of the same identity are the same hook, from two files. */
  readonly identity: unknown;
  readonly timeoutMs: number | undefined;
  run(input: HookInput, signal: AbortSignal): Promise<HandlerAnswer>;
}

export type Handlers = Readonly<Record<HookEvent, readonly Handler[]>>;

export interface HandlerSources {
  /** Parsed settings files, in order. */
  readonly files: readonly unknown[];
  readonly callbacks: HookCallbacks | undefined;
  readonly means: HookMeans;
}

/** Those of the files first, in their order, then the host's own. */
export function readHandlers(sources: HandlerSources, warn: (warning: string) => void): Handlers {
  const handlers: Record<HookEvent, Handler[]> = { PreCompact: [], PostCompact: [], SessionStart: [] };
  for (const file of sources.files) {
    const { hooks, warnings } = readHookSettings(file);
    warnings.forEach(warn);
    for (const event of HOOK_EVENTS) {
      for (const group of hooks[event]) {
        for (const hook of group.hooks) handlers[event].push(configured(hook, group.matcher, sources.means));
      }
    }
  }
  for (const event of HOOK_EVENTS) {
    for (const hook of readCallbacks(event, sources.callbacks?.[event], warn))
      handlers[event].push(inProcess(hook));
  }
  return handlers;
}

function configured(hook: HookDefinition, matcher: Matcher, means: HookMeans): Handler {
  const { type: kind, timeoutMs } = hook;
  return hook.type === "command"
    ? {
        kind,
        name: hook.command,
        matcher,
        identity: JSON.stringify([kind, hook.command, hook.shell]),
        timeoutMs,
        run: (input, signal) => runShellHook(hook, means, input, signal),
      }
    : {
        kind,
        name: hook.prompt,
        matcher,
        identity: JSON.stringify([kind, hook.prompt]),
        timeoutMs,
        run: (input, signal) => runModelHook(hook, means, input, signal),
      };
}

function inProcess({ call, ...hook }: InProcessHook): Handler {
  return {
    ...hook,
    // A copy each, so that no hook can change what another one reads.
    run: async (input, signal) => ({
      verdict: answerOfFunction(await call({ ...input }, { signal }), input.hook_event_name),
    }),
  };
}

async function runShellHook(
  hook: CommandHook,
  { runCommand }: HookMeans,
  input: HookInput,
  signal: AbortSignal,
): Promise<HandlerAnswer> {
  if (runCommand === undefined) return { verdict: failed("this host runs no commands") };
  const result = await runCommand({
    command: hook.command,
    shell: hook.shell,
    input: `${JSON.stringify(input)}\n`,
    cwd: input.cwd,
    environment: { CLAUDE_PROJECT_DIR: input.cwd, LONGHAUL_PROJECT_DIR: input.cwd },
    signal,
    goesOnAlone: (firstLine) => hook.isAsync || announcesAsync(firstLine),
  });
  switch (result.state) {
    case "exited":
      return { verdict: answerOfCommand(result, input.hook_event_name) };
    case "goes-on-alone":
      return { verdict: { ...SAID_NOTHING, shown: "it goes on in the background" }, goesOn: true };
    case "ended":
      return { verdict: failed("it was ended") };
    case "not-started":
      return { verdict: failed(result.reason) };
  }
}

async function runModelHook(
  hook: ModelHook,
  { model, agent }: HookMeans,
  input: HookInput,
  signal: AbortSignal,
): Promise<HandlerAnswer> {
  const event = input.hook_event_name;
  if (hook.type === "prompt") {
    if (model === undefined) return { verdict: failed("there is no model to ask") };
    return { verdict: answerOfModel(await askModel(model, hook.prompt, input, signal), event) };
  }
  if (agent === undefined) return { verdict: failed("this host has no agent for hooks") };
  const prompt = `${hookInstructions(event)}\n\n${promptText(hook.prompt, input)}`;
  const answer: unknown = await agent(prompt, { signal });
  return { verdict: answerOfModel(typeof answer === "string" ? answer : "", event) };
}

import { field, isRecord, type JsonRecord, stringField } from "../conversation/untrusted.ts";
import type { HookEvent } from "./hook.ts";
import { type Matcher, readMatcher } from "./matcher.ts";
import { shownName } from "./words.ts";

/** One hook as a settings file tells of it. */
export type HookDefinition = CommandHook | ModelHook;

export interface CommandHook {
  readonly type: "command";
  readonly command: string;
  readonly shell: string | undefined;
  /** Nobody waits for it and nobody reads what it prints. */
  readonly isAsync: boolean;
  readonly timeoutMs: number | undefined;
}

/** Asks a model, or an agent with tools. */
export interface ModelHook {
  readonly type: "prompt" | "agent";
  readonly prompt: string;
  readonly timeoutMs: number | undefined;
}

export interface HookGroup {
  readonly matcher: Matcher;
  readonly hooks: readonly HookDefinition[];
}

export type HookSettings = Readonly<Record<HookEvent, readonly HookGroup[]>>;

export interface ReadHookSettings {
  readonly hooks: HookSettings;
  /** One sentence for each thing that was ignored; the same thing is named once. */
  readonly warnings: readonly string[];
}

export const HOOK_EVENTS: readonly HookEvent[] = ["PreCompact", "PostCompact", "SessionStart"];

/** Longer waits overflow the timer, which then fires at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** Those of Claude Code; any other word could be any program. */
const SHELLS: readonly string[] = ["bash", "powershell"];

type Warn = (warning: string) => void;

/**
 * The hooks in a parsed settings file, in the shape of Claude Code's. Not trusted: what has another shape is
 * ignored and named in a warning.
 */
export function readHookSettings(file: unknown): ReadHookSettings {
  const warnings = new Set<string>();
  const warn: Warn = (warning) => void warnings.add(warning);
  const hooks: Record<HookEvent, readonly HookGroup[]> = {
    PreCompact: [],
    PostCompact: [],
    SessionStart: [],
  };
  for (const [event, groups] of Object.entries(hooksOf(file, warn))) {
    const known = HOOK_EVENTS.find((name) => name === event);
    if (known) hooks[known] = readGroups(known, groups, warn);
    else warn(`Hooks for ${shownName(event)} are ignored: there are only ${HOOK_EVENTS.join(", ")} here.`);
  }
  return { hooks, warnings: [...warnings] };
}

function hooksOf(file: unknown, warn: Warn): JsonRecord {
  if (file === undefined || file === null || field(file, "disableAllHooks") === true) return {};
  const hooks = isRecord(file) ? (file.hooks ?? {}) : undefined;
  if (isRecord(hooks)) return hooks;
  warn("The hooks of the settings file are ignored: they must be an object of events.");
  return {};
}

function readGroups(event: HookEvent, raw: unknown, warn: Warn): readonly HookGroup[] {
  const ignore = (reason: string): void => warn(`A part of the hooks for ${event} is ignored: ${reason}.`);
  if (!Array.isArray(raw)) {
    ignore("an event has a list of matchers");
    return [];
  }
  return raw.flatMap((group: unknown): HookGroup[] => {
    if (!isRecord(group) || !Array.isArray(group.hooks)) {
      ignore("each matcher is an object with a list of hooks");
      return [];
    }
    const matcher = readMatcher(group.matcher, ignore);
    if (matcher === undefined) return [];
    const hooks = group.hooks.flatMap((hook: unknown) => readHook(hook, ignore) ?? []);
    return hooks.length === 0 ? [] : [{ matcher, hooks }];
  });
}

function readHook(raw: unknown, ignore: Warn): HookDefinition | undefined {
  const type = stringField(raw, "type");
  if (type === undefined) return ignored(ignore, "a hook is an object with a type");
  const timeoutMs = readTimeout(field(raw, "timeout"), ignore);
  if (type === "command") {
    const command = stringField(raw, "command") ?? "";
    if (command.trim() === "") return ignored(ignore, "a hook of type command needs a command");
    const shell = SHELLS.find((name) => name === field(raw, "shell"));
    return { type, command, shell, isAsync: field(raw, "async") === true, timeoutMs };
  }
  if (type === "prompt" || type === "agent") {
    const prompt = stringField(raw, "prompt") ?? "";
    if (prompt.trim() === "") return ignored(ignore, `a hook of type ${type} needs a prompt`);
    return { type, prompt, timeoutMs };
  }
  return ignored(ignore, `hooks of type ${shownName(type)} are not supported here`);
}

function ignored(ignore: Warn, reason: string): undefined {
  ignore(reason);
}

/** In seconds, as the file has it; undefined where nobody set one that can be used. */
export function readTimeout(seconds: unknown, ignore: (reason: string) => void): number | undefined {
  if (seconds === undefined || seconds === null) return undefined;
  if (typeof seconds === "number" && seconds > 0) return Math.min(seconds * 1_000, LONGEST_TIMEOUT_MS);
  ignore("a timeout is a number of seconds above 0");
  return undefined;
}

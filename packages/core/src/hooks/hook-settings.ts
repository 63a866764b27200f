import { field, isRecord, type JsonRecord, stringField } from "../messages/untrusted.ts";
import { HOOK_EVENTS, type HookEvent } from "./hook.ts";
import { shownName } from "./shown-text.ts";

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

interface HookGroup {
  readonly matcher: Matcher;
  readonly hooks: readonly HookDefinition[];
}

interface ReadHookSettings {
  readonly hooks: Readonly<Record<HookEvent, readonly HookGroup[]>>;
  /** One sentence for each thing that was ignored; the same thing is named once. */
  readonly warnings: readonly string[];
}

/** Longer waits overflow the timer, which then fires at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** Shells of Claude Code; any other word could be any program. */
const SHELLS: readonly string[] = ["bash", "powershell"];

type Warn = (warning: string) => void;
/** Tells why something is ignored, in place of its value. */
export type Refuse = (reason: string) => undefined;

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
  const refuse: Refuse = (reason) => void warn(`A part of the hooks for ${event} is ignored: ${reason}.`);
  if (!Array.isArray(raw)) return refuse("an event has a list of matchers") ?? [];
  return raw.flatMap((group: unknown): HookGroup[] => {
    if (!isRecord(group) || !Array.isArray(group.hooks)) {
      return refuse("each matcher is an object with a list of hooks") ?? [];
    }
    const matcher = readMatcher(group.matcher, refuse);
    if (matcher === undefined) return [];
    const hooks = group.hooks.flatMap((hook: unknown) => readHook(hook, refuse) ?? []);
    return hooks.length === 0 ? [] : [{ matcher, hooks }];
  });
}

function readHook(raw: unknown, refuse: Refuse): HookDefinition | undefined {
  const type = stringField(raw, "type");
  if (type === undefined) return refuse("a hook is an object with a type");
  const timeoutMs = readTimeout(field(raw, "timeout"), refuse);
  if (type === "command") {
    const command = stringField(raw, "command") ?? "";
    if (command.trim() === "") return refuse("a hook of type command needs a command");
    const shell = readShell(field(raw, "shell"), refuse);
    return { type, command, shell, isAsync: field(raw, "async") === true, timeoutMs };
  }
  if (type === "prompt" || type === "agent") {
    const prompt = stringField(raw, "prompt") ?? "";
    if (prompt.trim() === "") return refuse(`a hook of type ${type} needs a prompt`);
    return { type, prompt, timeoutMs };
  }
  return refuse(`hooks of type ${shownName(type)} are not supported here`);
}

/** Undefined for the shell of the system: where nobody set one, or set one that is not known. */
function readShell(shell: unknown, refuse: Refuse): string | undefined {
  if (shell === undefined || shell === null) return undefined;
  return SHELLS.find((name) => name === shell) ?? refuse(`a shell is one of ${SHELLS.join(", ")}`);
}

/** In seconds, as the file has it; undefined where nobody set one that can be used. */
export function readTimeout(seconds: unknown, refuse: Refuse): number | undefined {
  if (seconds === undefined || seconds === null) return undefined;
  if (typeof seconds === "number" && seconds > 0) return Math.min(seconds * 1_000, LONGEST_TIMEOUT_MS);
  return refuse("a timeout is a number of seconds above 0");
}

/** Occasions of an event that a hook is for, read from the `matcher` of a settings file. */
export type Matcher =
  | { readonly kind: "all" }
  | { readonly kind: "list"; readonly words: readonly string[] }
  | { readonly kind: "pattern"; readonly pattern: RegExp };

export const MATCHES_ALL: Matcher = Object.freeze({ kind: "all" });

/** More than the longest list of words that there are, written as a pattern. */
const LONGEST_PATTERN = 100;
/** `* + ? { |`: each is a point at which a search can turn back. */
const MOST_CHOICES = 12;
/** The words that are matched are shorter: manual, auto, startup, resume, clear, compact. */
const LONGEST_WORD = 10;

const WORD_LIST = /^[\w\-,| ]*$/;
const CHOICE = /[*+?{|]/g;
/** Only here can the ways to match multiply without limit: `(\w?){100}` tries more than 10^9 on `manual`. */
const REPEATED_GROUP = /\)[*+{]/;

/** Undefined for what is no matcher, with the reason told to `refuse`. */
export function readMatcher(raw: unknown, refuse: Refuse): Matcher | undefined {
  if (raw === undefined || raw === null || raw === "" || raw === "*") return MATCHES_ALL;
  if (typeof raw !== "string") return refuse("a matcher must be text");
  if (WORD_LIST.test(raw)) return { kind: "list", words: raw.split(/[,|]/).map((word) => word.trim()) };
  if (!isHarmless(raw)) {
    return refuse("the pattern of a matcher is too long or repeats a group, and could take for ever");
  }
  try {
    return { kind: "pattern", pattern: new RegExp(raw) };
  } catch {
    return refuse("the pattern of a matcher is no regular expression");
  }
}

/**
 * With a dozen choices, none of them repeated, and words of a few letters, a search that turns back at each
 * of them ends after a few million steps at worst.
 */
function isHarmless(pattern: string): boolean {
  const choices = pattern.match(CHOICE)?.length ?? 0;
  return pattern.length <= LONGEST_PATTERN && choices <= MOST_CHOICES && !REPEATED_GROUP.test(pattern);
}

export function isMatch(matcher: Matcher, word: string | undefined): boolean {
  if (matcher.kind === "all") return true;
  if (word === undefined || word.length > LONGEST_WORD) return false;
  return matcher.kind === "list" ? matcher.words.includes(word) : matcher.pattern.test(word);
}

import { field, isRecord, type JsonRecord, stringField } from "../messages/untrusted.ts";
import { displayName } from "./display-text.ts";
import { HOOK_EVENTS, type HookEvent } from "./hook.ts";

/** One hook as a settings file defines it. */
export type HookDefinition = CommandHook | ModelHook;

export interface CommandHook {
  readonly type: "command";
  readonly command: string;
  readonly shell: string | undefined;
  /** The runner does not wait for the hook and ignores its output. */
  readonly isAsync: boolean;
  readonly timeoutMs: number | undefined;
}

/** A hook that sends its prompt to a model, or to an agent with tools. */
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
  /** One sentence for each ignored setting, without duplicates. */
  readonly warnings: readonly string[];
}

/** Maximum delay of a timer. A longer delay overflows, and the timer fires immediately. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** The shells that Claude Code accepts. Any other value could name an arbitrary program. */
const SHELLS: readonly string[] = ["bash", "powershell"];

type Warn = (warning: string) => void;
/** Reports why a value is ignored, and returns undefined in its place. */
export type ReportIgnored = (reason: string) => undefined;

/**
 * Reads the hooks from a parsed settings file in Claude Code's format. The file is untrusted: parts with an
 * unexpected shape are ignored and named in a warning.
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
    else
      warn(`Hooks for ${displayName(event)} are ignored: longhaul supports only ${HOOK_EVENTS.join(", ")}.`);
  }
  return { hooks, warnings: [...warnings] };
}

function hooksOf(file: unknown, warn: Warn): JsonRecord {
  if (file === undefined || file === null || field(file, "disableAllHooks") === true) return {};
  const hooks = isRecord(file) ? (file.hooks ?? {}) : undefined;
  if (isRecord(hooks)) return hooks;
  warn("The hooks of the settings file are ignored: they must be an object with event names as keys.");
  return {};
}

function readGroups(event: HookEvent, raw: unknown, warn: Warn): readonly HookGroup[] {
  const refuse: ReportIgnored = (reason) =>
    void warn(`Part of the hooks for ${event} is ignored: ${reason}.`);
  if (!Array.isArray(raw)) return refuse("an event must have a list of matchers") ?? [];
  return raw.flatMap((group: unknown): HookGroup[] => {
    if (!isRecord(group) || !Array.isArray(group.hooks)) {
      return refuse("each matcher must be an object with a list of hooks") ?? [];
    }
    const matcher = readMatcher(group.matcher, refuse);
    if (matcher === undefined) return [];
    const hooks = group.hooks.flatMap((hook: unknown) => readHook(hook, refuse) ?? []);
    return hooks.length === 0 ? [] : [{ matcher, hooks }];
  });
}

function readHook(raw: unknown, refuse: ReportIgnored): HookDefinition | undefined {
  const type = stringField(raw, "type");
  if (type === undefined) return refuse("a hook must be an object with a type");
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
  return refuse(`hooks of type ${displayName(type)} are not supported here`);
}

/** Returns the shell of a hook, or undefined for the system's default shell. */
function readShell(shell: unknown, refuse: ReportIgnored): string | undefined {
  if (shell === undefined || shell === null) return undefined;
  return SHELLS.find((name) => name === shell) ?? refuse(`a shell must be one of ${SHELLS.join(", ")}`);
}

/** Converts the file's seconds to milliseconds. Returns undefined if no usable timeout is set. */
export function readTimeout(seconds: unknown, refuse: ReportIgnored): number | undefined {
  if (seconds === undefined || seconds === null) return undefined;
  if (typeof seconds === "number" && seconds > 0) return Math.min(seconds * 1_000, MAX_TIMEOUT_MS);
  return refuse("a timeout must be a number of seconds above 0");
}

/** The `matcher` of a settings file. It selects the occurrences of an event for which a hook runs. */
export type Matcher =
  | { readonly kind: "all" }
  | { readonly kind: "list"; readonly words: readonly string[] }
  | { readonly kind: "pattern"; readonly pattern: RegExp };

export const MATCHES_ALL: Matcher = Object.freeze({ kind: "all" });

/** Maximum length of a pattern. A pattern that lists all possible words is shorter. */
const MAX_PATTERN_CHARACTERS = 100;
/**
 * Maximum number of `* + ? { |` in a pattern. Each of them is a point at which the regex engine can
 * backtrack.
 */
const MAX_CHOICES = 12;
/**
 * Maximum length of a word to match. All known words are shorter: manual, auto, startup, resume, clear,
 * compact.
 */
const MAX_WORD_CHARACTERS = 10;

const WORD_LIST = /^[\w\-,| ]*$/;
const CHOICE = /[*+?{|]/g;
/**
 * A repeated group. It is the only part that can backtrack without limit. For example, `(\w?){100}` makes
 * more than 10^9 attempts on `manual`.
 */
const REPEATED_GROUP = /\)[*+{]/;

/** Reads a matcher. If the matcher is invalid, passes the reason to `refuse` and returns undefined. */
export function readMatcher(raw: unknown, refuse: ReportIgnored): Matcher | undefined {
  if (raw === undefined || raw === null || raw === "" || raw === "*") return MATCHES_ALL;
  if (typeof raw !== "string") return refuse("a matcher must be a string");
  if (WORD_LIST.test(raw)) return { kind: "list", words: raw.split(/[,|]/).map((word) => word.trim()) };
  if (!isSafePattern(raw)) {
    return refuse(
      "the pattern of a matcher is too long or repeats a group, so a match could run without end",
    );
  }
  try {
    return { kind: "pattern", pattern: new RegExp(raw) };
  } catch {
    return refuse("the pattern of a matcher is not a valid regular expression");
  }
}

/**
 * Returns true if the pattern cannot hang. A safe pattern has at most a dozen choices and no repeated group,
 * and the words have only a few letters. So backtracking ends after a few million steps at worst.
 */
function isSafePattern(pattern: string): boolean {
  const choices = pattern.match(CHOICE)?.length ?? 0;
  return pattern.length <= MAX_PATTERN_CHARACTERS && choices <= MAX_CHOICES && !REPEATED_GROUP.test(pattern);
}

export function isMatch(matcher: Matcher, word: string | undefined): boolean {
  if (matcher.kind === "all") return true;
  if (word === undefined || word.length > MAX_WORD_CHARACTERS) return false;
  return matcher.kind === "list" ? matcher.words.includes(word) : matcher.pattern.test(word);
}

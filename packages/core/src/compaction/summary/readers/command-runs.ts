import { headOf, tailOf, withoutControls } from "../../../messages/text.ts";
import { clip, oneLine } from "../clip.ts";
import { changesCode, namedChanges } from "./code-changes.ts";
import { failureText } from "./failure-text.ts";
import { gitWords, historyChange, type MadeCommit, parseCommits } from "./git-commits.ts";
import { type CommandOutput, ownLines, readOutput, type SpecialEnd } from "./runners/output-view.ts";
import {
  isFixedBy,
  kindOf,
  type RunnerRun,
  type RunState,
  readRuns,
  startedRuns,
} from "./runners/runner-runs.ts";
import { isSetUp, type ShellCommand, shellCommands } from "./runners/shell-commands.ts";
import { fileName, resolvedPath, unixPath } from "./shell/paths.ts";
import { readShellLine } from "./shell/shell-line.ts";

/** Reads commands and what their output proves. */

export type CommandKind = "test" | "build" | "check" | "commit" | "push" | "other";

/**
 * `unknown`: the exit code is hidden, and the visible output does not show the result. `nothing`: the runner
 * found no tests.
 */
export type CommandState = RunState | SpecialEnd;

export interface CommandRun {
  readonly at: number;
  readonly kind: CommandKind;
  /** Command on one line, without a change to the working directory. */
  readonly command: string;
  /** The whole command, as far as it tells a repetition from another command. */
  readonly key: string;
  readonly description?: string | undefined;
  readonly state: CommandState;
  /** True if the command was seen to fail. */
  readonly failed: boolean;
  /** Outcome that the output proves, such as counts, a commit or a pull request. */
  readonly outcome?: string | undefined;
  /** Commits that the output shows, oldest first. */
  readonly commits: readonly MadeCommit[];
  /** Number of older commits that a successful command removed. */
  readonly dropped: number;
  /** True if the command succeeded and changes code, or usually does. */
  readonly changesCode: boolean;
  /** Files that the command stages, or that git names as changed in its output. */
  readonly namedChanges: readonly string[];
  /** Branch that the output of a git command names. */
  readonly branch?: string | undefined;
  /** Telling part of the output of a run whose result is not known. */
  readonly seen?: string | undefined;
  /** True if some runs failed, but the last one passed. */
  readonly endsWithPass?: boolean | undefined;
  /** Tests, checks and builds that the command started. */
  readonly runs: readonly RunnerRun[];
  readonly directory: string | undefined;
  /** True if the command does more than to start these runs. */
  readonly doesMore: boolean;
  /** True if the agent saw the whole output. */
  readonly isWhole: boolean;
  /** True if a commit skips the hooks. */
  readonly skipsHooks: boolean;
}

export interface Commit extends MadeCommit {
  readonly at: number;
}

/** Characters to scan for a commit or push. */
const SCANNED_HEAD_CHARS = 600;
const SCANNED_TAIL_CHARS = 1_600;
const MAX_COMMAND_CHARS = 160;
const MAX_OUTCOME_CHARS = 120;
const MAX_SEEN_CHARS = 100;
const SHOWN_FROM_CHARS = 800;
const PROGRAM_WITHIN_CHARS = 120;
const KEY_CHARS = 2_000;
const SET_UP =
  /^(?:(?:cd\s+(?:"[^"]*"|'[^']*'|\S+?)|(?:export\s+)?\w+=(?:"[^"]*"|'[^']*'|[^\s;&]*)|set -\w+)\s*(?:&&|;)\s*)+/;

const PUSHED_RANGE = /\b[0-9a-f]{7,40}\.\.[0-9a-f]{7,40}\s+\S+ -> \S+/;

/**
 * Reads a command. Without `output`, the call has no result. `cwd`: the directory in which the command
 * started.
 */
export function readCommand(
  at: number,
  command: string,
  description?: string,
  output?: string,
  isError = false,
  cwd?: string,
): CommandRun {
  const base = cwd === undefined ? undefined : unixPath(resolvedPath(cwd, ""));
  const commands = shellCommands(command, base);
  const git = commands.map(gitKind).find((found) => found !== undefined);
  const started = startedRuns(commands);
  const read = readOutput(output, started.length > 0);
  const isFailure = isError || (read.exitCode ?? 0) !== 0;
  const runs = readRuns(commands, started, read, isFailure).map(
    // A run that did not end has no result, whatever it printed until then.
    (run): RunnerRun => (read.end === undefined ? run : { ...run, state: "unknown" }),
  );
  const kind = git ?? kindOf(runs) ?? "other";
  const ends = kind === "commit" || kind === "push" ? endsOf(output ?? "") : "";
  const { made, dropped } = historyChange(commands);
  const commits = kind === "commit" ? parseCommits(ends, made, command) : [];
  const state = stateOf({ kind, commands, runs, read, isFailure, isShown: commits.length > 0 });
  const directory = commands.find(({ words }) => words[0] !== "cd")?.directory ?? base;
  const isEnded = state !== "failed" && state !== "no-result";
  return {
    at,
    kind,
    command: shownCommand(command, kind, directory, base),
    key: keyOf(command),
    description,
    state,
    failed: state === "failed",
    outcome: commits.length > 0 ? commitText(commits) : outcomeOf(kind, state, ends, runs, read),
    commits: state === "failed" ? [] : commits,
    dropped: isEnded ? dropped : 0,
    changesCode: isEnded && changesCode(commands, command, endsOf(output ?? "")),
    namedChanges: isEnded ? namedChanges(commands, output ?? "") : [],
    branch: isFailure || directory !== base ? undefined : branchIn(commands, output ?? ""),
    seen:
      kind !== "other" && (state === "unknown" || (state === "passed" && isSilent(read, started)))
        ? seenIn(read, commands)
        : undefined,
    endsWithPass: runs.some((run) => run.state === "mixed" && run.endsWithPass),
    runs,
    directory,
    doesMore: commands.some(
      (command) => !isSetUp(command) && !isFilter(command) && !started.some((run) => run.command === command),
    ),
    isWhole: !read.isCut && commands.every(({ filters }) => filters.length === 0),
    skipsHooks: kind === "commit" && SKIPS_HOOKS.test(headOf(command, SHOWN_FROM_CHARS)),
  };
}

function commitText(commits: readonly MadeCommit[]): string {
  const last = commits.at(-1);
  const count = commits.length > 1 ? `${commits.length} commits, the last one ` : "commit ";
  return last === undefined ? "" : `${count}${last.id} "${clip(last.subject, 90)}"`;
}

const SKIPS_HOOKS = /\s(?:--no-verify|-n)\b|\b(?:HUSKY=0|LEFTHOOK=0|SKIP=)/;

/** Returns true if nothing was printed, and a pipe hides the exit code of a test, check or build. */
const isSilent = ({ lines }: CommandOutput, started: ReturnType<typeof startedRuns>): boolean =>
  ownLines(lines).length === 0 && started.some(({ command }) => command.filters.length > 0);

/** Returns what is known of a run whose exit code is hidden: the line of its output that says most. */
function seenIn({ lines }: CommandOutput, commands: readonly ShellCommand[]): string {
  const own = ownLines(lines);
  if (own.length === 0) {
    const isSearched = commands.some(({ words: [program = ""] }) => /^(?:e?grep|rg)$/.test(program));
    return isSearched ? "no matching lines" : "no output, exit code not seen";
  }
  const failure = failureText(own.join("\n"));
  const line = failure?.telling ? (failure.text.split("\n")[0] ?? "") : (own.at(-1) ?? "");
  const count = own.length === 1 ? "1 line" : `${own.length} lines`;
  return `exit code not seen, ${count} of output: ${clip(oneLine(line), MAX_SEEN_CHARS)}`;
}

/** Returns the branch that git itself names last. It is newer than what the agent's program noted. */
function branchIn(commands: readonly ShellCommand[], output: string): string | undefined {
  const git = commands.filter(({ words }) => words[0] === "git");
  const isNamed = git.some(({ words }) => words.some((word) => NAMES_BRANCH.test(word)));
  if (!isNamed || git.some(({ words }) => words.includes("-C"))) return undefined;
  const last = [...endsOf(output).matchAll(GIT_BRANCH)].at(-1);
  return last?.slice(1).find((name) => name !== undefined);
}

const NAMES_BRANCH = /^(?:status|commit|checkout|switch)$/;
const GIT_BRANCH =
  /^(?:On branch (\S+)|Switched to (?:a new )?branch '([^'\n]+)'|Already on '([^'\n]+)'|\[(?!detached )([^\s\]]+)(?: \(root-commit\))? [0-9a-f]{7,40}\] )/gm;

/** Returns the kind of a git command that stores or publishes. */
function gitKind(command: ShellCommand): "commit" | "push" | undefined {
  const [program, verb, next = ""] = gitWords(command) ?? [];
  if (program === "gh") return verb === "pr" && /^(?:create|merge)$/.test(next) ? "push" : undefined;
  return verb === "commit" || verb === "push" ? verb : undefined;
}

interface Result {
  readonly kind: CommandKind;
  readonly commands: readonly ShellCommand[];
  readonly runs: readonly RunnerRun[];
  readonly read: CommandOutput;
  readonly isFailure: boolean;
  /** True if the output shows the commit. */
  readonly isShown: boolean;
}

function stateOf({ kind, commands, runs, read, isFailure, isShown }: Result): CommandState {
  if (read.end !== undefined) return read.end;
  const states = runs.map(({ state }) => state);
  if (states.includes("failed")) return "failed";
  const isProven = commands.every(({ isProvenByZero }) => isProvenByZero);
  if (kind === "commit" || kind === "push" || kind === "other") {
    if (isFailure) return commands.some(isFilter) && kind !== "other" && isShown ? "passed" : "failed";
    return isProven || isShown ? "passed" : "unknown";
  }
  if (states.length > 0 && states.every((state) => state === "nothing")) return "nothing";
  const canFail = commands.filter(({ canFailLine }) => canFailLine);
  if (isFailure && !states.includes("mixed") && canFail.some((command) => !isFilter(command)))
    return "failed";
  const main = runs.filter(({ scope }) => scope.kind === kind);
  const isCounted = main.every(({ counts }) => counts !== undefined);
  for (const state of ["mixed", "unknown", "nothing"] as const) {
    if (main.some((run) => run.state === state)) return state;
    if (state !== "nothing" && states.includes(state) && !isCounted) return state;
  }
  if (commands.some(({ isBackground }) => isBackground) && !isProven) return "background";
  return "passed";
}

/** Returns true for a program that ends with a failure code when it finds nothing or finds differences. */
const isFilter = ({ words: [program = ""] }: ShellCommand): boolean =>
  /^(?:e?grep|rg|diff|cmp|test|\[|head|tail|awk|sed|wc|cat|ls|echo)$/.test(fileName(program));

function outcomeOf(
  kind: CommandKind,
  state: CommandState,
  ends: string,
  runs: readonly RunnerRun[],
  { exitCode }: CommandOutput,
): string | undefined {
  if (kind === "push") {
    const url = /https:\/\/\S+\/(?:pull|merge_requests)\/\d+/.exec(ends)?.[0];
    const range = ends.includes(" -> ") ? PUSHED_RANGE.exec(ends)?.[0] : undefined;
    if (ends.includes("Everything up-to-date")) return "nothing to push";
    return url ?? range ?? (state === "passed" ? "pushed" : undefined);
  }
  const main = runs.filter(({ scope }) => scope.kind === kind);
  const failed = runs.filter((run) => run.state === "failed");
  const failedMain = failed.filter((run) => main.includes(run));
  const telling = state !== "failed" ? main : failedMain.length > 0 ? failedMain : failed;
  const counts = [...new Set(telling.flatMap((run) => run.counts ?? []))];
  if (counts.length > 0) return clip(counts.join("; "), MAX_OUTCOME_CHARS);
  return state === "failed" && exitCode !== undefined && exitCode !== 0 ? `exit code ${exitCode}` : undefined;
}

/** Returns true if a line failed, but none of the tests, checks and builds in it did. */
export const failedElsewhere = ({ failed, runs }: CommandRun): boolean =>
  failed && runs.length > 0 && !runs.some(({ state }) => state === "failed");

/** Returns the outcome that the output proves, with an arrow, or "" if nobody needs it. */
export function outcomeText({
  state,
  outcome,
  kind,
  seen,
  endsWithPass,
}: Pick<CommandRun, "state" | "outcome" | "kind" | "seen" | "endsWithPass">): string {
  const details = outcome === undefined ? "" : ` (${outcome})`;
  switch (state) {
    case "failed":
      return ` → FAILED${details}`;
    case "passed":
      return kind === "other" && outcome === undefined ? "" : ` → ${outcome ?? seen ?? "ok"}`;
    case "mixed":
      return ` → some runs FAILED, ${endsWithPass ? "the last passed" : "others passed"}${details}`;
    case "nothing":
      return ` → ${kind === "test" ? "ran no tests" : "checked nothing"}${details}`;
    case "unknown":
      if (kind === "other") return "";
      return outcome === undefined ? ` → ${seen ?? "result not seen"}` : ` → whole result not seen${details}`;
    default:
      return ` → ${END_WORDS[state]}`;
  }
}

const END_WORDS: Readonly<Record<SpecialEnd, string>> = {
  "no-result": "no result",
  interrupted: "interrupted",
  "timed-out": "timed out",
  background: "started in the background",
};

/** Returns the beginning and the end of an output. The middle of a long log is not useful. */
function endsOf(output: string): string {
  const isShort = output.length <= SCANNED_HEAD_CHARS + SCANNED_TAIL_CHARS;
  return withoutControls(
    isShort ? output : `${headOf(output, SCANNED_HEAD_CHARS)}\n${tailOf(output, SCANNED_TAIL_CHARS)}`,
  );
}

/** Leaves out what a repetition often adds: a change of the folder, and the `--` before paths. */
const keyOf = (command: string): string =>
  oneLine(headOf(command, KEY_CHARS)).replace(SET_UP, "").replace(/ -- /g, " ");

function heredocAt(command: string): number {
  return command.includes("<<") ? command.search(/<<-?\s*['"]?\w/) : -1;
}

/** Returns the command on one line, without comments and variables. Keeps a change to another directory. */
function shownCommand(
  command: string,
  kind: CommandKind,
  directory: string | undefined,
  base: string | undefined,
): string {
  const heredoc = heredocAt(command);
  const main =
    heredoc === -1
      ? headOf(command, SHOWN_FROM_CHARS)
      : `${headOf(command, Math.min(heredoc, SHOWN_FROM_CHARS))}<<…`;
  const joined = main
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .join("; ");
  const whole = oneLine(joined);
  const bare = whole.replace(SET_UP, "") || whole;
  const isElsewhere = base !== undefined && directory !== undefined && directory !== base && bare !== whole;
  const isRunner = kind === "test" || kind === "check" || kind === "build";
  const shown = isElsewhere && isRunner ? `cd ${relativeTo(base, directory)} && ${bare}` : bare;
  return clip(shown.includes("2>&1") ? shown.replace(/\s+2>&1/g, "") : shown, MAX_COMMAND_CHARS);
}

const relativeTo = (base: string, path: string): string =>
  path.startsWith(`${base}/`) ? path.slice(base.length + 1) : path;

/** Pipes that only shorten the output. */
const SHORTENED_BY = /(?:\|\s*(?:cat|e?grep|head|less|more|tail)\b(?:"[^"]*"|'[^']*'|[^|&;"'])*)+$/;

/** Removes pipes at the end of a command that only shorten the output. */
export const withoutShortening = (command: string): string => command.replace(SHORTENED_BY, "").trimEnd();

/**
 * Returns a key of the programs that a command runs. Runs of one program share the key, even if their
 * arguments differ.
 */
export function programKey({ command, kind, runs }: CommandRun): string {
  if (kind === "commit" || kind === "push") return kind;
  const names = [...new Set(runs.filter(({ scope }) => scope.kind === kind).map(({ scope }) => scope.name))];
  return names.length > 0
    ? `${kind} ${names.join(" + ")}`
    : `${kind} ${withoutShortening(command).toLowerCase()}`;
}

/** A command that was cut. Its arguments are not known. */
const isClipped = ({ command }: CommandRun): boolean => command.endsWith("…");

/** Returns true if a later command was seen to pass the tests, checks and builds that failed in an earlier one. */
export function isSeenFixed(later: CommandRun, earlier: CommandRun): boolean {
  // Without a result, only the text of the command is known, and what failed must be one of its runs.
  const isText = earlier.state === "no-result";
  if (isText && (isClipped(earlier) || earlier.doesMore)) return false;
  const open = isText ? earlier.runs : earlier.runs.filter(({ state }) => state === "failed");
  return open.length > 0 && open.every((run) => later.runs.some((other) => isFixedBy(other, run)));
}

/** Git commands that stop at a conflict. The same command with `--continue` finishes them. */
const STEPWISE = /\bgit (rebase|merge|cherry-pick|am)\b/;
const GIVES_UP = /\s--(?:abort|quit|skip)\b/;

/**
 * Returns true if a later commit or push succeeded after a failed one, or if the same command succeeded. A
 * command that is no test, check or build can be repeated in another folder, or in other words for the same
 * purpose. A commit without its hooks proves nothing about them.
 */
export function isLaterSuccess(later: CommandRun, earlier: CommandRun): boolean {
  if (later.state !== "passed") return false;
  if (earlier.kind === "other" && isSamePurpose(later, earlier)) return true;
  if (later.kind !== earlier.kind) return false;
  if (later.kind === "commit") return !later.skipsHooks;
  if (later.kind === "push") return later.outcome !== "nothing to push";
  const resumed = STEPWISE.exec(earlier.command)?.[1];
  if (resumed !== undefined && STEPWISE.exec(later.command)?.[1] === resumed)
    return !GIVES_UP.test(later.command);
  if (later.key !== earlier.key || earlier.key.length >= KEY_CHARS) return false;
  // The runs of a line that failed in another step are not what failed.
  const canMove = earlier.kind === "other" || failedElsewhere(earlier);
  return canMove || later.directory === earlier.directory;
}

/** A shorter description, such as "Run it", can be about anything. */
const MIN_PURPOSE_WORDS = 3;

/** Returns true if the agent described both commands with the same words. */
const isSamePurpose = ({ description }: CommandRun, earlier: CommandRun): boolean =>
  description !== undefined &&
  description === earlier.description &&
  description.split(/\s+/).length >= MIN_PURPOSE_WORDS;

/** Returns true if a later commit succeeded because it skipped the hooks that an earlier commit ran. */
export const isBypass = (later: CommandRun, earlier: CommandRun): boolean =>
  later.kind === "commit" &&
  earlier.kind === "commit" &&
  later.state === "passed" &&
  later.skipsHooks &&
  !earlier.skipsHooks;

/**
 * Returns the program and its subcommand, such as `go test` for both `go test ./...` and `go test -v ./x`.
 */
export function programOf(command: string): string | undefined {
  const [first] = readShellLine(headOf(command, PROGRAM_WITHIN_CHARS)).commands;
  const words = [...(first?.keywords ?? []), ...(first?.words ?? [])];
  const [program = "", verb] = /^(?:sudo|npx|time)$/.test(words[0] ?? "") ? words.slice(1) : words;
  if (!/^[\w./-]{1,30}$/.test(program)) return undefined;
  const name = fileName(program);
  const hasVerb = verb !== undefined && /^[a-z][\w:-]{1,20}$/.test(verb) && PROGRAMS_WITH_VERBS.has(name);
  return hasVerb ? `${name} ${verb}` : name;
}

const PROGRAMS_WITH_VERBS: ReadonlySet<string> = new Set(
  "apt brew bun bundle cargo composer deno docker dotnet flutter gh git go gradle helm kubectl make mise mix mvn npm pip pnpm poetry rake rails swift terraform uv yarn zig".split(
    " ",
  ),
);

import { headOf, tailOf, withoutControls } from "../../conversation/text.ts";
import { clip, oneLine } from "../clip.ts";

export type CommandKind = "test" | "build" | "check" | "commit" | "push" | "other";

export interface CommandRun {
  readonly at: number;
  readonly kind: CommandKind;
  /** On one line, without the directory change in front. */
  readonly command: string;
  readonly description?: string | undefined;
  readonly failed: boolean;
  /** Counts, a commit, a pull request: what the output proves. */
  readonly outcome?: string | undefined;
  readonly commit?: Omit<Commit, "at"> | undefined;
}

export interface Commit {
  readonly at: number;
  readonly id: string;
  readonly subject: string;
}

/** The first line of a failed command's output. */
export const EXIT_CODE: RegExp = /^Exit code (\d+)\n?/;
/** The outcome of a command stands at the end of its output, and a little at the start. */
const SCANNED_HEAD_CHARS = 600;
const SCANNED_TAIL_CHARS = 1_600;
const MAX_COMMAND_CHARS = 160;
const SHOWN_FROM_CHARS = 800;
const PROGRAM_WITHIN_CHARS = 120;
const SET_UP =
  /^(?:(?:cd\s+(?:"[^"]*"|'[^']*'|\S+?)|(?:export\s+)?\w+=(?:"[^"]*"|'[^']*'|[^\s;&]*)|set -\w+)\s*(?:&&|;)\s*)+/;

const KINDS: readonly (readonly [kind: CommandKind, pattern: RegExp])[] = [
  ["commit", /\bgit\b[^|;&\n]*\bcommit\b/],
  ["push", /\bgit\b[^|;&\n]*\bpush\b|\bgh pr (?:create|merge)\b/],
  [
    "test",
    /\b(?:pytest|vitest|jest|mocha|rspec|phpunit|ctest|ava|playwright test|unittest|nextest)\b|\btests?\b(?=[:\s"]|$)/,
  ],
  [
    "check",
    /\b(?:lint|eslint|biome|ruff|flake8|mypy|pyright|clippy|gofmt|prettier|credo|dialyzer|vet|fmt|format|typecheck|type-check|tsc|check|knip|staticcheck)\b/,
  ],
  ["build", /\b(?:build|compile|make|webpack|vite|bundle|gradle|mvn|xcodebuild)\b/],
];
const COUNTS: readonly RegExp[] = [
  /test result: \w+\. \d+ passed; \d+ failed[^\n]*/,
  /Tests:?\s+[^\n]*\d+ (?:passed|failed)[^\n]*/,
  /=+ ([^=\n]*\d+ (?:passed|failed|error)[^=\n]*) =+/,
  /\d+ (?:tests?|examples?|doctests?)[^\n]*, \d+ failures?[^\n]*/,
  /\d+ pass(?:ed|ing)?\b[^\n]*(?:\n\s*\d+ fail(?:ed|ing|ures?)?[^\n]*)?/,
  /\d+ (?:problems?|issues?|errors?|warnings?)\b[^\n]*/,
];
const ANY_COUNT = /\d (?:pass|fail|test|example|doctest|problem|issue|error|warning)/;
const FAILING_TEXT =
  /(?:^|\n)\s*(?:--- FAIL|FAIL\b|FAILED\b|panic:|Traceback \(most recent)|\b[1-9]\d* (?:(?:tests?|specs?|suites?|files?|checks?) )?(?:failed|failing|failures?|errors?)\b|\berror(?:\[\w+\]| TS\d+)?:\s/;

const PUSHED_RANGE = /\b[0-9a-f]{7,40}\.\.[0-9a-f]{7,40}\s+\S+ -> \S+/;

/** Without an output, only what the words of the command tell. */
export function readCommand(
  at: number,
  command: string,
  description?: string,
  output = "",
  isError = false,
): CommandRun {
  const ownWords = withoutQuotedText(command);
  const kind = KINDS.find(([, pattern]) => pattern.test(ownWords))?.[0] ?? "other";
  const scanned = kind === "other" ? "" : endsOf(output, SCANNED_HEAD_CHARS, SCANNED_TAIL_CHARS);
  const exitCode = EXIT_CODE.exec(output)?.[1];
  const failed = isError || exitCode !== undefined || looksFailed(kind, scanned);
  const commit = kind === "commit" ? parseCommit(scanned) : undefined;
  const outcome = commit
    ? `commit ${commit.id} "${clip(commit.subject, 90)}"`
    : outcomeOf(kind, scanned, failed, exitCode);
  return { at, kind, command: shownCommand(command), description, failed, outcome, commit };
}

/** Outputs cut by `| tail` hide the exit code; for tests, builds and checks the text decides. */
function looksFailed(kind: CommandKind, scanned: string): boolean {
  return (kind === "test" || kind === "build" || kind === "check") && FAILING_TEXT.test(scanned);
}

function outcomeOf(
  kind: CommandKind,
  scanned: string,
  failed: boolean,
  exitCode: string | undefined,
): string | undefined {
  if (kind === "push") {
    const url = /https:\/\/\S+\/(?:pull|merge_requests)\/\d+/.exec(scanned)?.[0];
    const range = scanned.includes(" -> ") ? PUSHED_RANGE.exec(scanned)?.[0] : undefined;
    return url ?? range ?? (failed ? undefined : "pushed");
  }
  if (kind === "test" || kind === "check" || kind === "build") {
    const counts = countsIn(scanned);
    if (counts) return counts;
    const packages = scanned.match(/^ok\s+\S+/gm)?.length;
    if (packages && !failed) return packages === 1 ? "1 package ok" : `${packages} packages ok`;
  }
  return exitCode === undefined ? undefined : `exit code ${Number(exitCode)}`;
}

function countsIn(scanned: string): string | undefined {
  if (!ANY_COUNT.test(scanned)) return undefined;
  for (const pattern of COUNTS) {
    const match = pattern.exec(scanned);
    if (match) return clip(oneLine(match[1] ?? match[0]), 100);
  }
  return undefined;
}

/** `[branch id] subject`, or the first line of a log where the commit itself was quiet. */
function parseCommit(output: string): CommandRun["commit"] {
  const said = /^\[[^\]\n]*?\b([0-9a-f]{7,40})\] (.+)$/m.exec(output);
  const listed = said ? undefined : /^([0-9a-f]{7,40}) (?!\.\.)(.{8,})$/m.exec(output);
  const match = said ?? listed;
  return match?.[1] && match[2] ? { id: match[1], subject: match[2].trim() } : undefined;
}

/** The beginning and the end of an output; the middle of a megabyte of log tells nothing. */
export function endsOf(output: string, headChars: number, tailChars: number): string {
  const isShort = output.length <= headChars + tailChars;
  return withoutControls(isShort ? output : `${headOf(output, headChars)}\n${tailOf(output, tailChars)}`);
}

/** The command's own words decide its kind, not a message or script it carries. */
function withoutQuotedText(command: string): string {
  const head = headOf(command, 600);
  const heredoc = heredocAt(head);
  return (heredoc === -1 ? head : head.slice(0, heredoc)).replace(/"[^"]*"|'[^']*'/g, '""');
}

function heredocAt(command: string): number {
  return command.includes("<<") ? command.search(/<<-?\s*['"]?\w/) : -1;
}

/** On one line, without what only prepares it: comments, variables, a change of directory. */
function shownCommand(command: string): string {
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
  const shown = whole.replace(SET_UP, "") || whole;
  return clip(shown.includes("2>&1") ? shown.replace(/\s+2>&1/g, "") : shown, MAX_COMMAND_CHARS);
}

/**
 * Keys that runs of one command share. A test run is answered by the next good run of the same runner, even with
 * other arguments.
 */
export function keysOf({ command, kind }: CommandRun): readonly string[] {
  const runner = kind === "other" ? undefined : runnerOf(command, kind);
  return [commandKey(command), ...(runner === undefined ? [] : [`${kind} ${runner}`])];
}

/** The same for all pipes behind it and all ways to wrap it. */
function commandKey(command: string): string {
  const end = command.search(/[|;>]/);
  return (end === -1 ? command : command.slice(0, end)).trim().toLowerCase();
}

/** The part of a longer command line that does what the kind says, as program and verb. */
function runnerOf(command: string, kind: CommandKind): string | undefined {
  const pattern = KINDS.find(([known]) => known === kind)?.[1];
  const part = command.split(/[|;&()]+/).find((segment) => pattern?.test(segment));
  return part === undefined ? undefined : programOf(part.trim());
}

const PROGRAM_AND_VERB = /^(?:\w+=\S*\s+)*(?:(?:sudo|npx|time)\s+)?(\S*)(?:\s+(\S*))?/;

/** The outcome of a run, as far as its output proves it, with an arrow; "" if nothing is known. */
export function outcomeText({ failed, outcome, kind }: CommandRun): string {
  if (failed) return ` → FAILED${outcome === undefined ? "" : ` (${outcome})`}`;
  if (outcome !== undefined) return ` → ${outcome}`;
  return kind === "other" ? "" : " → ok";
}

/** The program and its verb: what `go test ./...` and `go test -v ./x` have in common. */
export function programOf(command: string): string | undefined {
  const [, program, verb] = PROGRAM_AND_VERB.exec(headOf(command, PROGRAM_WITHIN_CHARS)) ?? [];
  if (program === undefined || !/^[\w./-]{1,30}$/.test(program)) return undefined;
  const name = program.split("/").at(-1) ?? program;
  const hasVerb = verb !== undefined && /^[a-z][\w:-]{1,20}$/.test(verb) && PROGRAMS_WITH_VERBS.has(name);
  return hasVerb ? `${name} ${verb}` : name;
}

const PROGRAMS_WITH_VERBS: ReadonlySet<string> = new Set(
  "apt brew bun bundle cargo composer deno docker dotnet flutter gh git go gradle helm kubectl make mise mix mvn npm pip pnpm poetry rake rails swift terraform uv yarn zig".split(
    " ",
  ),
);

import { headOf, tailOf, withoutControls } from "../../../messages/text.ts";
import { clip, oneLine } from "../clip.ts";

/** Reads commands and what their output proves, and reads failures and their resolution. */

export type CommandKind = "test" | "build" | "check" | "commit" | "push" | "other";

export interface CommandRun {
  readonly at: number;
  readonly kind: CommandKind;
  /** Command on one line, without a leading directory change. */
  readonly command: string;
  readonly description?: string | undefined;
  readonly failed: boolean;
  /** Outcome that the output proves, such as counts, a commit or a pull request. */
  readonly outcome?: string | undefined;
  readonly commit?: Omit<Commit, "at"> | undefined;
}

export interface Commit {
  readonly at: number;
  readonly id: string;
  readonly subject: string;
}

/** First line of a failed command's output. */
const EXIT_CODE = /^Exit code (\d+)\n?/;
/** Characters to scan. The outcome of a command is at the end of its output, and sometimes at the start. */
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

/** Reads a command. Without output, only the words of the command count. */
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

/**
 * Returns true if the output shows a failure. For tests, builds and checks, the text decides, because a pipe
 * such as `| tail` hides the exit code.
 */
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

/** Reads `[branch id] subject`. If the commit itself was quiet, reads the first line of a log. */
function parseCommit(output: string): CommandRun["commit"] {
  const said = /^\[[^\]\n]*?\b([0-9a-f]{7,40})\] (.+)$/m.exec(output);
  const listed = said ? undefined : /^([0-9a-f]{7,40}) (?!\.\.)(.{8,})$/m.exec(output);
  const match = said ?? listed;
  return match?.[1] && match[2] ? { id: match[1], subject: match[2].trim() } : undefined;
}

/** Returns the beginning and the end of an output. The middle of a long log is not useful. */
function endsOf(output: string, headChars: number, tailChars: number): string {
  const isShort = output.length <= headChars + tailChars;
  return withoutControls(isShort ? output : `${headOf(output, headChars)}\n${tailOf(output, tailChars)}`);
}

/** Removes quoted text. The command's own words decide its kind, not a message or script in it. */
function withoutQuotedText(command: string): string {
  const head = headOf(command, 600);
  const heredoc = heredocAt(head);
  return (heredoc === -1 ? head : head.slice(0, heredoc)).replace(/"[^"]*"|'[^']*'/g, '""');
}

function heredocAt(command: string): number {
  return command.includes("<<") ? command.search(/<<-?\s*['"]?\w/) : -1;
}

/** Returns the command on one line, without comments, variables and a change of directory. */
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
 * Returns the keys that runs of one command share. A failed test run is resolved by the next successful run
 * of the same runner, even if the arguments differ.
 */
export function keysOf({ command, kind }: CommandRun): readonly string[] {
  const runner = kind === "other" ? undefined : runnerOf(command, kind);
  return [commandKey(command), ...(runner === undefined ? [] : [`${kind} ${runner}`])];
}

/** Returns the key of a command. Pipes and wrappers around the command do not change the key. */
function commandKey(command: string): string {
  const end = command.search(/[|;>]/);
  return (end === -1 ? command : command.slice(0, end)).trim().toLowerCase();
}

/** Returns the program and subcommand of the part of a command line that is a command of this kind. */
function runnerOf(command: string, kind: CommandKind): string | undefined {
  const pattern = KINDS.find(([known]) => known === kind)?.[1];
  const part = command.split(/[|;&()]+/).find((segment) => pattern?.test(segment));
  return part === undefined ? undefined : programOf(part.trim());
}

const PROGRAM_AND_VERB = /^(?:\w+=\S*\s+)*(?:(?:sudo|npx|time)\s+)?(\S*)(?:\s+(\S*))?/;

/** Returns the outcome that the output proves, with an arrow, or "" if it is unknown. */
export function outcomeText({ failed, outcome, kind }: CommandRun): string {
  if (failed) return ` → FAILED${outcome === undefined ? "" : ` (${outcome})`}`;
  if (outcome !== undefined) return ` → ${outcome}`;
  return kind === "other" ? "" : " → ok";
}

/**
 * Returns the program and its subcommand, such as `go test` for both `go test ./...` and `go test -v ./x`.
 */
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

export interface ErrorRecord {
  readonly at: number;
  /** The command or tool that failed. */
  readonly source: string;
  readonly text: string;
  readonly occurrences: number;
  /** Weight: 3 for a test, build, check or commit, 2 for another tool, 1 for any other command. */
  readonly weight: 1 | 2 | 3;
  readonly resolution: Resolution | undefined;
}

export interface Resolution {
  readonly at: number;
  readonly how: "passed" | "moved-on";
  readonly editedFiles: readonly string[];
}

interface OpenError {
  record: ErrorRecord;
  readonly keys: readonly string[];
  readonly editedSince: string[];
}

const MAX_EDITED_FILES = 4;

/** Keeps failures open until the same command succeeds, and records which files changed in between. */
export class ErrorLedger {
  readonly #all: OpenError[] = [];

  fileEdited(path: string): void {
    for (const error of this.#all) {
      if (error.record.resolution === undefined && !error.editedSince.includes(path))
        error.editedSince.push(path);
    }
  }

  command(run: CommandRun, output: string): void {
    const keys = keysOf(run);
    if (!run.failed) {
      this.#resolve(keys, run.at, "passed");
      return;
    }
    const failure = failureOf(output);
    if (failure === undefined || (run.kind === "other" && !failure.telling)) return;
    this.#add(run.at, sourceOf(run), failure.text, run.kind === "other" ? 1 : 3, keys);
  }

  tool(at: number, name: string, target: string, output: string, isError: boolean): void {
    const keys = [`tool ${name}`];
    if (!isError) {
      this.#resolve(keys, at, "passed");
      return;
    }
    const failure = failureOf(output);
    if (failure) this.#add(at, target === "" ? name : `${name} ${clip(target, 80)}`, failure.text, 2, keys);
  }

  records(): readonly ErrorRecord[] {
    return this.#all.map((error) => error.record);
  }

  #add(at: number, source: string, text: string, weight: 1 | 2 | 3, keys: readonly string[]): void {
    const same = this.#all.find(
      (error) => error.record.text === text && error.record.resolution === undefined,
    );
    if (same) {
      same.record = { ...same.record, occurrences: same.record.occurrences + 1 };
      return;
    }
    this.#resolve(keys, at, "moved-on");
    this.#all.push({
      record: { at, source, text, occurrences: 1, weight, resolution: undefined },
      keys,
      editedSince: [],
    });
  }

  #resolve(keys: readonly string[], at: number, how: Resolution["how"]): void {
    for (const error of this.#all) {
      if (error.record.resolution !== undefined || !error.keys.some((key) => keys.includes(key))) continue;
      const editedFiles = error.editedSince.slice(-MAX_EDITED_FILES);
      error.record = { ...error.record, resolution: { at, how, editedFiles } };
    }
  }
}

/** Returns the source of a failure. An inline script is described by the agent's words. */
function sourceOf(run: CommandRun): string {
  return run.kind === "other" && run.description ? run.description : run.command;
}

const failureOf = (output: string): FailureText | undefined =>
  isToolSlip(output) ? undefined : failureText(output);

const SCANNED_END_CHARS = 1_500;
const MAX_LINES = 3;
const MAX_LINE_CHARS = 220;
const MIN_TELLING_SCORE = 2;

const LOCATED = /(?:^|[\s(])[\w./\\@-]+\.\w{1,5}[:(]\d+/;
const TELLING: readonly (readonly [pattern: RegExp, score: number])[] = [
  [/^\s*(?:E\s+)?[\w.]*(?:Error|Exception)\b\s*:/, 6],
  [/\b(?:error|fatal|panic|ERR!)\b\s*(?:\[[\w-]+\])?:/i, 5],
  [/^\s*(?:--- )?FAIL\b|^\s*(?:✗|×|✕|●)\s/, 4],
  [
    /\b(?:undefined|cannot|can't|could not|unable to|unexpected|not found|no such|denied|refused|invalid|missing|timed out|unknown|not enough|mismatch|expected)\b/i,
    3,
  ],
  [/\b(?:fail(?:ed|ure|ures)?|errors?|exception|unresolved)\b/i, 2],
  [/ошибк|не найден|не удалось|错误|失败|異常|エラー|失敗|오류|실패|Fehler|erreur|échec/i, 4],
];
const DULL =
  /^\s*(?:at\s|File "|=== (?:RUN|PAUSE|CONT|NAME)|ok\s|PASS|\^|~|hint:|npm (?:notice|warn)|Require stack|\d+ (?:passed|passing)|0 (?:errors?|failures?|failed))|0 (?:errors|failures|failed|issues)|no errors|For more information|Warning: /i;
/** Line that contains only rules, boxes or other drawn characters. */
const RULE = /^[\s\u2500-\u257f=\-_*|+~.]+$/;
const TOOL_ERROR = /^<tool_use_error>([\s\S]*?)<\/tool_use_error>/;

interface FailureText {
  readonly text: string;
  /**
   * False if no line looks like an error. For example, a search without hits ends with a failure code but
   * prints no error.
   */
  readonly telling: boolean;
}

/** Returns the lines that describe the failure, or undefined if there is no output. */
export function failureText(output: string): FailureText | undefined {
  const lines = scannedLines(output);
  const scored = lines.map((line, index) => ({ line, index, score: scoreLine(line) }));
  const best = scored
    .filter(({ score }) => score >= MIN_TELLING_SCORE)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, MAX_LINES)
    .sort((a, b) => a.index - b.index);
  const chosen = best.length > 0 ? best.map(({ line }) => line) : lines.slice(0, 1);
  const unique = [...new Set(chosen.map((line) => clip(line.trim(), MAX_LINE_CHARS)))];
  return unique.length === 0 ? undefined : { text: unique.join("\n"), telling: best.length > 0 };
}

function scannedLines(output: string): string[] {
  const body = endsOf(output, SCANNED_END_CHARS, SCANNED_END_CHARS).replace(EXIT_CODE, "");
  return (TOOL_ERROR.exec(body)?.[1] ?? body)
    .split("\n")
    .filter((line) => line.trim() !== "" && !RULE.test(line));
}

function scoreLine(line: string): number {
  let score = LOCATED.test(line) ? 2 : 0;
  for (const [pattern, value] of TELLING) if (pattern.test(line)) score += value;
  if (score === 0 || DULL.test(line)) return 0;
  return line.length > 500 ? score - 3 : score;
}

/**
 * Returns true for misuse of a tool. The next call corrects such a mistake, and nobody needs to know about it
 * later.
 */
function isToolSlip(output: string): boolean {
  return (
    output.startsWith("[Request interrupted") ||
    TOOL_ERROR.test(output) ||
    /^(?:File does not exist|InputValidationError|String to replace not found|Sibling tool call errored)/.test(
      output,
    )
  );
}

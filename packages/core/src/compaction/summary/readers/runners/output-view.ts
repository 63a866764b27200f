import { headOf, tailOf, withoutControls } from "../../../../messages/text.ts";
import type { OutputFilter } from "./shell-commands.ts";

/** Reads what a tool printed: its exit code, how it ended, and which part of the output is visible. */

/** End of a command that is neither success nor failure. */
export type SpecialEnd = "no-result" | "interrupted" | "timed-out" | "background";

export interface CommandOutput {
  /** Lines without colors. */
  readonly lines: readonly string[];
  /** True if lines are missing in the middle or at the end. */
  readonly isCut: boolean;
  /** True if lines are missing at the end. */
  readonly isEndCut: boolean;
  readonly exitCode: number | undefined;
  readonly end: SpecialEnd | undefined;
}

/** Characters to read at the start of an output. Names of failed tests are there. */
const READ_HEAD_CHARS = 24_000;
/** Characters to read at the end of an output. Summaries are there. */
const READ_TAIL_CHARS = 40_000;
/** A longer line is data and no result. */
const MAX_LINE_CHARS = 1_000;
/** Characters at either end of an output in which an agent's shell tool writes its own notes. */
const NOTE_CHARS = 400;

/** Exit codes as the shell tools of several agents write them, before or after the output. */
const EXIT_CODES: readonly RegExp[] = [
  /^Exit code:? (\d{1,3})\b/,
  /^Process exited with code (\d{1,3})\b/,
  /^Command exited with code (\d{1,3})\b/,
  /^Command failed with exit code (\d{1,3})\b/,
];
const ENDS: readonly (readonly [end: SpecialEnd, pattern: RegExp])[] = [
  ["no-result", /^\[No result: this tool call was interrupted|^\[Tool result missing/],
  ["timed-out", /^(?:Error: )?Command timed out\b|^command timed out after|^Command was killed: timeout/],
  [
    "interrupted",
    /^\[Request interrupted by user|^Command (?:was )?(?:aborted|interrupted)|^<error>Command was aborted|^The user doesn't want to proceed/,
  ],
  [
    "background",
    /^Command running in (?:the )?background with ID|^Command was (?:manually )?(?:backgrounded|moved to the background)|^Process running with session ID/,
  ],
];
/** Exit codes of `timeout`, and of processes that a signal ended. */
const ENDED_BY_SIGNAL: ReadonlyMap<number, SpecialEnd> = new Map([
  [124, "timed-out"],
  [130, "interrupted"],
  [137, "interrupted"],
  [143, "interrupted"],
]);
const TRUNCATED =
  /(?:\.\.\.|…) ?\[?\d[\d,]* (?:lines?|characters|chars|tokens) (?:truncated|omitted)|\d (?:lines|characters) truncated|^\[?(?:Warning: )?(?:output )?truncated\b|Showing lines \d+-\d+ of \d+/i;
const END_CUT = /^<persisted-output>|^Output too large\b|Full output saved to:/;
/** Placeholder for an empty output. */
const NO_OUTPUT = /^(?:\(no output\)|\(Bash completed with no output\)|\(no content\)|Done\.?)$/;
/** Name of the task that task runners print before each line. */
const TASK_PREFIX = /^\[(?:[a-z]+:[\w:-]+|test|lint|fmt|check|build)\] (?!ERROR)/;
/** Lines that wrappers and shell tools add. */
const NOISE =
  /^(?:npm (?:warn|notice|WARN)\b|> \S+@\S+ |> |\$ |\[[\w:-]+\] \$ |Exit code \d|Chunk ID: |Wall time: |Process exited with code|Original token count: |Output:$|Command exited with code |Shell cwd was reset to |\(node:\d+\) |go: downloading )/;

/**
 * Reads an output. `undefined`: the call has no result. Without `needsLines`, it reads only the exit code and
 * the end, because most outputs are files that nobody reads here.
 */
export function readOutput(output: string | undefined, needsLines: boolean): CommandOutput {
  if (output === undefined)
    return { lines: [], isCut: true, isEndCut: true, exitCode: undefined, end: "no-result" };
  const [headChars, tailChars] = needsLines ? [READ_HEAD_CHARS, READ_TAIL_CHARS] : [NOTE_CHARS, NOTE_CHARS];
  const isLong = output.length > headChars + tailChars;
  const read = withoutControls(
    isLong ? `${headOf(output, headChars)}\n${tailOf(output, tailChars)}` : output,
  );
  const all = read.split("\n").map((line) => headOf(line, MAX_LINE_CHARS).trimEnd().replace(TASK_PREFIX, ""));
  const notes = `${headOf(read, NOTE_CHARS)}\n${tailOf(read, NOTE_CHARS)}`
    .split("\n")
    .map((line) => line.trim());
  const exitCode = exitCodeIn(notes);
  const end =
    ENDS.find(([, pattern]) => notes.some((line) => pattern.test(line)))?.[0] ??
    (exitCode === undefined ? undefined : ENDED_BY_SIGNAL.get(exitCode));
  const isEndCut = notes.some((line) => END_CUT.test(line));
  return {
    lines: trimmed(all.map((line) => (NO_OUTPUT.test(line) ? "" : line))),
    isCut: isLong || isEndCut || all.some((line) => TRUNCATED.test(line)),
    isEndCut,
    exitCode,
    end,
  };
}

function exitCodeIn(notes: readonly string[]): number | undefined {
  for (const line of notes) {
    for (const pattern of EXIT_CODES) {
      const code = pattern.exec(line)?.[1];
      if (code !== undefined) return Number(code);
    }
  }
  return undefined;
}

function trimmed(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line !== "");
  return first === -1 ? [] : lines.slice(first, lines.findLastIndex((line) => line !== "") + 1);
}

/** Lines of an output without the lines of wrappers. */
export const ownLines = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => line !== "" && !NOISE.test(line));

/** The part of a run's output that the agent saw. */
export interface OutputView {
  readonly lines: readonly string[];
  readonly isEndSeen: boolean;
  /** Returns true if a line with one of these texts would be visible. */
  keeps(texts: readonly string[]): boolean;
  /** True if the start, the middle and the end are visible. */
  readonly isUncut: boolean;
  /** True if a program removed or changed lines. */
  readonly isFiltered: boolean;
  /** True if nothing was cut out and nothing was filtered. */
  readonly isWhole: boolean;
}

/** Blank lines at either end of an output, which an agent's shell tool may have removed. */
const MAX_TRIMMED_LINES = 4;

/** Returns what is visible of a run whose output went through filters. */
export function viewOf(
  output: CommandOutput,
  filters: readonly OutputFilter[],
  dropsErrors = false,
): OutputView {
  const { lines, isCut, isEndCut } = output;
  const onlyEnds = filters.every(({ kind }) => kind === "head" || kind === "tail");
  const isCutBy = (side: "head" | "tail"): boolean =>
    filters.some(
      (filter) => filter.kind === side && !(onlyEnds && lines.length + MAX_TRIMMED_LINES < filter.lines),
    );
  const isStartSeen = !isCutBy("tail");
  const isEndSeen = !isEndCut && !isCutBy("head");
  const isUncut = isStartSeen && isEndSeen && !isCut;
  return {
    lines: filters.some(({ kind }) => kind === "hidden") ? [] : lines,
    isEndSeen,
    keeps: (texts) => filters.every((filter) => keepsAny(filter, texts)),
    isUncut,
    isFiltered: !onlyEnds,
    isWhole: isUncut && onlyEnds && !dropsErrors,
  };
}

function keepsAny(filter: OutputFilter, texts: readonly string[]): boolean {
  if (filter.kind === "head" || filter.kind === "tail") return true;
  if (filter.kind !== "grep" || filter.texts === undefined) return false;
  const fold = (text: string): string => (filter.ignoresCase ? text.toLowerCase() : text);
  return filter.texts.some((kept) => texts.some((text) => fold(text).includes(fold(kept))));
}

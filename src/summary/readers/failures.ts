import { clip } from "../clip.ts";
import { type CommandRun, EXIT_CODE, endsOf, keysOf } from "./command-runs.ts";

export interface ErrorRecord {
  readonly at: number;
  /** The command or tool that failed. */
  readonly source: string;
  readonly text: string;
  readonly occurrences: number;
  /** 3: a test, build, check or commit; 2: another tool; 1: any other command. */
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

/** Keeps failures open until the same thing succeeds, and remembers which files were changed between. */
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

/** A script on the command line says less about itself than the words it was run with. */
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
/** Drawn boxes and lines. */
const RULE = /^[\s\u2500-\u257f=\-_*|+~.]+$/;
const TOOL_ERROR = /^<tool_use_error>([\s\S]*?)<\/tool_use_error>/;

interface FailureText {
  readonly text: string;
  /** False when no line looks like an error: a search without a hit also ends with a failure code. */
  readonly telling: boolean;
}

/** The lines that say what went wrong, or undefined when there is no output at all. */
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

/** Slips in the use of a tool: the next call puts them right, and nobody needs to know later. */
function isToolSlip(output: string): boolean {
  return (
    output.startsWith("[Request interrupted") ||
    TOOL_ERROR.test(output) ||
    /^(?:File does not exist|InputValidationError|String to replace not found|Sibling tool call errored)/.test(
      output,
    )
  );
}

import { headOf, tailOf, withoutControls } from "../../../messages/text.ts";
import { clip } from "../clip.ts";

/** Finds the lines that describe a failure in the output of a command or tool. */

const SCANNED_END_CHARS = 1_500;
const MAX_LINES = 3;
const MAX_LINE_CHARS = 220;
const MIN_TELLING_SCORE = 2;

const LOCATED = /(?:^|[\s(])[\w./\\@-]+\.\w{1,5}[:(]\d+/;
const TELLING: readonly (readonly [pattern: RegExp, score: number])[] = [
  [/^\s*(?:E\s+)?[\w.]*(?:Error|Exception)\b\s*:/, 6],
  [/\b(?:error|fatal|panic|ERR!)\b\s*(?:\[[\w-]+\])?:/i, 5],
  [/^\s*(?:--- )?FAIL(?:ED)?\b|^\s*(?:✗|×|✕|✘|✖|❌|●|not ok)\s|(?:\s|\.{3}\s?)FAILED$|\*\*\*Failed/, 4],
  [
    /\b(?:undefined|cannot|can't|could not|unable to|unexpected|not found|no such|denied|refused|invalid|missing|timed out|unknown|not enough|mismatch|expected)\b/i,
    3,
  ],
  [/\b(?:fail(?:ed|ure|ures)?|errors?|exception|unresolved)\b/i, 2],
  [/ошибк|не найден|не удалось|错误|失败|異常|エラー|失敗|오류|실패|Fehler|erreur|échec/i, 4],
];
const DULL =
  /^\s*(?:at\s|File "|=== (?:RUN|PAUSE|CONT|NAME)|# Subtest:|ok\s|PASS|\^|~|hint:|npm (?:notice|warn)|Require stack|\d+ (?:passed|passing)|0 (?:errors?|failures?|failed)|Exit code \d|Process exited with|Command exited with)|\b0 (?:errors|failures|failed|issues|fail)\b|no errors|For more information|Warning: /i;
/** Lines of passed tests. Their names can contain any word. */
const PASSING =
  /^\s*(?:✓|✔|√|✅|☑|\[OK\]|--- PASS|PASS(?:ED)?\b|\(pass\)|ok \d)|\.\.\. +(?:ok|Passed)(?: |$)|\sPASSED(?: +\[.*)?$/;
/** Lines of source code that a runner shows beside its line numbers. */
const SOURCE_LINE = /^\s*>?\s*\d+\s*[|│]/;
/** Headings above the description of failures. Lines before them list passed tests too. */
const FAILURE_HEADING =
  /^(?:Failures:|failures:|There (?:was|were) \d+ (?:failure|error)|=+ (?:FAILURES|ERRORS) =+|\s*[1-9]\d* failing\b|.*\bFailed (?:Tests|Suites) \d|✖ failing tests:|The following tests FAILED)/;
/** Line that contains only rules, boxes or other drawn characters. */
const RULE = /^[\s\u2500-\u257f=\-_*|+~.]+$/;
const TOOL_ERROR = /^<tool_use_error>([\s\S]*?)<\/tool_use_error>/;
/** First line of a failed command's output. */
const EXIT_CODE = /^Exit code (\d+)\n?/;

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
  const all = scannedLines(output);
  const heading = all.findIndex((line) => FAILURE_HEADING.test(line));
  const chosen = tellingLines(all.slice(Math.max(0, heading))) ?? tellingLines(all);
  const other = all.filter((line) => !PASSING.test(line)).slice(0, 1);
  const unique = [...new Set((chosen ?? other).map((line) => clip(line.trim(), MAX_LINE_CHARS)))];
  return unique.length === 0 ? undefined : { text: unique.join("\n"), telling: chosen !== undefined };
}

function tellingLines(lines: readonly string[]): readonly string[] | undefined {
  const best = lines
    .map((line, index) => ({ line, index, score: scoreLine(line) }))
    .filter(({ score }) => score >= MIN_TELLING_SCORE)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, MAX_LINES)
    .sort((a, b) => a.index - b.index);
  return best.length === 0 ? undefined : best.map(({ line }) => line);
}

function scannedLines(output: string): string[] {
  const isShort = output.length <= 2 * SCANNED_END_CHARS;
  const ends = isShort
    ? output
    : `${headOf(output, SCANNED_END_CHARS)}\n${tailOf(output, SCANNED_END_CHARS)}`;
  const body = withoutControls(ends).replace(EXIT_CODE, "");
  return (TOOL_ERROR.exec(body)?.[1] ?? body)
    .split("\n")
    .filter((line) => line.trim() !== "" && !RULE.test(line));
}

function scoreLine(line: string): number {
  if (PASSING.test(line) || DULL.test(line) || SOURCE_LINE.test(line)) return 0;
  let score = LOCATED.test(line) ? 2 : 0;
  for (const [pattern, value] of TELLING) if (pattern.test(line)) score += value;
  return line.length > 500 ? score - 3 : score;
}

/**
 * Returns true for misuse of a tool. The next call corrects such a mistake, and nobody needs to know about it
 * later.
 */
export function isToolSlip(output: string): boolean {
  return (
    output.startsWith("[Request interrupted") ||
    TOOL_ERROR.test(output) ||
    /^(?:File does not exist|InputValidationError|String to replace not found|Sibling tool call errored)/.test(
      output,
    ) ||
    WRONG_FOLDER.test(headOf(output, SCANNED_END_CHARS).trim())
  );
}

/** A failed `cd` or a missing project file, and nothing else. */
const WRONG_FOLDER =
  /^(?:Exit code \d+\n)?[^\n]*(?:\bcd: [^\n]*: No such file or directory|does not contain main module or its selected dependencies|go\.mod file not found[^\n]*)$/;

import { headOf, tailOf, withoutControls } from "../../../conversation/text.ts";
import { clip } from "../clip.ts";

/** The ends of an output tell why it failed; the middle of a megabyte of log does not. */
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
const EXIT_CODE = /^Exit code (\d+)\n?/;
const TOOL_ERROR = /^<tool_use_error>([\s\S]*?)<\/tool_use_error>/;

export interface FailureText {
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
  const ends =
    output.length <= 2 * SCANNED_END_CHARS
      ? output
      : `${headOf(output, SCANNED_END_CHARS)}\n${tailOf(output, SCANNED_END_CHARS)}`;
  const body = withoutControls(ends).replace(EXIT_CODE, "");
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

/** A number that only a failed command reports. */
export function exitCode(output: string): number | undefined {
  const code = EXIT_CODE.exec(output)?.[1];
  return code === undefined ? undefined : Number(code);
}

/** Slips in the use of a tool: the next call puts them right, and nobody needs to know later. */
export function isToolSlip(output: string): boolean {
  return (
    output.startsWith("[Request interrupted") ||
    TOOL_ERROR.test(output) ||
    /^(?:File does not exist|InputValidationError|String to replace not found|Sibling tool call errored)/.test(
      output,
    )
  );
}

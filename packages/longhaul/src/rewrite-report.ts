import type { Thresholds } from "@longhaul/core/measure";
import type { Session, WriteTarget, WrittenLines } from "@longhaul/sessions";
import type { Terminal } from "./terminal.ts";
import { gauge } from "./view/bar.ts";
import { formatCount, formatPercent } from "./view/numbers.ts";
import { indented } from "./view/sections.ts";
import { foldText, oneLine, padStart } from "./view/text-width.ts";
import { fullAt, fullWords, type ReportWindow, reportWindow, windowWords } from "./window-report.ts";

/** Common fields of the reports of `compact`, `clear` and `undo`. Stable: see docs/json.md. */
export interface RewriteReport {
  readonly session: { readonly id: string; readonly path: string };
  readonly before: { readonly tokens: number };
  readonly after: { readonly tokens: number };
  readonly window: ReportWindow;
  /**
   * True if the result is below the auto-compact threshold. If auto-compact is off, the blocking limit
   * applies instead.
   */
  readonly fits: boolean;
  /** The file that was written. Null if no file was written. */
  readonly out: string | null;
  readonly written: { readonly mode: WriteTarget["mode"]; readonly sessionId: string } | null;
}

interface Rewritten {
  readonly session: Pick<Session, "id" | "path">;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

export function rewriteReport(
  { session, tokensBefore, tokensAfter }: Rewritten,
  thresholds: Thresholds,
  written: WrittenLines | undefined,
): RewriteReport {
  const window = reportWindow(thresholds);
  return {
    session: { id: session.id, path: session.path },
    before: { tokens: tokensBefore },
    after: { tokens: tokensAfter },
    window,
    fits: tokensAfter < fullAt(window),
    out: written?.path ?? null,
    written: written === undefined ? null : { mode: written.mode, sessionId: written.sessionId },
  };
}

/** Shows two bars, one below the other, as parts of the window. The text about the bars follows. */
export function beforeAndAfter(
  { before, after, window }: Pick<RewriteReport, "before" | "after" | "window">,
  verdicts: readonly string[],
  terminal: Terminal,
): string {
  const { colors, width } = terminal;
  const line = (label: string, tokens: number, color: (text: string) => string): string => {
    const share = tokens / window.size;
    const numbers = `${padStart(formatCount(tokens), 9)} ${padStart(formatPercent(share), 4)}`;
    return `  ${label} ${numbers}  ${color(gauge(share, width - 30))}`;
  };
  const isOver = (tokens: number): boolean => tokens >= fullAt(window);
  return [
    line("before", before.tokens, isOver(before.tokens) ? colors.red : colors.yellow),
    line("after ", after.tokens, isOver(after.tokens) ? colors.red : colors.green),
    colors.dim(indented(`of a ${windowWords(window)}`, terminal)),
    ...verdicts.map((verdict) => indented(verdict, terminal)),
  ].join("\n");
}

/** Says how many tokens are left after a result that fits the window. */
export const roomWords = ({ after, window }: Pick<RewriteReport, "after" | "window">): string =>
  `${formatCount(fullAt(window) - after.tokens)} tokens left until ${fullWords(window)}`;

/** @param isRefused true if writing fails unless the user forces it */
export function writtenLine(
  { out, written, fits }: Pick<RewriteReport, "out" | "written" | "fits">,
  { colors, width }: Terminal,
  isRefused = false,
): string {
  if (out === null || written === null) {
    const force = isRefused ? " With either, add --force." : "";
    const offer = `Add --in-place to append this to the session, or --out FILE to write a new session.${force}`;
    return foldText(`${colors.yellow("Nothing was written.")} ${offer}`, width);
  }
  const done = fits ? colors.green("Done.") : colors.yellow("Done.");
  if (written.mode === "in-place")
    return foldText(`${done} Appended to the session file. Nothing was removed.`, width);
  const sentence = `${done} Wrote session ${oneLine(written.sessionId)}. The original is unchanged:`;
  return `${foldText(sentence, width)}\n${oneLine(out)}`;
}

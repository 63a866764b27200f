import { fullAt, type ReportWindow } from "../report-window.ts";
import type { Terminal } from "../terminal.ts";
import { gauge } from "./bar.ts";
import { formatCount, formatPercent } from "./numbers.ts";
import { foldText, padStart } from "./text-width.ts";
import { windowWords } from "./window-gauge.ts";

export interface BeforeAndAfter {
  readonly before: { readonly tokens: number };
  readonly after: { readonly tokens: number };
  readonly window: Pick<ReportWindow, "size" | "origin" | "autoCompact" | "blocking">;
}

/** Two bars, one below the other, as parts of the window. */
export function beforeAndAfterLines(
  { before, after, window }: BeforeAndAfter,
  { colours, width }: Terminal,
): readonly string[] {
  const line = (label: string, tokens: number, colour: (text: string) => string): string => {
    const share = tokens / window.size;
    const numbers = `${padStart(formatCount(tokens), 9)} ${padStart(formatPercent(share), 4)}`;
    return `  ${label} ${numbers}  ${colour(gauge(share, width - 30))}`;
  };
  const isOver = (tokens: number): boolean => tokens >= fullAt(window);
  return [
    line("before", before.tokens, isOver(before.tokens) ? colours.red : colours.yellow),
    line("after ", after.tokens, isOver(after.tokens) ? colours.red : colours.green),
    colours.dim(foldText(`  of a ${windowWords(window)}`, width, "  ")),
  ];
}

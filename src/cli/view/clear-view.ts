import type { ClearReport } from "../clear-report.ts";
import { fullAt, fullWords } from "../report-window.ts";
import type { Terminal } from "../terminal.ts";
import { beforeAndAfterLines } from "./before-and-after.ts";
import { formatCount, formatPercent, plural } from "./numbers.ts";
import { table } from "./table.ts";
import { fitText, foldText, oneLine, textWidth } from "./text-width.ts";
import { writtenLine } from "./written.ts";

export function clearView(report: ClearReport, terminal: Terminal): string {
  const { colours, width } = terminal;
  const { session } = report;
  return [
    `${colours.bold("Clear")} ${oneLine(session.id)}\n${colours.dim(fitText(session.path, width, "front"))}`,
    [...beforeAndAfterLines(report, terminal), foldText(`  ${verdict(report, terminal)}`, width, "  ")].join(
      "\n",
    ),
    clearedSection(report, terminal),
    writtenLine(report, terminal),
  ].join("\n\n");
}

function verdict({ before, after, window, fits }: ClearReport, { colours }: Terminal): string {
  const saved = `${formatPercent(1 - after.tokens / Math.max(1, before.tokens))} smaller`;
  if (fits)
    return `${saved}; ${formatCount(fullAt(window) - after.tokens)} tokens of room until ${fullWords(window)}`;
  const threshold = formatCount(fullAt(window));
  return colours.red(`${saved}, but still over the threshold of ${threshold}: compact it`);
}

function clearedSection({ cleared }: ClearReport, { colours, width }: Terminal): string {
  const results = cleared.reduce((sum, tool) => sum + tool.results, 0);
  const rows = cleared.map((tool) => [formatCount(tool.tokens), formatCount(tool.results), tool.tool]);
  const columns = [
    { title: "tokens", align: "right" },
    { title: "results", align: "right" },
    { title: "tool" },
  ] as const;
  const body = table(columns, rows, colours.dim, textWidth).split("\n");
  const title = `${colours.bold("Cleared")}     ${plural(results, "tool result")}; the calls and everything else stay`;
  return [foldText(title, width, " ".repeat(12)), ...body.map((line) => `  ${line}`)].join("\n");
}

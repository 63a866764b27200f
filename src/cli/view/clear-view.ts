import type { ClearReport } from "../clear-report.ts";
import type { Terminal } from "../terminal.ts";
import { beforeAndAfterLines } from "./before-and-after.ts";
import { formatCount, formatPercent, plural } from "./numbers.ts";
import { fitText, oneLine, padStart } from "./text-width.ts";
import { writtenLine } from "./written.ts";

export function clearView(report: ClearReport, terminal: Terminal): string {
  const { colours, width } = terminal;
  const { session, before, after, cleared } = report;
  const results = cleared.reduce((sum, tool) => sum + tool.results, 0);
  const saved = `${formatPercent(1 - after.tokens / Math.max(1, before.tokens))} smaller`;
  return [
    `${colours.bold("Clear")} ${oneLine(session.id)}\n${colours.dim(fitText(session.path, width, "front"))}`,
    [...beforeAndAfterLines(report, terminal), `  ${saved}`].join("\n"),
    [
      `${colours.bold("Cleared")}  ${plural(results, "tool result")}; the calls and everything else stay`,
      ...cleared.map(
        ({ tool, results: count, tokens }) =>
          `  ${padStart(formatCount(tokens), 9)}  ${fitText(tool, 30)} ${colours.dim(`${count}×`)}`,
      ),
    ].join("\n"),
    writtenLine(report, terminal),
  ].join("\n\n");
}

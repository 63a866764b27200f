import type { Terminal } from "../../terminal.ts";
import { formatCount, plural } from "../../view/numbers.ts";
import { oneLine, padEnd } from "../../view/text-width.ts";
import type { TourReport } from "./tour-report.ts";

/** What was lost would be shown; a few of them tell enough. */
const MOST_SHOWN = 5;

/** The closing table of a tour that nobody watched. */
export function tourView(report: TourReport, { colours }: Pick<Terminal, "colours">): string {
  const { bold, dim, green, red } = colours;
  const rows = rowsOf(report);
  const width = Math.max(...rows.map(([name]) => name.length));
  const lost = report.said.lost.slice(0, MOST_SHOWN).map((text) => red(`  lost: ${oneLine(text)}`));
  const verdict = report.isSound
    ? green("No request was refused, and nothing that was said is lost.")
    : red(whatIsWrong(report));
  return [
    bold(`A window of ${formatCount(report.windowTokens)} tokens, ${plural(report.turns, "turn")}`),
    ...rows.map(([name, text]) => `  ${dim(padEnd(name, width))}  ${text}`),
    ...lost,
    verdict,
  ].join("\n");
}

function rowsOf(report: TourReport): readonly (readonly [name: string, text: string])[] {
  const { compactions, tokens, said } = report;
  return [
    ["requests", `${formatCount(report.requests)}, ${formatCount(report.refused)} refused`],
    ["fullest", `${formatCount(report.peakTokens)} tokens`],
    ["results cleared", formatCount(report.resultsCleared)],
    ["notes updated", times(report.notesUpdates)],
    ["compactions", `${compactions.memory} from notes, ${compactions.full} by summary`],
    ["written ahead", `${report.fromBackground} of these summaries, in the background`],
    ["recall", times(report.recalls)],
    ["subagents", formatCount(report.subagents)],
    [
      "tokens",
      `${formatCount(tokens.input)} in, ${formatCount(tokens.cacheRead)} of them read from the cache; ${formatCount(tokens.output)} out`,
    ],
    [
      "what you said",
      `${plural(said.total, "message")}: ${formatCount(said.inContext)} still in the context, ${formatCount(said.recoverable)} found by recall, ${formatCount(said.lost.length)} lost`,
    ],
  ];
}

const times = (count: number): string => plural(count, "time");

function whatIsWrong({ refused, said, failures }: TourReport): string {
  const parts = [
    ...(refused > 0 ? [`${plural(refused, "request")} refused`] : []),
    ...(said.lost.length > 0 ? [`${plural(said.lost.length, "message")} lost`] : []),
    ...(failures.length > 0 ? [`${plural(failures.length, "run")} failed (${failures.join(", ")})`] : []),
  ];
  return `Not as it should be: ${parts.join("; ")}.`;
}

import type { Agent } from "@longhaul/agent";
import { readableText } from "@longhaul/core/internal/request";
import { openRecall } from "@longhaul/sessions";
import type { LogTotals, RequestLog } from "@longhaul/simulator";
import type { Terminal } from "../../terminal.ts";
import { formatCount, plural } from "../../view/numbers.ts";
import { fitText, foldText, padEnd } from "../../view/text-width.ts";
import type { TourEvents } from "./tour-events.ts";

/** Result of a tour: the figures of its closing table. */
export interface TourReport extends Pick<TourEvents, "turns" | "peakTokens" | "fromBackground" | "failures"> {
  readonly windowTokens: number;
  /** All calls that reached the simulator, including subagents, notes and summaries. */
  readonly totals: LogTotals;
  /** Calls that were refused or broke a rule of the API. */
  readonly refused: number;
  readonly compactions: { readonly memory: number; readonly full: number };
  readonly resultsCleared: number;
  readonly notesUpdates: number;
  readonly recalls: number;
  readonly subagents: number;
  /**
   * The person's messages. `inContext` counts those that are verbatim in the context. `recoverable` counts
   * those that recall finds. `lost` lists those that are lost.
   */
  readonly said: {
    readonly total: number;
    readonly inContext: number;
    readonly recoverable: number;
    readonly lost: readonly string[];
  };
  /** True if nothing was refused, nothing failed, and nothing was lost. */
  readonly isSound: boolean;
}

export async function tourReport(
  agent: Pick<Agent, "prompts" | "conversation" | "sessionPath" | "reading">,
  seen: TourEvents,
  { totals, invalid, all }: RequestLog,
): Promise<TourReport> {
  const said = await countSurvivingPrompts(agent);
  const { turns, peakTokens, fromBackground, failures } = seen;
  const refused = all.filter((request) => request.error !== undefined || invalid.includes(request)).length;
  const compacted = seen.all("compacted");
  const ofTier = (wanted: string): number => compacted.filter(({ tier }) => tier === wanted).length;
  return {
    windowTokens: agent.reading.thresholds.size,
    ...{ turns, peakTokens, fromBackground, failures, totals, refused, said },
    compactions: { memory: ofTier("memory"), full: ofTier("full") },
    resultsCleared: seen.all("results-cleared").reduce((sum, { results }) => sum + results, 0),
    notesUpdates: seen.all("notes-updated").length,
    recalls: seen.calls.get("recall") ?? 0,
    subagents: seen.subagents.size,
    isSound: refused === 0 && said.lost.length === 0 && failures.length === 0,
  };
}

async function countSurvivingPrompts(
  agent: Pick<Agent, "prompts" | "conversation" | "sessionPath">,
): Promise<TourReport["said"]> {
  const context = spaced(readableText(agent.conversation));
  const recall = openRecall(agent.sessionPath, { indexPath: null });
  const texts = [...new Set((await agent.prompts()).map(({ text }) => text))];
  const gone = texts.filter((text) => !context.includes(spaced(text)));
  const lost: string[] = [];
  for (const text of gone) {
    const { hits } = await recall.search({ exact: text, all: true });
    if (hits.length === 0) lost.push(text);
  }
  return {
    total: texts.length,
    inContext: texts.length - gone.length,
    recoverable: gone.length - lost.length,
    lost,
  };
}

/** Replaces white space with single spaces, so that comparisons ignore line breaks. */
const spaced = (text: string): string => text.replace(/\s+/g, " ");

/** Maximum number of lost messages to show. */
const MAX_SHOWN = 5;

/** Shows the closing table of an unattended tour. */
export function tourView(
  report: TourReport,
  { colors, width: columns }: Pick<Terminal, "colors" | "width">,
): string {
  const { bold, dim, green, red } = colors;
  const rows = rowsOf(report);
  const width = Math.max(...rows.map(([name]) => name.length));
  const lost = report.said.lost
    .slice(0, MAX_SHOWN)
    .map((text) => red(`  lost: ${fitText(text, columns - 8)}`));
  const verdict = report.isSound
    ? green("No request was refused, and no message is lost.")
    : red(whatIsWrong(report));
  return [
    bold(
      foldText(
        `${plural(report.turns, "turn")} in a window of ${formatCount(report.windowTokens)} tokens`,
        columns,
      ),
    ),
    ...rows.map(([name, text]) => foldText(`  ${dim(padEnd(name, width))}  ${text}`, columns, "    ")),
    ...lost,
    foldText(verdict, columns),
  ].join("\n");
}

function rowsOf(report: TourReport): readonly (readonly [name: string, text: string])[] {
  const { compactions, totals, said } = report;
  return [
    ["requests", `${formatCount(totals.requests)}, ${formatCount(report.refused)} refused`],
    ["largest context", `${formatCount(report.peakTokens)} tokens`],
    ["tool results cleared", formatCount(report.resultsCleared)],
    ["notes updated", times(report.notesUpdates)],
    ["compactions", `${compactions.memory} from notes, ${compactions.full} by summary`],
    ["background summaries", formatCount(report.fromBackground)],
    ["recall", times(report.recalls)],
    ["subagents", formatCount(report.subagents)],
    [
      "tokens",
      `${formatCount(totals.inputTokens)} in (${formatCount(totals.cacheReadTokens)} read from the cache), ${formatCount(totals.outputTokens)} out`,
    ],
    [
      "your messages",
      `${formatCount(said.inContext)} in the context, ${formatCount(said.recoverable)} found by recall, ${formatCount(said.lost.length)} lost`,
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
  return `The tour had problems: ${parts.join(", ")}.`;
}

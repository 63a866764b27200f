import { compactionDisabled } from "@longhaul/core/internal/engine";
import type { Thresholds } from "@longhaul/core/measure";
import type { WrittenLines } from "@longhaul/sessions";
import { clearSession, type SessionClearing, writeClearing } from "@longhaul/sessions";
import type { SessionCommand, WindowChoice } from "../composition.ts";
import {
  beforeAndAfter,
  type RewriteReport,
  rewriteReport,
  roomWords,
  writtenLine,
} from "../rewrite-report.ts";
import type { Terminal } from "../terminal.ts";
import { formatCount, formatPercent, plural } from "../view/numbers.ts";
import { joined, labeled, sessionTitle, table } from "../view/sections.ts";
import { fitToolNames } from "../view/tool-names.ts";
import { fullAt } from "../window-report.ts";
import { type TargetChoice, targetOf } from "../write-target.ts";

export interface ClearCommandOptions extends WindowChoice, TargetChoice {
  readonly json?: boolean;
  readonly keep?: number;
  readonly target?: number;
}

/** Clears stale tool results of a session, without a summary or a model. */
export const clear: SessionCommand<ClearCommandOptions> = async (query, options, composition) => {
  if (!composition.settings.compactEnabled) throw compactionDisabled();
  const { terminal } = composition;
  const target = await targetOf(options);
  const session = await composition.load(query, target && options);
  const result = clearSession(session, { keepNewest: options.keep, targetTokens: options.target });
  const written = target && (await writeClearing(result, target, composition));
  const report = clearReport(result, composition.thresholdsOf(session, options), written);
  terminal.print(options.json ? JSON.stringify(report, null, 2) : clearView(report, terminal));
};

/** Output format of `clear --json`. Stable, because other programs read it. See docs/json.md. */
export interface ClearReport extends RewriteReport {
  /** Number of results and their tokens, by tool. */
  readonly cleared: readonly { readonly tool: string; readonly results: number; readonly tokens: number }[];
  readonly toolUseIds: readonly string[];
}

export function clearReport(
  clearing: SessionClearing,
  thresholds: Thresholds,
  writtenLines: WrittenLines | undefined,
): ClearReport {
  const { results } = clearing.clearing;
  const { out, written, ...sizes } = rewriteReport(clearing, thresholds, writtenLines);
  const byTool = new Map<string, { results: number; tokens: number }>();
  for (const { tool, tokens } of results) {
    const sum = byTool.get(tool) ?? { results: 0, tokens: 0 };
    byTool.set(tool, { results: sum.results + 1, tokens: sum.tokens + tokens });
  }
  const cleared = [...byTool].map(([tool, sum]) => ({ tool, ...sum, tokens: Math.round(sum.tokens) }));
  return {
    ...sizes,
    cleared: cleared.sort((a, b) => b.tokens - a.tokens),
    toolUseIds: results.map(({ id }) => id),
    out,
    written,
  };
}

export function clearView(report: ClearReport, terminal: Terminal): string {
  return joined([
    sessionTitle("Clear", report.session, terminal),
    beforeAndAfter(report, [verdict(report, terminal)], terminal),
    clearedSection(report, terminal),
    writtenLine(report, terminal),
  ]);
}

function verdict(report: ClearReport, { colors }: Terminal): string {
  const { before, after, window, fits } = report;
  const saved = `${formatPercent(1 - after.tokens / Math.max(1, before.tokens))} smaller`;
  if (fits) return `${saved}, ${roomWords(report)}`;
  const threshold = formatCount(fullAt(window));
  return colors.red(`${saved}, but still over the threshold of ${threshold}. Compact the session.`);
}

/** Width of the columns before the tool name. */
const NUMBERS_WIDTH = 24;

function clearedSection({ cleared }: ClearReport, terminal: Terminal): string {
  const results = cleared.reduce((sum, tool) => sum + tool.results, 0);
  const names = fitToolNames(
    cleared.map(({ tool }) => tool),
    terminal.width - NUMBERS_WIDTH,
  );
  const rows = cleared.map(({ tool, tokens, results: count }) => [
    formatCount(tokens),
    formatCount(count),
    names.get(tool) ?? tool,
  ]);
  const body = table([">tokens", ">results", "tool"], rows, terminal).split("\n");
  const words = `${plural(results, "tool result")}. The tool calls and all other content stay.`;
  return [labeled("Cleared", words, terminal), ...body.map((line) => `  ${line}`)].join("\n");
}

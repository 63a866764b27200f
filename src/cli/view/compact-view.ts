import { inputTokens } from "../../conversation/usage.ts";
import type { SummaryAttempt } from "../../summary/sources.ts";
import type { CompactReport } from "../compact-report.ts";
import type { Terminal } from "../terminal.ts";
import { beforeAndAfterLines } from "./before-and-after.ts";
import { formatCount, formatDollars, formatPercent, plural } from "./numbers.ts";
import { fitText, oneLine, padStart } from "./text-width.ts";
import { writtenLine } from "./written.ts";

export interface CompactViewOptions {
  readonly showSummary: boolean;
  /** The model that a dry run did not call. */
  readonly modelNotAsked?: string | undefined;
}

export function compactView(report: CompactReport, options: CompactViewOptions, terminal: Terminal): string {
  const sections = [
    header(report, terminal),
    beforeAndAfter(report, terminal),
    whatBecameOfIt(report, terminal),
    options.showSummary ? summaryText(report, terminal) : summaryOutline(report, options, terminal),
    writtenLine(report, terminal),
  ];
  return sections.join("\n\n");
}

function header({ session }: CompactReport, { colours, width }: Terminal): string {
  return `${colours.bold("Compact")} ${oneLine(session.id)}\n${colours.dim(fitText(session.path, width, "front"))}`;
}

function beforeAndAfter(report: CompactReport, terminal: Terminal): string {
  const { before, after, window, fits } = report;
  const saved = formatPercent(1 - after.tokens / before.tokens);
  const verdict = fits
    ? `${saved} smaller; ${formatCount(window.autoCompact - after.tokens)} tokens of room until the next compaction`
    : terminal.colours.red(whyNotFitting(report));
  return [...beforeAndAfterLines(report, terminal), `  ${verdict}`].join("\n");
}

function whyNotFitting({ window, notInFile }: CompactReport): string {
  const threshold = formatCount(window.autoCompact);
  return notInFile >= window.autoCompact
    ? `Still over the threshold of ${threshold}: system prompt and tools alone take ${formatCount(notInFile)}`
    : `Still over the threshold of ${threshold}: see --keep-recent and --no-restore`;
}

function whatBecameOfIt(report: CompactReport, { colours, width }: Terminal): string {
  const { summarised, summary, kept, restored, skipped, hooks } = report;
  const lines = [
    `${colours.bold("Summarised")}  ${plural(summarised.messages, "message")}, ${formatCount(summarised.tokens)} tokens → ${formatCount(summary.tokens)}`,
    `${colours.bold("Kept")}        ${plural(kept.messages, "message")}, ${formatCount(kept.tokens)} tokens, verbatim`,
    `${colours.bold("Put back")}    ${plural(restored.length, "item")}, ${formatCount(restored.reduce((sum, file) => sum + file.tokens, 0))} tokens`,
    ...restored.map(
      ({ displayPath, tokens, truncated }) =>
        `  ${padStart(formatCount(tokens), 7)}  ${fitText(displayPath, width - 24, "front")}${truncated ? colours.dim(" (its head)") : ""}`,
    ),
  ];
  for (const text of hooks) lines.push(colours.dim(`  ${fitText(text, width - 2)}`));
  if (skipped.length > 0) lines.push(colours.dim(`  not put back: ${skippedReasons(report)}`));
  return lines.join("\n");
}

function skippedReasons({ skipped }: CompactReport): string {
  const byReason = new Map<string, number>();
  for (const { reason } of skipped) byReason.set(reason, (byReason.get(reason) ?? 0) + 1);
  return [...byReason]
    .map(([reason, count]) => `${plural(count, "file")} ${reason.replaceAll("-", " ")}`)
    .join(", ");
}

function summaryOutline(
  { summary }: CompactReport,
  { modelNotAsked }: CompactViewOptions,
  { colours }: Terminal,
): string {
  const sections = summary.sections.map((name, index) => `  ${index + 1}. ${name}`);
  const remarks = [
    modelNotAsked === undefined ? "" : `${oneLine(modelNotAsked)} was not asked: a dry run calls no model.`,
    summary.truncated ? "The model reached its output limit: the last section may be incomplete." : "",
    summary.condensedRounds === 0
      ? ""
      : `The oldest ${plural(summary.condensedRounds, "round")} did not fit and went in condensed.`,
  ].filter((remark) => remark !== "");
  return [
    `${colours.bold("Summary")}     ${colours.dim(`${summaryAuthor(summary)}; --summary shows it`)}`,
    ...remarks.map((remark) => colours.yellow(`  ${remark}`)),
    ...wayLine(summary, colours.dim),
    ...sections,
  ].join("\n");
}

/** The chain as it went, where it was more than one step. */
function wayLine({ attempts }: CompactReport["summary"], dim: (text: string) => string): readonly string[] {
  if (attempts.length < 2) return [];
  return [dim(`  ${attempts.map(stepWords).join(" → ")}`)];
}

const STEP_NAMES: Readonly<Record<SummaryAttempt["step"], string>> = {
  provider: "the provider's own",
  fork: "shared prefix",
  direct: "own call",
  "built-in": "built-in summariser",
};

function stepWords({ step, outcome, reason, cuts }: SummaryAttempt): string {
  const facts = [
    ...(outcome === "written" ? [] : [outcome === "failed" ? "failed" : "not available"]),
    ...(reason === undefined ? [] : [reason.replaceAll("-", " ")]),
    ...(cuts === 0 ? [] : [`${plural(cuts, "cut")}`]),
  ];
  return `${STEP_NAMES[step]}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`;
}

function summaryAuthor({ source, model, usage, cost }: CompactReport["summary"]): string {
  if (source === "built-in" || usage === null) return "by the built-in summariser, no model called";
  const price = cost === null ? "" : `, ${formatDollars(cost)}`;
  const read = formatCount(inputTokens(usage));
  return `by ${oneLine(model ?? "")}: ${read} tokens in, ${formatCount(usage.output_tokens)} out${price}`;
}

function summaryText({ summary }: CompactReport, { colours, width }: Terminal): string {
  const rule = colours.dim("─".repeat(width));
  return [rule, printable(summary.text), rule].join("\n");
}

/** Text of a session on a terminal: line breaks and tabs stay, other control characters do not. */
const printable = (text: string): string => text.replace(/[^\P{Cc}\n\t]/gu, "");

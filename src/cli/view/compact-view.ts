import { inputTokens } from "../../conversation/usage.ts";
import type { CompactReport } from "../compact-report.ts";
import type { Terminal } from "../terminal.ts";
import { gauge } from "./bar.ts";
import { formatCount, formatDollars, formatPercent, plural } from "./numbers.ts";
import { fitText, oneLine, padStart } from "./text-width.ts";

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
    outcome(report, terminal),
  ];
  return sections.join("\n\n");
}

function header({ session }: CompactReport, { colours, width }: Terminal): string {
  return `${colours.bold("Compact")} ${oneLine(session.id)}\n${colours.dim(fitText(session.path, width, "front"))}`;
}

function beforeAndAfter(report: CompactReport, { colours, width }: Terminal): string {
  const { before, after, window, fits } = report;
  const line = (label: string, tokens: number, colour: (text: string) => string): string => {
    const share = tokens / window.size;
    const numbers = `${padStart(formatCount(tokens), 9)} ${padStart(formatPercent(share), 4)}`;
    return `  ${label} ${numbers}  ${colour(gauge(share, width - 30))}`;
  };
  const saved = formatPercent(1 - after.tokens / before.tokens);
  const verdict = fits
    ? `${saved} smaller; ${formatCount(window.autoCompact - after.tokens)} tokens of room until the next compaction`
    : colours.red(whyNotFitting(report));
  return [
    line("before", before.tokens, before.tokens >= window.autoCompact ? colours.red : colours.yellow),
    line("after ", after.tokens, fits ? colours.green : colours.red),
    `  ${verdict}`,
  ].join("\n");
}

function whyNotFitting({ window, notInFile }: CompactReport): string {
  const threshold = formatCount(window.autoCompact);
  return notInFile >= window.autoCompact
    ? `Still over the threshold of ${threshold}: system prompt and tools alone take ${formatCount(notInFile)}`
    : `Still over the threshold of ${threshold}: see --keep-recent and --no-restore`;
}

function whatBecameOfIt(report: CompactReport, { colours, width }: Terminal): string {
  const { summarised, summary, kept, restored, skipped } = report;
  const lines = [
    `${colours.bold("Summarised")}  ${plural(summarised.messages, "message")}, ${formatCount(summarised.tokens)} tokens → ${formatCount(summary.tokens)}`,
    `${colours.bold("Kept")}        ${plural(kept.messages, "message")}, ${formatCount(kept.tokens)} tokens, verbatim`,
    `${colours.bold("Put back")}    ${plural(restored.length, "file")}, ${formatCount(restored.reduce((sum, file) => sum + file.tokens, 0))} tokens`,
    ...restored.map(
      ({ displayPath, tokens, truncated }) =>
        `  ${padStart(formatCount(tokens), 7)}  ${fitText(displayPath, width - 24, "front")}${truncated ? colours.dim(" (its head)") : ""}`,
    ),
  ];
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
    ...sections,
  ].join("\n");
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

function outcome({ out, written, fits }: CompactReport, { colours }: Terminal): string {
  if (out === null || written === null) {
    return `${colours.yellow("Nothing was written.")} Add --in-place to append this to the session,\nor --out FILE to make a new one.`;
  }
  const done =
    written.mode === "in-place"
      ? "Appended to the session; nothing was removed from it."
      : `Written as session ${oneLine(written.sessionId)}; the original is untouched:\n${oneLine(out)}`;
  return `${fits ? colours.green("Done.") : colours.yellow("Done.")} ${done}`;
}

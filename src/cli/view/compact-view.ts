import type { CompactReport, RestoredReport } from "../compact-report.ts";
import { fullAt, fullWords } from "../report-window.ts";
import type { Terminal } from "../terminal.ts";
import { beforeAndAfterLines } from "./before-and-after.ts";
import { compactCostSection } from "./cost-view.ts";
import { ledgerLine } from "./ledger-line.ts";
import { formatCount, formatPercent, plural } from "./numbers.ts";
import { skippedWords } from "./skipped-words.ts";
import { type SummaryViewOptions, summarySection } from "./summary-section.ts";
import { fitText, foldText, oneLine, padStart } from "./text-width.ts";
import { writtenLine } from "./written.ts";

export interface CompactViewOptions extends SummaryViewOptions {
  /** The user asked to compact even if it does not pay. */
  readonly isForced?: boolean | undefined;
  /** The user's home folder, shown as `~`. */
  readonly home?: string | undefined;
}

export function compactView(report: CompactReport, options: CompactViewOptions, terminal: Terminal): string {
  const sections = [
    header(report, terminal),
    beforeAndAfter(report, options, terminal),
    whatBecameOfIt(report, options, terminal),
    compactCostSection(report.cost, report.session.model, terminal),
    report.ledger === null ? "" : ledgerLine(report.ledger, terminal),
    hooksSection(report, terminal),
    notesSection(report, terminal),
    summarySection(report.summary, options, terminal),
    writtenLine({ ...report, isRefused: !report.saving.pays && !options.isForced }, terminal),
  ];
  return sections.filter((section) => section !== "").join("\n\n");
}

function header({ session }: CompactReport, { colours, width }: Terminal): string {
  return `${colours.bold("Compact")} ${oneLine(session.id)}\n${colours.dim(fitText(session.path, width, "front"))}`;
}

function beforeAndAfter(report: CompactReport, { isForced }: CompactViewOptions, terminal: Terminal): string {
  const { before, after, window, fits, saving } = report;
  const { colours, width } = terminal;
  const change = after.tokens / before.tokens - 1;
  const size = `${formatPercent(Math.abs(change))} ${change > 0 ? "larger" : "smaller"}`;
  const verdict = fits
    ? `${size}; ${formatCount(fullAt(window) - after.tokens)} tokens of room until ${fullWords(window)}`
    : colours.red(whyNotFitting(report));
  const loss = saving.pays ? [] : [colours.yellow(whyNotPaying(report, isForced === true))];
  const verdicts = [verdict, ...loss].map((line) => foldText(`  ${line}`, width, "  "));
  return [...beforeAndAfterLines(report, terminal), ...verdicts].join("\n");
}

function whyNotPaying({ saving, written }: CompactReport, isForced: boolean): string {
  const { tokens, smallestWorthwhile } = saving;
  const saved = tokens > 0 ? `it saves ${formatCount(tokens)} tokens` : "it saves nothing";
  const figures = `Does not pay: ${saved}, and the smallest worthwhile saving is ${formatCount(smallestWorthwhile)}.`;
  if (isForced) return written === null ? figures : `${figures} Compacted because you asked for it.`;
  return `${figures} With --in-place or --out it would fail and change nothing.`;
}

function whyNotFitting({ window, notInFile }: CompactReport): string {
  const threshold = formatCount(fullAt(window));
  return notInFile >= fullAt(window)
    ? `Still over the threshold of ${threshold}: system prompt and tools alone take ${formatCount(notInFile)}`
    : `Still over the threshold of ${threshold}: see --keep-recent and --no-restore`;
}

function whatBecameOfIt(report: CompactReport, options: CompactViewOptions, terminal: Terminal): string {
  const { colours, width } = terminal;
  const { summarised, summary, kept, restored, skipped } = report;
  const lines = [
    `${colours.bold("Summarised")}  ${plural(summarised.messages, "message")}, ${formatCount(summarised.tokens)} tokens → ${formatCount(summary.tokens)}`,
    foldText(
      `${colours.bold("Kept")}        ${plural(kept.messages, "message")}, ${formatCount(kept.tokens)} tokens, verbatim${coveredWords(report)}${clearedWords(report)}`,
      width,
      " ".repeat(12),
    ),
    `${colours.bold("Put back")}    ${plural(restored.length, "item")}, ${formatCount(restored.reduce((sum, file) => sum + file.tokens, 0))} tokens`,
    ...restored.map(({ kind, displayPath, tokens, truncated }) => {
      const facts = [KIND_LABELS[kind] ?? "", truncated ? "its head" : ""].filter(Boolean).join(", ");
      const name = fitText(displayPath, width - 34, PATH_KINDS.has(kind) ? "front" : "end");
      return `  ${padStart(formatCount(tokens), 7)}  ${name}${facts === "" ? "" : colours.dim(` (${facts})`)}`;
    }),
  ];
  if (skipped.length > 0)
    lines.push(colours.dim(foldText(`  not put back: ${skippedWords(skipped)}`, width, "  ")));
  return [...lines, ...leftOutLines(report, options, terminal)].join("\n");
}

/** Files that a session file must not pull in. */
const LEFT_OUT: Readonly<Record<string, string>> = { "outside-project": "outside", secret: "secret" };
const LEFT_OUT_SHOWN = 5;

function leftOutLines(
  { skipped, project }: CompactReport,
  { home }: CompactViewOptions,
  { colours, width }: Terminal,
): readonly string[] {
  const files = skipped.filter(({ reason }) => LEFT_OUT[reason] !== undefined);
  if (files.length === 0) return [];
  const more = files.length - LEFT_OUT_SHOWN;
  const isAnySecret = files.some(({ reason }) => reason === "secret");
  const advice = [project.advice ?? "", isAnySecret ? "Well-known secrets are never put back." : ""];
  return [
    ...files.slice(0, LEFT_OUT_SHOWN).map(({ path, reason }) => {
      const label = (LEFT_OUT[reason] ?? "").padStart(7);
      return `  ${colours.yellow(label)}  ${fitText(atHome(path, home), width - 11, "front")}`;
    }),
    ...(more > 0 ? [colours.dim(`           and ${more} more`)] : []),
    foldText(`  ${oneLine(advice.filter(Boolean).join(" "))}`, width, "  "),
  ];
}

const atHome = (path: string, home: string | undefined): string =>
  home !== undefined && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;

const coveredWords = ({ kept }: CompactReport): string =>
  kept.inSummary ? "; also covered by the summary" : "";

function clearedWords({ cleared }: CompactReport): string {
  if (cleared.results === 0) return "";
  return `; ${plural(cleared.results, "result")} of ${formatCount(cleared.tokens)} tokens stay cleared`;
}

const PATH_KINDS: ReadonlySet<string> = new Set(["file", "plan", "session-memory"]);

/** What a name alone would not tell. */
const KIND_LABELS: Partial<Readonly<Record<RestoredReport["kind"], string>>> = {
  plan: "the plan",
  skills: "skill",
  agents: "agent",
  "mcp-instructions": "MCP server",
  "session-memory": "notes",
};

function notesSection({ notes, summary }: CompactReport, { colours, width }: Terminal): string {
  if (notes === null) return "";
  const origin = notes.built
    ? "there were none: they were built from the session, without a model"
    : "as they are";
  const facts = [
    origin,
    ...(notes.built && !notes.written ? ["nothing was written"] : []),
    ...(summary.source === "notes" ? [] : ["they were not used"]),
  ];
  return [
    foldText(`${colours.bold("Notes")}       ${facts.join("; ")}`, width, " ".repeat(12)),
    colours.dim(`  ${fitText(notes.path, width - 2, "front")}`),
  ].join("\n");
}

function hooksSection({ hooks }: CompactReport, { colours, width }: Terminal): string {
  if (hooks.length === 0) return "";
  const failed = hooks.filter(({ state }) => state !== "completed").length;
  const verdict = failed === 0 ? `${hooks.length} ran` : `${hooks.length} ran, ${failed} of them failed`;
  return [
    `${colours.bold("Hooks")}       ${verdict}`,
    ...hooks.map(({ state, text }) => {
      // Its name alone may take a line; what it said is what people look for.
      const line = foldText(`  ${fitText(text, 2 * (width - 4))}`, width, "    ");
      return state === "completed" ? colours.dim(line) : colours.yellow(line);
    }),
  ].join("\n");
}

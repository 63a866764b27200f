import type { FactKind, Fate, Ledger, LedgerFact } from "@longhaul/core/messages";
import type { Composition } from "../composition.ts";
import {
  type CompactionLedgerReport,
  type FateCounts,
  type LedgerChoice,
  type LedgerReport,
  ledgerReport,
} from "../ledger-report.ts";
import { tellingLength } from "../prompts-report.ts";
import type { Terminal } from "../terminal.ts";
import { cellsOf } from "../view/bar.ts";
import { skippedWords } from "../view/compact-view.ts";
import { contextWords, goneWords } from "../view/fate-words.ts";
import { formatCount, formatTime, plural } from "../view/numbers.ts";
import { indented, joined, sessionTitle, titled } from "../view/sections.ts";
import { fitText, foldText, oneLine, textWidth } from "../view/text-width.ts";

export interface LedgerOptions extends LedgerChoice {
  readonly json?: boolean;
}

/** What became of what a session's compactions took out of its context. */
export async function ledger(query: string, options: LedgerOptions, composition: Composition): Promise<void> {
  const { terminal } = composition;
  const session = await composition.load(query);
  terminal.progress("Looking for what was compacted …");
  const report = ledgerReport(session, options);
  const view = { ...options, session: query };
  terminal.print(options.json ? JSON.stringify(report, null, 2) : ledgerView(report, view, terminal));
}

/** Rows of a list that is not asked for as a whole. */
const ROWS_SHOWN = 15;
const LONGEST_BAR = 40;
/** Of the columns before the bar. */
const NUMBERS_WIDTH = 48;

/** The newest compaction, or the one that was asked for, in full; of each before it a line. */
export function ledgerView(report: LedgerReport, options: LedgerViewOptions, terminal: Terminal): string {
  const [newest, ...earlier] = report.compactions;
  return joined([
    sessionTitle("Ledger", report.session, terminal),
    ...(newest === undefined
      ? [foldText(NOT_COMPACTED, terminal.width)]
      : compactionSections(newest, options, terminal)),
    earlierSection(earlier, terminal),
  ]);
}

const NOT_COMPACTED =
  "This session has not been compacted on the way to where it is now: all that led there is in the agent's context.";

function compactionSections(
  compaction: CompactionLedgerReport,
  options: LedgerViewOptions,
  terminal: Terminal,
): readonly string[] {
  const { ledger } = compaction;
  const title = compactionTitle(compaction, terminal);
  if (ledger === null) return [`${title}\n${indented(NOTHING_KNOWN, terminal)}`];
  return [
    [title, sizeLine(ledger, terminal)].join("\n"),
    kindsSection(compaction, ledger, terminal),
    restoredSection(ledger, terminal),
    factsSection(compaction, ledger, options, terminal),
  ];
}

const NOTHING_KNOWN =
  "Nothing can be told of it: its boundary has no ledger, and what came before it is not in this file.";

function compactionTitle(compaction: CompactionLedgerReport, terminal: Terminal): string {
  const { colours, width } = terminal;
  const { uuid, timestamp, trigger, before, after, source } = compaction;
  const sizes = [before, after].flatMap((tokens) => (tokens === null ? [] : [formatCount(tokens)]));
  const facts = [
    formatTime(timestamp),
    oneLine(trigger),
    ...(sizes.length === 0 ? [] : [`${sizes.join(" → ")} tokens`]),
  ].join(" · ");
  const told = source === "computed" ? [colours.dim(indented(COMPUTED, terminal))] : [];
  const name = `${colours.bold("Compaction")} ${colours.cyan(fitText(uuid, width - 11))}`;
  return [name, indented(facts, terminal), ...told].join("\n");
}

const COMPUTED =
  "Its boundary has no ledger: this was computed now, from what stands before and after it in the file.";

function sizeLine({ summarised, kept }: Ledger, terminal: Terminal): string {
  const size = ({ messages, tokens }: Ledger["kept"]): string =>
    `${plural(messages, "message")} (${formatCount(tokens)} tokens)`;
  const words = [
    summarised.messages === 0 ? "" : `${size(summarised)} summarised`,
    kept.messages === 0 ? "" : `${size(kept)} kept`,
  ];
  return indented(words.filter((word) => word !== "").join(", "), terminal);
}

function kindsSection({ kinds, counts }: CompactionLedgerReport, ledger: Ledger, terminal: Terminal): string {
  if (counts.facts === 0)
    return foldText("No facts were found in it that a summary could lack.", terminal.width);
  const row = (name: string, one: FateCounts): readonly string[] => [
    name,
    formatCount(one.facts),
    formatCount(one.inContext),
    formatCount(one.recoverable),
    ...(counts.gone > 0 ? [formatCount(one.gone)] : []),
    fatesBar(one, counts.gone > 0 ? 6 : 0, terminal),
  ];
  const gone = counts.gone > 0 ? [">gone"] : [];
  const columns = ["kind", ">facts", ">in context", ">recoverable", ...gone, ""];
  const rows = [
    ...kinds.map((one) => row(KIND_NAMES[one.kind], one)),
    ...(kinds.length > 1 ? [row("all", counts)] : []),
  ];
  return [
    titled("What became of the facts", columns, rows, terminal),
    ...footLines(counts, ledger, terminal),
  ].join("\n");
}

function footLines(counts: FateCounts, ledger: Ledger, terminal: Terminal): readonly string[] {
  const { colours } = terminal;
  const context = counts.inContext === 0 ? "none" : contextWords(counts, ledger.quotedTokens);
  const { untold, earlier } = ledger;
  const others = [
    untold === undefined
      ? ""
      : `${plural(untold, "more fact")} ${untold === 1 ? "was" : "were"} too many to be listed`,
    earlier === undefined
      ? ""
      : `${plural(earlier.facts, "fact")} of earlier compactions: see --boundary ${oneLine(earlier.boundary).slice(0, 8)}`,
  ].filter((line) => line !== "");
  return [
    `  ${colours.dim(LEGEND)}`,
    indented(`In the context: ${context}; ${goneWords(counts, terminal)}.`, terminal),
    ...others.map((line) => colours.dim(indented(line, terminal))),
  ];
}

const LEGEND = "█ summary, kept  ▓ quoted, put back  ░ transcript alone";

function fatesBar(counts: FateCounts, gap: number, { colours, width }: Terminal): string {
  const { summary, kept, quoted, restored, recoverable, gone } = counts;
  const room = Math.max(8, Math.min(LONGEST_BAR, width - NUMBERS_WIDTH - gap));
  const [there = 0, rescued = 0, away = 0, lost = 0] = cellsOf(
    [summary + kept, quoted + restored, recoverable, gone],
    room,
  );
  const part = (count: number, cell: string, colour: (text: string) => string): string =>
    count === 0 ? "" : colour(cell.repeat(count));
  return [
    part(there, "█", colours.green),
    part(rescued, "▓", colours.cyan),
    part(away, "░", colours.yellow),
    part(lost, "×", colours.red),
  ].join("");
}

function restoredSection({ restored, skipped }: Ledger, terminal: Terminal): string {
  const rows = restored
    .slice(0, ROWS_SHOWN)
    .map(({ kind, name, tokens }) => [
      formatCount(tokens),
      fitText(kind, 18),
      fitText(name, terminal.width - 34, "front"),
    ]);
  const { dim } = terminal.colours;
  const more = restored.length - rows.length;
  const tokens = restored.reduce((sum, item) => sum + item.tokens, 0);
  const sum = dim(`(${plural(restored.length, "item")}, ${formatCount(tokens)} tokens)`);
  const not = `${restored.length === 0 ? "Not" : "  not"} put back: ${skippedWords(skipped)}`;
  const lines = [
    titled(`Put back ${sum}`, [">tokens", "kind", "what"], rows, terminal),
    more > 0 ? dim(`  and ${formatCount(more)} more`) : "",
    skipped.length > 0 ? dim(foldText(not, terminal.width, "  ")) : "",
  ];
  return lines.filter((line) => line !== "").join("\n");
}

function earlierSection(earlier: readonly CompactionLedgerReport[], terminal: Terminal): string {
  const rows = earlier.map(({ uuid, timestamp, trigger, source, counts }) => [
    terminal.colours.cyan(fitText(uuid.slice(0, 8), 8)),
    formatTime(timestamp),
    fitText(trigger, 8),
    ...(source === "none"
      ? ["", "", ""]
      : [counts.facts, counts.inContext, counts.recoverable].map(formatCount)),
  ]);
  const columns = ["boundary", "when", "trigger", ">facts", ">in context", ">recoverable"];
  const hint = terminal.colours.dim("(--boundary shows one)");
  return titled(`Earlier compactions ${hint}`, columns, rows, terminal);
}

const LABEL_WIDTH = 21;

/** The facts that are listed, of the session as commands take it. */
type LedgerViewOptions = Pick<LedgerChoice, "all" | "kind"> & { readonly session: string };

const KIND_NAMES: Readonly<Record<FactKind, string>> = {
  directive: "directives",
  question: "questions",
  todo: "to-dos",
  decision: "decisions",
  plan: "plans",
  file: "files",
  command: "commands",
  error: "errors",
  reference: "references",
  quantity: "quantities",
};

/** What is not in the context, or every fact, with the message that it can be read in. */
function factsSection(
  { counts, inThisFile }: CompactionLedgerReport,
  { facts }: Ledger,
  { all = false, kind, session }: LedgerViewOptions,
  terminal: Terminal,
): string {
  const { colours, width } = terminal;
  if (facts.length === 0) return counts.facts === 0 ? "" : foldText(noneListed(kind, all), width);
  const shown = all ? facts : facts.slice(0, ROWS_SHOWN);
  const idLength = tellingLength([...new Set(shown.flatMap(({ entryIds }) => entryIds[0] ?? []))]);
  const labels = shown.map((fact) => labelOf(fact, all));
  const room = width - idLength - Math.max(...labels.map(textWidth)) - 6;
  const rows = shown.map((fact, nth) => [
    colours.cyan(fitText((fact.entryIds[0] ?? "").slice(0, idLength), idLength)),
    labels[nth] ?? "",
    factText(fact, room),
  ]);
  const title = all
    ? "Facts"
    : counts.gone > 0
      ? "Not in the context"
      : "Not in the context, but in the transcript";
  const columns = ["message", all ? "where it is" : "kind", "fact"];
  return [
    titled(`${title} ${colours.dim(`(${formatCount(facts.length)})`)}`, columns, rows, terminal),
    ...(facts.length > shown.length
      ? [colours.dim(`  and ${formatCount(facts.length - shown.length)} more: --all lists every fact`)]
      : []),
    ...(facts.some(({ fate }) => fate === "recoverable")
      ? [colours.dim(indented(howToRead(inThisFile, session), terminal))]
      : []),
  ].join("\n");
}

const howToRead = (inThisFile: boolean, session: string): string =>
  inThisFile
    ? `Read one whole: longhaul recall ${oneLine(session)} --id MESSAGE`
    : "They stand in the session that this one was made from; its summary says where that is.";

function noneListed(kind: FactKind | undefined, all: boolean): string {
  if (all) return `There are no ${KIND_NAMES[kind ?? "directive"]} among the facts.`;
  return kind === undefined
    ? "Every fact is in the context."
    : `None of the ${KIND_NAMES[kind]} is missing from the context.`;
}

/** Of a file what was done to it and the end of its path, which tell most. */
function factText({ kind, text }: LedgerFact, room: number): string {
  const [, deed = "", path = ""] = (kind === "file" && /^(\w+ )(.+)$/s.exec(text)) || [];
  return path === "" ? fitText(text, room) : `${deed}${fitText(path, room - deed.length, "front")}`;
}

const FATE_NAMES: Readonly<Record<Fate, string>> = {
  summary: "summary",
  kept: "kept",
  quoted: "quoted",
  restored: "put back",
  recoverable: "transcript",
  gone: "gone",
};

function labelOf({ kind, status, fate }: LedgerFact, all: boolean): string {
  const name = status === undefined || status === "active" ? kind : `${status} ${kind}`;
  return fitText(all || fate === "gone" ? `${kind}, ${FATE_NAMES[fate]}` : name, LABEL_WIDTH);
}

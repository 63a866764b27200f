import type { FactKind, Fate, Ledger, LedgerFact } from "@longhaul/core/messages";
import type { Composition } from "../composition.ts";
import {
  type CompactionLedgerReport,
  type FateCounts,
  type LedgerChoice,
  type LedgerReport,
  ledgerReport,
} from "../ledger-report.ts";
import { uniqueIdLength } from "../prompts-report.ts";
import type { Terminal } from "../terminal.ts";
import { cellsOf } from "../view/bar.ts";
import { restoredKindName, skippedWords } from "../view/compact-view.ts";
import { contextWords, goneWords } from "../view/fate-words.ts";
import { formatCount, formatTime, plural } from "../view/numbers.ts";
import { type Columns, indented, joined, sessionTitle, titled } from "../view/sections.ts";
import { fitText, foldText, oneLine, textWidth } from "../view/text-width.ts";
import { sessionOrLatest } from "../write-target.ts";

export interface LedgerOptions extends LedgerChoice {
  readonly json?: boolean;
}

/** Shows the current location of the facts that compactions removed from a session's context. */
export async function ledger(
  query: string | undefined,
  options: LedgerOptions,
  composition: Composition,
): Promise<void> {
  const { terminal } = composition;
  const session = await composition.load(await sessionOrLatest(query, composition));
  terminal.progress("Reading the compactions …");
  const report = ledgerReport(session, options);
  const view = { ...options, session: query ?? "latest" };
  terminal.print(options.json ? JSON.stringify(report, null, 2) : ledgerView(report, view, terminal));
}

/** Maximum rows of a list without `--all`. */
const ROWS_SHOWN = 15;
const LONGEST_BAR = 40;
/** Width of the columns before the bar. */
const NUMBERS_WIDTH = 48;

/** Shows the newest or the requested compaction in full, and one line for each earlier compaction. */
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

const NOT_COMPACTED = "This conversation has no compaction: all of it is in the context.";

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
  "No details: its boundary has no ledger, and the messages before it are not in this file.";

function compactionTitle(compaction: CompactionLedgerReport, terminal: Terminal): string {
  const { colors, width } = terminal;
  const { uuid, timestamp, trigger, before, after, promptVersion, source } = compaction;
  const sizes = [before, after].flatMap((tokens) => (tokens === null ? [] : [formatCount(tokens)]));
  const facts = [
    formatTime(timestamp),
    oneLine(trigger),
    ...(sizes.length === 0 ? [] : [`${sizes.join(" → ")} tokens`]),
    ...(promptVersion === null ? [] : [`prompts v${promptVersion}`]),
  ].join(" · ");
  const computed = source === "computed" ? [colors.dim(indented(COMPUTED, terminal))] : [];
  const name = `${colors.bold("Compaction")} ${colors.cyan(fitText(uuid, width - 11))}`;
  return [name, indented(facts, terminal), ...computed].join("\n");
}

const COMPUTED = "The boundary has no ledger. longhaul computed this one from the file.";

function sizeLine({ summarized, kept }: Ledger, terminal: Terminal): string {
  const size = ({ messages, tokens }: Ledger["kept"]): string =>
    `${plural(messages, "message")} (${formatCount(tokens)} tokens)`;
  const words = [
    summarized.messages === 0 ? "" : `${size(summarized)} summarized`,
    kept.messages === 0 ? "" : `${size(kept)} kept`,
  ];
  return indented(words.filter((word) => word !== "").join(", "), terminal);
}

function kindsSection({ kinds, counts }: CompactionLedgerReport, ledger: Ledger, terminal: Terminal): string {
  if (counts.facts === 0) return foldText("No facts were found.", terminal.width);
  const row = (name: string, one: FateCounts): readonly string[] => [
    name,
    formatCount(one.facts),
    formatCount(one.inContext),
    formatCount(one.recoverable),
    ...(counts.gone > 0 ? [formatCount(one.gone)] : []),
    fatesBar(one, counts.gone > 0 ? 6 : 0, terminal),
  ];
  const gone = counts.gone > 0 ? [">lost"] : [];
  const columns: Columns = [
    "kind",
    { title: ">facts", rank: 1 },
    ">in context",
    ">transcript",
    ...gone,
    ...(hasBars(terminal) ? [""] : []),
  ];
  const rows = [
    ...kinds.map((one) => row(KIND_NAMES[one.kind], one)),
    ...(kinds.length > 1 ? [row("all", counts)] : []),
  ];
  return [titled("Facts", columns, rows, terminal), ...footLines(counts, ledger, terminal)].join("\n");
}

function footLines(counts: FateCounts, ledger: Ledger, terminal: Terminal): readonly string[] {
  const { colors } = terminal;
  const context = counts.inContext === 0 ? "none" : contextWords(counts, ledger.quotedTokens);
  const { unlisted, earlier } = ledger;
  const others = [
    unlisted === undefined
      ? ""
      : `${plural(unlisted, "more fact")} ${unlisted === 1 ? "is" : "are"} not listed.`,
    earlier === undefined
      ? ""
      : `${plural(earlier.facts, "fact")} of earlier compactions: see --boundary ${oneLine(earlier.boundary).slice(0, 8)}.`,
  ].filter((line) => line !== "");
  return [
    ...(hasBars(terminal) ? [colors.dim(indented(LEGEND, terminal))] : []),
    indented(`In the context: ${context}. ${goneWords(counts, terminal)}`, terminal),
    ...others.map((line) => colors.dim(indented(line, terminal))),
  ];
}

/** Returns false for a narrow terminal, where the figures need all of the space. */
const hasBars = ({ width }: Terminal): boolean => width >= NUMBERS_WIDTH + 14;

const LEGEND = "█ summary, kept  ▓ quoted, restored  ░ only in the transcript";

function fatesBar(counts: FateCounts, gap: number, { colors, width }: Terminal): string {
  const { summary, kept, quoted, restored, recoverable, gone } = counts;
  const room = Math.max(8, Math.min(LONGEST_BAR, width - NUMBERS_WIDTH - gap));
  const [there = 0, rescued = 0, away = 0, lost = 0] = cellsOf(
    [summary + kept, quoted + restored, recoverable, gone],
    room,
  );
  const part = (count: number, cell: string, color: (text: string) => string): string =>
    count === 0 ? "" : color(cell.repeat(count));
  return [
    part(there, "█", colors.green),
    part(rescued, "▓", colors.cyan),
    part(away, "░", colors.yellow),
    part(lost, "×", colors.red),
  ].join("");
}

function restoredSection({ restored, skipped }: Ledger, terminal: Terminal): string {
  const rows = restored
    .slice(0, ROWS_SHOWN)
    .map(({ kind, name, tokens }) => [formatCount(tokens), fitText(restoredKindName(kind), 18), name]);
  const { dim } = terminal.colors;
  const more = restored.length - rows.length;
  const tokens = restored.reduce((sum, item) => sum + item.tokens, 0);
  const sum = dim(`(${plural(restored.length, "item")}, ${formatCount(tokens)} tokens)`);
  const not = `${restored.length === 0 ? "" : "  "}Not restored: ${skippedWords(skipped)}.`;
  const lines = [
    titled(
      `Restored ${sum}`,
      [">tokens", { title: "kind", rank: 1 }, { title: "name", cut: "front" }],
      rows,
      terminal,
    ),
    more > 0 ? dim(`  and ${formatCount(more)} more`) : "",
    skipped.length > 0 ? dim(foldText(not, terminal.width, "  ")) : "",
  ];
  return lines.filter((line) => line !== "").join("\n");
}

function earlierSection(earlier: readonly CompactionLedgerReport[], terminal: Terminal): string {
  const rows = earlier.map(({ uuid, timestamp, trigger, source, counts }) => [
    terminal.colors.cyan(fitText(uuid.slice(0, 8), 8)),
    formatTime(timestamp),
    fitText(trigger, 8),
    ...(source === "none"
      ? ["", "", ""]
      : [counts.facts, counts.inContext, counts.recoverable].map(formatCount)),
  ]);
  const columns: Columns = [
    "boundary",
    "when",
    { title: "trigger", rank: 2 },
    { title: ">facts", rank: 3 },
    ">in context",
    { title: ">transcript", rank: 1 },
  ];
  const hint = terminal.colors.dim("(--boundary ID shows one)");
  return titled(`Earlier compactions ${hint}`, columns, rows, terminal);
}

const LABEL_WIDTH = 21;

/** Selection of listed facts, and the session argument for hints. */
type LedgerViewOptions = Pick<LedgerChoice, "all" | "kind"> & { readonly session: string };

const KIND_NAMES: Readonly<Record<FactKind, string>> = {
  directive: "directives",
  question: "questions",
  todo: "to-dos",
  decision: "decisions",
  cause: "causes",
  plan: "plans",
  file: "files",
  command: "commands",
  error: "errors",
  reference: "references",
  quantity: "quantities",
};

/**
 * Lists facts that are not in the context, or every fact. Each fact is listed with the message that contains
 * it.
 */
function factsSection(
  { counts, inThisFile }: CompactionLedgerReport,
  { facts }: Ledger,
  { all = false, kind, session }: LedgerViewOptions,
  terminal: Terminal,
): string {
  const { colors, width } = terminal;
  if (facts.length === 0) return counts.facts === 0 ? "" : foldText(noneListed(kind, all), width);
  const shown = all ? facts : facts.slice(0, ROWS_SHOWN);
  const idLength = uniqueIdLength([...new Set(shown.flatMap(({ entryIds }) => entryIds[0] ?? []))]);
  const labelWidth = Math.min(LABEL_WIDTH, Math.floor((width - idLength - 6) / 2));
  const labels = shown.map((fact) => labelOf(fact, all, labelWidth));
  const room = width - idLength - Math.max(...labels.map(textWidth)) - 6;
  const rows = shown.map((fact, nth) => [
    colors.cyan(fitText((fact.entryIds[0] ?? "").slice(0, idLength), idLength)),
    labels[nth] ?? "",
    factText(fact, room),
  ]);
  const title = all ? "Facts" : counts.gone > 0 ? "Not in the context" : "Only in the transcript";
  const columns = ["message", all ? "kind, place" : "kind", "fact"];
  return [
    titled(`${title} ${colors.dim(`(${formatCount(facts.length)})`)}`, columns, rows, terminal),
    ...(facts.length > shown.length
      ? [colors.dim(`  and ${formatCount(facts.length - shown.length)} more. --all lists every fact.`)]
      : []),
    ...(facts.some(({ fate }) => fate === "recoverable")
      ? [colors.dim(indented(howToRead(inThisFile, session), terminal))]
      : []),
  ].join("\n");
}

const howToRead = (inThisFile: boolean, session: string): string =>
  inThisFile
    ? `To read one: longhaul recall ${oneLine(session)} --id MESSAGE`
    : "These messages are in the original session. The summary names its file.";

function noneListed(kind: FactKind | undefined, all: boolean): string {
  if (all) return `There are no ${KIND_NAMES[kind ?? "directive"]} among the facts.`;
  return kind === undefined
    ? "Every fact is in the context."
    : `None of the ${KIND_NAMES[kind]} is missing from the context.`;
}

/**
 * Returns the text of a fact. For a fact about a file, returns the action and the end of the path, because
 * they are the most informative parts.
 */
function factText({ kind, text }: LedgerFact, room: number): string {
  const [, deed = "", path = ""] = (kind === "file" && /^(\w+ )(.+)$/s.exec(text)) || [];
  return path === "" ? fitText(text, room) : `${deed}${fitText(path, room - deed.length, "front")}`;
}

const FATE_NAMES: Readonly<Record<Fate, string>> = {
  summary: "summary",
  kept: "kept",
  quoted: "quoted",
  restored: "restored",
  recoverable: "transcript",
  gone: "lost",
};

function labelOf({ kind, status, fate }: LedgerFact, all: boolean, width: number): string {
  const name = status === undefined || status === "active" ? kind : `${status} ${kind}`;
  return fitText(all || fate === "gone" ? `${kind}, ${FATE_NAMES[fate]}` : name, width);
}

import type { Ledger } from "../../conversation/fact-ledger.ts";
import type { CompactionLedgerReport, FateCounts, LedgerReport } from "../ledger-report.ts";
import type { Terminal } from "../terminal.ts";
import { cellsOf } from "./bar.ts";
import { factsSection, KIND_NAMES, type LedgerViewOptions } from "./ledger-facts.ts";
import { contextWords, goneWords } from "./ledger-line.ts";
import { formatCount, formatTime, plural } from "./numbers.ts";
import { skippedWords } from "./skipped-words.ts";
import type { Column } from "./table.ts";
import { fitText, foldText, oneLine } from "./text-width.ts";
import { titled } from "./titled-table.ts";

const ROWS_SHOWN = 15;
const LONGEST_BAR = 40;
/** Of the columns before the bar. */
const NUMBERS_WIDTH = 48;

/** The newest compaction, or the one that was asked for, in full; of each before it a line. */
export function ledgerView(report: LedgerReport, options: LedgerViewOptions, terminal: Terminal): string {
  const [newest, ...earlier] = report.compactions;
  const sections = [
    header(report, terminal),
    ...(newest === undefined
      ? [foldText(NOT_COMPACTED, terminal.width)]
      : compactionSections(newest, options, terminal)),
    earlierSection(earlier, terminal),
  ];
  return sections.filter((section) => section !== "").join("\n\n");
}

const NOT_COMPACTED =
  "This session has not been compacted on the way to where it is now: all that led there is in the agent's context.";

function header({ session }: LedgerReport, { colours, width }: Terminal): string {
  return `${colours.bold("Ledger")} ${fitText(session.id, width - 7)}\n${colours.dim(fitText(session.path, width, "front"))}`;
}

function compactionSections(
  compaction: CompactionLedgerReport,
  options: LedgerViewOptions,
  terminal: Terminal,
): readonly string[] {
  const { ledger } = compaction;
  const title = compactionTitle(compaction, terminal);
  if (ledger === null) return [`${title}\n${foldText(`  ${NOTHING_KNOWN}`, terminal.width, "  ")}`];
  return [
    [title, sizeLine(ledger, terminal)].join("\n"),
    kindsSection(compaction, ledger, terminal),
    restoredSection(ledger, terminal),
    factsSection(compaction, ledger, options, terminal),
  ];
}

const NOTHING_KNOWN =
  "Nothing can be told of it: its boundary has no ledger, and what came before it is not in this file.";

function compactionTitle(compaction: CompactionLedgerReport, { colours, width }: Terminal): string {
  const { uuid, timestamp, trigger, before, after, source } = compaction;
  const sizes = [before, after].flatMap((tokens) => (tokens === null ? [] : [formatCount(tokens)]));
  const facts = [
    formatTime(timestamp),
    oneLine(trigger),
    ...(sizes.length === 0 ? [] : [`${sizes.join(" → ")} tokens`]),
  ].join(" · ");
  const told = source === "computed" ? [foldText(`  ${COMPUTED}`, width, "  ")] : [];
  const name = `${colours.bold("Compaction")} ${colours.cyan(fitText(uuid, width - 11))}`;
  return [name, foldText(`  ${facts}`, width, "  "), ...told.map(colours.dim)].join("\n");
}

const COMPUTED =
  "Its boundary has no ledger: this was computed now, from what stands before and after it in the file.";

function sizeLine({ summarised, kept }: Ledger, { width }: Terminal): string {
  const size = ({ messages, tokens }: Ledger["kept"]): string =>
    `${plural(messages, "message")} (${formatCount(tokens)} tokens)`;
  const words = [
    summarised.messages === 0 ? "" : `${size(summarised)} summarised`,
    kept.messages === 0 ? "" : `${size(kept)} kept`,
  ];
  return foldText(`  ${words.filter((word) => word !== "").join(", ")}`, width, "  ");
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
  const columns: Column[] = [
    { title: "kind" },
    { title: "facts", align: "right" },
    { title: "in context", align: "right" },
    { title: "recoverable", align: "right" },
    ...(counts.gone > 0 ? [{ title: "gone", align: "right" } as const] : []),
    { title: "" },
  ];
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
  const { colours, width } = terminal;
  const context = counts.inContext === 0 ? "none" : contextWords(counts, ledger.quotedTokens);
  const others = [
    ...(ledger.untold === undefined
      ? []
      : [`${plural(ledger.untold, "more fact")} were too many to be listed`]),
    ...(ledger.earlier === undefined
      ? []
      : [
          `${plural(ledger.earlier.facts, "fact")} of earlier compactions: see --boundary ${oneLine(ledger.earlier.boundary).slice(0, 8)}`,
        ]),
  ];
  return [
    `  ${colours.dim(LEGEND)}`,
    foldText(`  In the context: ${context}; ${goneWords(counts, terminal)}.`, width, "  "),
    ...others.map((line) => colours.dim(foldText(`  ${line}`, width, "  "))),
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
  const more = restored.length - rows.length;
  const tokens = restored.reduce((sum, item) => sum + item.tokens, 0);
  const lines = [
    titled(
      `Put back ${terminal.colours.dim(`(${plural(restored.length, "item")}, ${formatCount(tokens)} tokens)`)}`,
      [{ title: "tokens", align: "right" }, { title: "kind" }, { title: "what" }],
      rows,
      terminal,
    ),
    more > 0 ? terminal.colours.dim(`  and ${formatCount(more)} more`) : "",
    skipped.length > 0
      ? terminal.colours.dim(
          foldText(
            `${restored.length === 0 ? "Not" : "  not"} put back: ${skippedWords(skipped)}`,
            terminal.width,
            "  ",
          ),
        )
      : "",
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
  const columns: Column[] = [
    { title: "boundary" },
    { title: "when" },
    { title: "trigger" },
    { title: "facts", align: "right" },
    { title: "in context", align: "right" },
    { title: "recoverable", align: "right" },
  ];
  return titled(
    `Earlier compactions ${terminal.colours.dim("(--boundary shows one)")}`,
    columns,
    rows,
    terminal,
  );
}

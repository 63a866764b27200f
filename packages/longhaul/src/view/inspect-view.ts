import type { CostReport } from "../cost-report.ts";
import type { BesideReport, InspectReport, MemoryReport } from "../inspect-report.ts";
import { notesFacts } from "../notes-report.ts";
import { collapseSection } from "../spans.ts";
import type { Terminal } from "../terminal.ts";
import { bar } from "./bar.ts";
import { costSection } from "./cost-view.ts";
import { formatBytes, formatCount, formatPercent, formatTime, plural } from "./numbers.ts";
import { type Columns, indented, joined, titled, titleLine } from "./sections.ts";
import { fitText, foldText, isPath, oneLine, padEnd, padStart, textWidth } from "./text-width.ts";
import { fitToolNames } from "./tool-names.ts";
import { windowGauge } from "./window-gauge.ts";

const LABEL_WIDTH = 26;
/** Width of the figures between a label and its bar, including spaces. */
const FIGURES_WIDTH = 20;
const SHORTEST_BAR = 5;
/**
 * Width of the label "System prompt and tools". If the terminal is narrow, labels are shown and bars are
 * omitted.
 */
const MIN_LABEL_WIDTH = 23;

const labelWidthIn = (width: number): number =>
  Math.max(MIN_LABEL_WIDTH, Math.min(LABEL_WIDTH, width - FIGURES_WIDTH - SHORTEST_BAR));
const ROWS_SHOWN = 8;
const SMALLEST_SHARE_SHOWN = 0.005;

type ShownReport = InspectReport & Partial<BesideReport & { readonly cost: CostReport | null }>;

/** Labels for the system prompt and the tools. These are the part of a request that is not messages. */
interface OutsideWords {
  readonly label: string;
  /** Explanation of the label. Empty if the label is enough. */
  readonly note: string;
}

const NOT_IN_FILE: OutsideWords = {
  label: "Not in the file",
  note: "Not in the file: the system prompt, the tools, and text that the agent adds.",
};

/** Formats the report for people. Omits empty sections. */
export function inspectView(
  report: ShownReport,
  terminal: Terminal,
  outside: OutsideWords = NOT_IN_FILE,
): string {
  return joined(
    report.context.messages === 0 ? emptySession(report, terminal) : allSections(report, terminal, outside),
  );
}

function emptySession(report: InspectReport, terminal: Terminal): string[] {
  const nothing = "This session has no messages yet.";
  return [header(report, terminal), nothing, damageSection(report, terminal)];
}

function allSections(report: ShownReport, terminal: Terminal, outside: OutsideWords): string[] {
  return [
    header(report, terminal),
    contextSection(report, terminal),
    costSection(report.cost, report.session.model, terminal),
    accountingSection(report, terminal, outside),
    largestSection(report, terminal),
    duplicatesSection(report, terminal),
    compactionsSection(report, terminal),
    collapseSection(report.collapse, terminal),
    notesSection(report.notes, terminal),
    memorySection(report.memory, report.memory?.folder ?? report.session.cwd, terminal),
    damageSection(report, terminal),
  ];
}

function header({ session }: InspectReport, terminal: Terminal): string {
  const { colors, width } = terminal;
  const entries = `${formatCount(session.entries)} ${session.entries === 1 ? "entry" : "entries"}`;
  const facts = [session.model ?? "unknown model", formatBytes(session.bytes), entries].join(" · ");
  return [
    titleLine("Session", session.id, terminal),
    colors.dim(foldText(oneLine(facts), width)),
    colors.dim(fitText(session.path, width, "front")),
  ].join("\n");
}

/** Shows the size of the context relative to its window. */
export function contextSection(
  { context, window, state }: Pick<InspectReport, "context" | "window" | "state">,
  terminal: Terminal,
): string {
  const { colors } = terminal;
  const origin =
    context.source === "usage"
      ? `${formatCount(context.reportedTokens)} reported by the provider, ${formatCount(context.estimatedTokens)} estimated since then`
      : `Estimated: no response has reported its usage ${context.unreportedSince === null ? "yet" : `since the ${context.unreportedSince}`}.`;
  return [
    foldText(
      `${colors.bold("Context")} ${formatCount(context.tokens)} tokens in ${plural(context.messages, "message")}`,
      terminal.width,
      "  ",
    ),
    colors.dim(indented(origin, terminal)),
    windowGauge({ tokens: context.tokens, window, state }, terminal),
  ].join("\n");
}

interface BarRow {
  readonly label: string;
  readonly tokens: number;
  readonly isDetail?: boolean;
}

function accountingSection({ accounting }: InspectReport, terminal: Terminal, outside: OutsideWords): string {
  const whole = accounting.total + accounting.notInFile;
  const labelWidth = labelWidthIn(terminal.width) - 2;
  const rows: BarRow[] = [
    { label: "Tool results", tokens: accounting.toolResultTokens },
    ...details(accounting.toolResults, whole, labelWidth),
    { label: "Tool calls", tokens: accounting.toolRequestTokens },
    ...details(accounting.toolRequests, whole, labelWidth),
    { label: "Assistant text", tokens: accounting.assistantText },
    { label: "User text", tokens: accounting.humanText },
    { label: "Local command output", tokens: accounting.localCommandOutput },
    { label: "Other", tokens: accounting.other },
    ...details(accounting.otherByKind, whole, labelWidth),
    { label: outside.label, tokens: accounting.notInFile },
  ];
  const shown = rows.filter(({ tokens }) => tokens > 0);
  const note = terminal.colors.dim(foldText(`  ${outside.note}`, terminal.width, "  "));
  const lines = shown.map((row) => barLine(row, whole, terminal));
  const hasNote = accounting.notInFile > 0 && outside.note !== "";
  return [terminal.colors.bold("Where the tokens are"), ...lines, ...(hasNote ? [note] : [])].join("\n");
}

/** Shows the parts of a category by name. Combines parts that are too small to see. */
function details(record: Readonly<Record<string, number>>, whole: number, width: number): BarRow[] {
  const labels = fitToolNames(Object.keys(record), width);
  const rows = Object.entries(record).map(
    ([name, tokens]): BarRow => ({ label: labels.get(name) ?? name, tokens, isDetail: true }),
  );
  const shown = rows.filter(({ tokens }) => tokens >= whole * SMALLEST_SHARE_SHOWN).slice(0, ROWS_SHOWN);
  const rest = rows.slice(shown.length);
  if (rest.length === 0 || shown.length === 0) return shown;
  const tokens = rest.reduce((sum, row) => sum + row.tokens, 0);
  return [...shown, { label: `${rest.length} more`, tokens, isDetail: true }];
}

function barLine({ label, tokens, isDetail }: BarRow, whole: number, { colors, width }: Terminal): string {
  const share = whole === 0 ? 0 : tokens / whole;
  const labelWidth = labelWidthIn(width);
  const name = isDetail ? `  ${oneLine(label)}` : fitText(label, labelWidth);
  const labeled = padEnd(name, labelWidth);
  const numbers = `${padStart(formatCount(tokens), 9)} ${padStart(formatPercent(share), 4)}`;
  const room = width - labelWidth - FIGURES_WIDTH;
  const graph = room < SHORTEST_BAR ? "" : `  ${bar(share, room)}`;
  return `  ${isDetail ? colors.dim(labeled) : labeled} ${numbers}${isDetail ? colors.dim(graph) : colors.cyan(graph)}`;
}

const LONGEST_TOOL_NAME = 28;
/** Width of a token count and the spaces around the columns. */
const TOKENS_WIDTH = 13;

function largestSection({ largest, session }: InspectReport, terminal: Terminal): string {
  const shown = largest.filter(({ tokens }) => tokens > 0).slice(0, ROWS_SHOWN);
  const toolWidth = Math.min(LONGEST_TOOL_NAME, Math.floor(terminal.width / 3));
  const tools = fitToolNames(
    shown.map(({ tool }) => tool),
    toolWidth,
  );
  const room = terminal.width - Math.max(...[...tools.values()].map(textWidth)) - TOKENS_WIDTH;
  const rows = shown.map(({ tokens, tool, subject, isCleared }) => {
    const input = inProject(subject ?? "", session.cwd);
    return [
      formatCount(tokens),
      tools.get(tool) ?? tool,
      fitText(isCleared ? `(cleared) ${input}` : input, room, isPath(input) ? "front" : "end"),
    ];
  });
  return titled("Largest tool results", [">tokens", "tool", "input"], rows, terminal);
}

function duplicatesSection({ duplicates, session }: InspectReport, terminal: Terminal): string {
  const wasted = duplicates.reduce((sum, read) => sum + read.wastedTokens, 0);
  const rows = duplicates
    .slice(0, ROWS_SHOWN)
    .map(({ path, reads, wastedTokens }) => [
      formatCount(wastedTokens),
      formatCount(reads),
      inProject(path, session.cwd),
    ]);
  const total = `(${plural(duplicates.length, "file")}, ${formatCount(wasted)} tokens wasted)`;
  return titled(
    `Files read more than once ${terminal.colors.dim(total)}`,
    [">wasted", ">reads", { title: "file", cut: "front" }],
    rows,
    terminal,
  );
}

function compactionsSection({ compactions }: InspectReport, terminal: Terminal): string {
  const rows = compactions.map(({ timestamp, trigger, preTokens, postTokens, fromNotes, isCurrent }) => [
    formatTime(timestamp),
    `${oneLine(String(trigger))}${fromNotes ? ", from notes" : ""}`,
    preTokens === null ? "?" : formatCount(preTokens),
    postTokens === null ? "" : formatCount(postTokens),
    isCurrent ? "the context starts here" : "",
  ]);
  const columns: Columns = [
    "when",
    { title: "trigger", cut: "end" },
    ">before",
    ">after",
    { title: "", rank: 1 },
  ];
  return titled("Compactions", columns, rows, terminal);
}

function damageSection({ session }: InspectReport, { colors, width }: Terminal): string {
  if (session.damage.length === 0) return "";
  const byKind = new Map<string, number>();
  for (const { kind } of session.damage) byKind.set(kind, (byKind.get(kind) ?? 0) + 1);
  const lines = [...byKind].map(([kind, count]) => `  ${formatCount(count)} × ${kind.replaceAll("-", " ")}`);
  return [colors.yellow(foldText(DAMAGE, width)), ...lines].join("\n");
}

const DAMAGE = "Damage in the file (longhaul works around it and changes nothing)";

/** Shows paths relative to the project. */
function inProject(subject: string, cwd: string | null): string {
  return cwd !== null && /^[\\/]/.test(subject.slice(cwd.length)) && subject.startsWith(cwd)
    ? subject.slice(cwd.length + 1)
    : subject;
}

const FILES_SHOWN = 12;
const MEMORY_COLUMNS: Columns = [
  ">tokens",
  { title: "file", cut: "front", least: 14 },
  { title: "state", cut: "end", least: 10 },
];

export function notesSection(notes: BesideReport["notes"] | undefined, terminal: Terminal): string {
  if (notes === undefined || notes === null) return "";
  const { colors, width } = terminal;
  const title = `${colors.bold("Notes")} ${colors.dim(fitText(notes.path, width - 6, "front"))}`;
  if ("problem" in notes) {
    const problem = foldText(`  Cannot be read: ${oneLine(notes.problem)}`, width, "  ");
    return `${title}\n${colors.yellow(problem)}`;
  }
  const over = notes.overLimit.map((name) => oneLine(name)).join(", ");
  const remark = over === "" ? [] : [colors.yellow(foldText(`  Over the limit: ${over}`, width, "  "))];
  return [title, notesFacts(notes, terminal), ...remark].join("\n");
}

/**
 * Shows the memory files that were attached, and the memory files that would be attached now. One row per
 * file.
 */
export function memorySection(
  memory: MemoryReport | undefined,
  cwd: string | null,
  terminal: Terminal,
): string {
  if (memory === undefined) return "";
  const attached = memory.attached.map(({ path, tokens, times, isVisible }) => {
    const how = times === 1 ? "attached" : `attached ${times} times`;
    return { path, tokens, how: isVisible ? how : `${how}, no longer in the context` };
  });
  const isListed = new Set(attached.map(({ path }) => path));
  const others = memory.governing.filter(({ path }) => !isListed.has(path));
  const onDisk = others.map(({ path, tokens }) => ({ path, tokens, how: "on disk, not attached" }));
  const unread = memory.skipped.map(({ path, reason }) => ({ path, tokens: undefined, how: reason }));
  const files = [...attached, ...onDisk, ...unread];
  const rows = files
    .slice(0, FILES_SHOWN)
    .map(({ path, tokens, how }) => [
      tokens === undefined ? "" : formatCount(tokens),
      inProject(path, cwd),
      how.replaceAll("-", " "),
    ]);
  const visible = memory.attached.filter(({ isVisible }) => isVisible);
  const total = visible.reduce((sum, { tokens }) => sum + tokens, 0);
  const more = files.length > FILES_SHOWN ? `, ${files.length - FILES_SHOWN} more not shown` : "";
  const sum = `(${plural(visible.length, "file")} in the context, ${formatCount(total)} tokens${more})`;
  return titled(`Memory files ${terminal.colors.dim(sum)}`, MEMORY_COLUMNS, rows, terminal);
}

import type { CostReport } from "../cost-report.ts";
import type { BesideReport, InspectReport, MemoryReport } from "../inspect-report.ts";
import { notesFacts } from "../notes-report.ts";
import { collapseSection } from "../spans.ts";
import type { Terminal } from "../terminal.ts";
import { bar } from "./bar.ts";
import { costSection } from "./cost-view.ts";
import { formatBytes, formatCount, formatPercent, formatTime, plural } from "./numbers.ts";
import { joined, titled, titleLine } from "./sections.ts";
import { fitText, foldText, oneLine, padEnd, padStart } from "./text-width.ts";
import { windowGauge } from "./window-gauge.ts";

const LABEL_WIDTH = 26;
const ROWS_SHOWN = 8;
const SMALLEST_SHARE_SHOWN = 0.005;

type ShownReport = InspectReport & Partial<BesideReport & { readonly cost: CostReport | null }>;

/** What a request holds beside the messages, in words. */
interface OutsideWords {
  readonly label: string;
  /** Empty where the label says it. */
  readonly note: string;
}

const NOT_IN_FILE: OutsideWords = {
  label: "Not in the file",
  note: "Not in the file: system prompt, tools, and what the agent adds by itself.",
};

/** The report as people see it; a section that has nothing to say is left out. */
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
  const nothing = "This session has no messages: nothing has been said in it yet.";
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
  const { colours, width } = terminal;
  const entries = `${formatCount(session.entries)} ${session.entries === 1 ? "entry" : "entries"}`;
  const facts = [session.model ?? "unknown model", formatBytes(session.bytes), entries].join(" · ");
  return [
    titleLine("Session", session.id, terminal),
    colours.dim(fitText(facts, width)),
    colours.dim(fitText(session.path, width, "front")),
  ].join("\n");
}

/** How large the context is, beside its window. */
export function contextSection(
  { context, window, state }: Pick<InspectReport, "context" | "window" | "state">,
  terminal: Terminal,
): string {
  const { colours } = terminal;
  const origin =
    context.source === "usage"
      ? `${formatCount(context.reportedTokens)} as the provider last counted, ${formatCount(context.estimatedTokens)} estimated since`
      : `estimated: no response ${context.unreportedSince === null ? "so far" : `since the ${context.unreportedSince}`} reports its usage`;
  return [
    `${colours.bold("Context")} ${formatCount(context.tokens)} tokens in ${plural(context.messages, "message")}`,
    `  ${colours.dim(origin)}`,
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
  const rows: BarRow[] = [
    { label: "Tool results", tokens: accounting.toolResultTokens },
    ...details(accounting.toolResults, whole),
    { label: "Tool requests", tokens: accounting.toolRequestTokens },
    ...details(accounting.toolRequests, whole),
    { label: "Assistant text", tokens: accounting.assistantText },
    { label: "Human text", tokens: accounting.humanText },
    { label: "Local command output", tokens: accounting.localCommandOutput },
    { label: "Other", tokens: accounting.other },
    ...details(accounting.otherByKind, whole),
    { label: outside.label, tokens: accounting.notInFile },
  ];
  const shown = rows.filter(({ tokens }) => tokens > 0);
  const note = terminal.colours.dim(foldText(`  ${outside.note}`, terminal.width, "  "));
  const lines = shown.map((row) => barLine(row, whole, terminal));
  const hasNote = accounting.notInFile > 0 && outside.note !== "";
  return [terminal.colours.bold("Where the tokens are"), ...lines, ...(hasNote ? [note] : [])].join("\n");
}

/** What makes up a category, by name; what is too small to see goes into one row. */
function details(record: Readonly<Record<string, number>>, whole: number): BarRow[] {
  const rows = Object.entries(record).map(([label, tokens]): BarRow => ({ label, tokens, isDetail: true }));
  const shown = rows.filter(({ tokens }) => tokens >= whole * SMALLEST_SHARE_SHOWN).slice(0, ROWS_SHOWN);
  const rest = rows.slice(shown.length);
  if (rest.length === 0 || shown.length === 0) return shown;
  const tokens = rest.reduce((sum, row) => sum + row.tokens, 0);
  return [...shown, { label: `${rest.length} more`, tokens, isDetail: true }];
}

function barLine({ label, tokens, isDetail }: BarRow, whole: number, { colours, width }: Terminal): string {
  const share = whole === 0 ? 0 : tokens / whole;
  const name = padEnd(fitText(isDetail ? `  ${label}` : label, LABEL_WIDTH), LABEL_WIDTH);
  const labelled = isDetail
    ? colours.dim(`  ${oneLine(label)}`.padEnd(LABEL_WIDTH).slice(0, LABEL_WIDTH))
    : name;
  const numbers = `${padStart(formatCount(tokens), 9)} ${padStart(formatPercent(share), 4)}`;
  const graph = bar(share, width - LABEL_WIDTH - 20);
  return `  ${labelled} ${numbers}  ${isDetail ? colours.dim(graph) : colours.cyan(graph)}`;
}

function largestSection({ largest, session }: InspectReport, terminal: Terminal): string {
  const shown = largest.filter(({ tokens }) => tokens > 0).slice(0, ROWS_SHOWN);
  const rows = shown.map(({ tokens, tool, subject, isCleared }) => {
    const of = inProject(subject ?? "", session.cwd);
    return [
      formatCount(tokens),
      fitText(tool, 20),
      fitText(isCleared ? `(cleared) ${of}` : of, terminal.width - 36, isPath(of) ? "front" : "end"),
    ];
  });
  return titled("Largest results", [">tokens", "tool", "of"], rows, terminal);
}

function duplicatesSection({ duplicates, session }: InspectReport, terminal: Terminal): string {
  const wasted = duplicates.reduce((sum, read) => sum + read.wastedTokens, 0);
  const rows = duplicates
    .slice(0, ROWS_SHOWN)
    .map(({ path, reads, wastedTokens }) => [
      formatCount(wastedTokens),
      `${reads} times`,
      fitText(inProject(path, session.cwd), terminal.width - 26, "front"),
    ]);
  const total = `(${plural(duplicates.length, "file")}, ${formatCount(wasted)} tokens spent again)`;
  return titled(
    `Files read more than once ${terminal.colours.dim(total)}`,
    [">again", "read", "file"],
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
    isCurrent ? "the conversation starts here" : "",
  ]);
  const columns = ["when", "trigger", ">before", ">after", ""];
  return titled("Compactions so far", columns, rows, terminal);
}

function damageSection({ session }: InspectReport, { colours }: Terminal): string {
  if (session.damage.length === 0) return "";
  const byKind = new Map<string, number>();
  for (const { kind } of session.damage) byKind.set(kind, (byKind.get(kind) ?? 0) + 1);
  const lines = [...byKind].map(([kind, count]) => `  ${formatCount(count)} × ${kind.replaceAll("-", " ")}`);
  return [colours.yellow("Damage in the file (worked around, nothing was changed)"), ...lines].join("\n");
}

const isPath = (subject: string): boolean => /^[^\s]*[\\/][^\s]*$/.test(subject);

/** Paths are shown as the agent's user thinks of them: from the project on. */
function inProject(subject: string, cwd: string | null): string {
  return cwd !== null && /^[\\/]/.test(subject.slice(cwd.length)) && subject.startsWith(cwd)
    ? subject.slice(cwd.length + 1)
    : subject;
}

const FILES_SHOWN = 12;

export function notesSection(notes: BesideReport["notes"] | undefined, terminal: Terminal): string {
  if (notes === undefined || notes === null) return "";
  const { colours, width } = terminal;
  const title = `${colours.bold("Notes")} ${colours.dim(fitText(notes.path, width - 6, "front"))}`;
  if ("problem" in notes) {
    const problem = foldText(`  They cannot be read: ${oneLine(notes.problem)}`, width, "  ");
    return `${title}\n${colours.yellow(problem)}`;
  }
  const over = notes.overLimit.map((name) => oneLine(name)).join(", ");
  const remark = over === "" ? [] : [colours.yellow(foldText(`  Over their limit: ${over}`, width, "  "))];
  return [title, notesFacts(notes, terminal), ...remark].join("\n");
}

/** What was attached, and what would be now. One file is one row. */
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
      fitText(inProject(path, cwd), terminal.width - 50, "front"),
      fitText(how.replaceAll("-", " "), 36),
    ]);
  const visible = memory.attached.filter(({ isVisible }) => isVisible);
  const total = visible.reduce((sum, { tokens }) => sum + tokens, 0);
  const more = files.length > FILES_SHOWN ? `; ${files.length - FILES_SHOWN} more not shown` : "";
  const sum = `(${plural(visible.length, "file")} in the context, ${formatCount(total)} tokens${more})`;
  return titled(`Memory files ${terminal.colours.dim(sum)}`, [">tokens", "file", ""], rows, terminal);
}

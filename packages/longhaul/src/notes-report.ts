import { inputTokens, timeOf } from "@longhaul/core/internal/messages";
import { countMessages } from "@longhaul/core/internal/request";
import { costOf } from "@longhaul/core/measure";
import type { ModelUsage } from "@longhaul/core/models";
import {
  measureNotes,
  type NotesLimits,
  type NotesSize,
  overLimits,
  sectionName,
} from "@longhaul/notes/internal/format";
import type { BuiltNotes, NotesCoverage, ReadNotes, Session } from "@longhaul/sessions";
import { counterFor } from "@longhaul/sessions/internal";
import type { Colors, Terminal } from "./terminal.ts";
import { bar, gauge } from "./view/bar.ts";
import { formatCount, formatDollars, formatPercent, formatTime, ID_SHOWN, plural } from "./view/numbers.ts";
import { titleLine } from "./view/sections.ts";
import { fitText, foldText, oneLine, padEnd, padStart, shownText } from "./view/text-width.ts";

/** Output format of `notes --json`. Stable, because other programs read it. See docs/json.md. */
export interface NotesReport extends NotesFigures {
  readonly session: { readonly id: string; readonly path: string };
  /** Says whether the notes were only shown, or how they were created. */
  readonly outcome: "shown" | BuiltNotes["outcome"];
  readonly written: boolean;
  /** How this run wrote the notes. Null if this run did not write notes. */
  readonly work: NotesWorkReport | null;
  /** The user's text above the first heading. */
  readonly preface: string;
  readonly sections: readonly NotesSectionReport[];
}

/** Figures that `inspect` shows too. */
export interface NotesFigures {
  readonly path: string;
  readonly tokens: number;
  readonly limits: NotesLimits;
  /** Names of sections that exceed their limit. */
  readonly overLimit: readonly string[];
  readonly covers: CoverageReport;
}

export interface NotesSectionReport {
  readonly name: string;
  readonly tokens: number;
  readonly text: string;
}

export interface CoverageReport {
  readonly state: NotesCoverage["state"];
  /** Newest message that the notes cover, according to the notes. */
  readonly uuid: string | null;
  readonly timestamp: string | null;
  /** Number of messages that the notes do not cover. Null if unknown. */
  readonly newer: number | null;
}

export interface NotesWorkReport extends Pick<BuiltNotes, "by" | "messages" | "calls" | "edits" | "refused"> {
  readonly model: string | null;
  /** False if edits were refused and never corrected. */
  readonly complete: boolean;
  /**
   * Set if the model did not answer in time. `reason` is the reason, and `messages` is the number of messages
   * that were noted without the model.
   */
  readonly fallback: { readonly reason: string; readonly messages: number } | null;
  readonly usage: ModelUsage | null;
  readonly cost: number | null;
}

export function notesFigures(session: Session, read: ReadNotes, limits: NotesLimits): NotesFigures {
  return figuresOf(read, measureNotes(read.notes, counterFor(session)), limits);
}

function figuresOf(read: ReadNotes, size: NotesSize, limits: NotesLimits): NotesFigures {
  const overLimit = overLimits(size, limits).sections.map(({ heading }) => sectionName(heading));
  return { path: read.path, tokens: size.tokens, limits, overLimit, covers: coverageReport(read) };
}

export function notesReport(
  session: Session,
  read: ReadNotes | BuiltNotes,
  limits: NotesLimits,
  model: string | undefined,
): NotesReport {
  const size = measureNotes(read.notes, counterFor(session));
  const built = "outcome" in read ? read : undefined;
  return {
    session: { id: session.id, path: session.path },
    ...figuresOf(read, size, limits),
    outcome: built?.outcome ?? "shown",
    written: built?.isWritten ?? false,
    work: built === undefined || built.outcome === "up-to-date" ? null : workReport(built, model),
    preface: read.notes.preface,
    sections: read.notes.sections.map(({ heading, body }, at) => ({
      name: sectionName(heading),
      tokens: size.sections[at]?.tokens ?? 0,
      text: body,
    })),
  };
}

function coverageReport({ coverage, notes }: ReadNotes): CoverageReport {
  const isKnown = coverage.state === "known";
  return {
    state: coverage.state,
    uuid: notes.coveredUuid || null,
    timestamp: isKnown && coverage.upTo !== undefined ? (timeOf(coverage.upTo) ?? null) : null,
    newer: isKnown ? countMessages(coverage.fresh) : null,
  };
}

function workReport(built: BuiltNotes, model: string | undefined): NotesWorkReport {
  const { by, messages, calls, edits, refused, isComplete: complete, fallback = null, usage = null } = built;
  const cost = (usage !== null && model !== undefined ? costOf(usage, model) : undefined) ?? null;
  return { by, model: model ?? null, messages, calls, edits, refused, complete, fallback, usage, cost };
}

export interface NotesViewOptions {
  /** The model that was named but not called. */
  readonly modelNotAsked: string | undefined;
  readonly isDryRun: boolean;
}

const BAR_WIDTH = 10;
/** Width of a count, its limit and a bar. */
const FIGURES_WIDTH = BAR_WIDTH + 16;
const INDENT = "  ";

export function notesView(report: NotesReport, options: NotesViewOptions, terminal: Terminal): string {
  const preface = report.preface === "" ? [] : [bodyLines(report.preface, terminal)];
  if (report.outcome === "up-to-date" && report.tokens === 0) {
    return `${titleLine("Notes", report.session.id, terminal)}\n\n${foldText(NOTHING_SAID, terminal.width)}`;
  }
  return [
    titleLine("Notes", report.session.id, terminal),
    notesFacts(report, terminal),
    ...preface,
    ...report.sections.map((section) => sectionView(section, report, terminal)),
    closing(report, options, terminal),
  ].join("\n\n");
}

const NOTHING_SAID = "This session has no messages yet, so there are no notes.";

/** Shows the size and coverage of the notes. `inspect` shows them too. */
export function notesFacts(figures: NotesFigures, terminal: Terminal): string {
  const { tokens, limits } = figures;
  const { colors, width } = terminal;
  const share = tokens / limits.totalTokens;
  const size = `${formatCount(tokens)} tokens`;
  const wide = `${size}, ${formatPercent(share)} of ${formatCount(limits.totalTokens)}`;
  const used = wide.length + BAR_WIDTH + 3 <= width ? wide : size;
  const whole = gauge(share, Math.max(BAR_WIDTH, width - used.length - 4));
  return [
    `${INDENT}${share > 1 ? colors.red(whole) : colors.cyan(whole)} ${used}`,
    foldText(`${INDENT}${coverageSentence(figures, colors)}`, width, INDENT),
  ].join("\n");
}

function coverageSentence({ covers }: NotesFigures, colors: Colors): string {
  const uuid = fitText(covers.uuid ?? "", ID_SHOWN + 1).slice(0, ID_SHOWN);
  if (covers.state === "unknown") return "The notes do not say which messages they cover.";
  if (covers.state === "not-found")
    return colors.yellow(`The notes end at message ${uuid}, which is not in this session.`);
  if (covers.uuid === null)
    return "The notes are incomplete. `longhaul notes SESSION --update` finishes them.";
  const when = formatTime(covers.timestamp);
  const reach = `up to message ${uuid}${when === "" ? "" : ` (${when})`}`;
  const newer = covers.newer ?? 0;
  if (newer === 0) return `Up to date: the notes cover everything ${reach}.`;
  const missing = `${plural(newer, "newer message")} ${newer === 1 ? "is" : "are"} missing`;
  return `The notes cover everything ${reach}. ${missing}. \`longhaul notes SESSION --update\` adds ${newer === 1 ? "it" : "them"}.`;
}

function sectionView(section: NotesSectionReport, { limits }: NotesReport, terminal: Terminal): string {
  const { colors, width } = terminal;
  const share = section.tokens / limits.sectionTokens;
  const name = padEnd(fitText(section.name, width - FIGURES_WIDTH - 1), width - FIGURES_WIDTH);
  const figures = `${padStart(formatCount(section.tokens), 7)}${colors.dim(` / ${formatCount(limits.sectionTokens)}`)}`;
  const graph = bar(share, BAR_WIDTH);
  const heading = `${colors.bold(name)}${figures} ${share > 1 ? colors.red(graph) : colors.cyan(graph)}`;
  return `${heading}\n${section.text === "" ? colors.dim(`${INDENT}(nothing noted)`) : bodyLines(section.text, terminal)}`;
}

/**
 * Wraps the text of the notes. A wrapped line starts below the text of its first line, so that list items
 * stay recognizable.
 */
function bodyLines(text: string, { colors, width }: Terminal): string {
  return shownText(text)
    .replaceAll("\t", INDENT)
    .split("\n")
    .map((line) => {
      const hanging = /^\s*(?:(?:[-*•]|\d{1,3}[.)])\s+)?/.exec(line)?.[0] ?? "";
      const folded = foldText(`${INDENT}${line}`, width, INDENT + " ".repeat(Math.min(hanging.length, 12)));
      return /^#+\s/.test(line) ? colors.bold(folded) : folded;
    })
    .join("\n");
}

function closing(report: NotesReport, options: NotesViewOptions, { colors, width }: Terminal): string {
  const remarks = [
    options.modelNotAsked === undefined ? "" : notAsked(options.modelNotAsked, options.isDryRun),
    report.work === null ? "" : workSentence(report.work, report.outcome),
    report.work?.fallback ? fallbackSentence(report.work) : "",
    whatWasWritten(report, options),
  ];
  const sentence = foldText(remarks.filter((remark) => remark !== "").join(" "), width);
  // The path is on a separate line and never cut, so that it can be copied.
  return `${report.written ? colors.green(sentence) : colors.dim(sentence)}\n${oneLine(report.path)}`;
}

const notAsked = (model: string, isDryRun: boolean): string =>
  isDryRun
    ? `${oneLine(model)} was not called: a dry run calls no model.`
    : `${oneLine(model)} was not called: there are notes already. Pass --update to update them.`;

function workSentence(work: NotesWorkReport, outcome: NotesReport["outcome"]): string {
  const done = { built: "Built", updated: "Updated", rebuilt: "Rebuilt" }[outcome as string] ?? "";
  const from = `${done} from ${plural(work.messages, "message")}`;
  if (work.usage === null) return `${from}, without a model.`;
  const tokens = `${formatCount(inputTokens(work.usage))} tokens in, ${formatCount(work.usage.output_tokens)} out`;
  const price = work.cost === null ? "" : `, ${formatDollars(work.cost)}`;
  const refused = work.complete ? "" : ` ${INCOMPLETE}`;
  return `${from} by ${oneLine(work.model ?? "")} in ${plural(work.calls, "call")}: ${tokens}${price}.${refused}`;
}

const fallbackSentence = ({ model, fallback, messages }: NotesWorkReport): string => {
  const noted = fallback?.messages ?? 0;
  const what = noted === messages ? "wrote the notes" : `noted the last ${plural(noted, "message")}`;
  return `${oneLine(model ?? "The model")} timed out. The built-in note taker ${what} instead.`;
};

const INCOMPLETE =
  "Some edits of the model were invalid, so the update stopped early. Run the command again with --update to continue.";

function whatWasWritten({ written, outcome }: NotesReport, { isDryRun }: NotesViewOptions): string {
  if (outcome === "shown") return "The notes are in:";
  if (outcome === "up-to-date") return "There is nothing new. The notes did not change:";
  if (written) return "Written to:";
  return isDryRun ? "Nothing was written. Without --dry-run, the notes go to:" : "Not written:";
}

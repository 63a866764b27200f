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
import type { Colours, Terminal } from "./terminal.ts";
import { bar, gauge } from "./view/bar.ts";
import { formatCount, formatDollars, formatPercent, formatTime, ID_SHOWN, plural } from "./view/numbers.ts";
import { sessionTitle, titleLine } from "./view/sections.ts";
import { fitText, foldText, oneLine, padEnd, padStart, shownText } from "./view/text-width.ts";

/** The shape that `notes --json` prints. Stable: other programs read it; see docs/json.md. */
export interface NotesReport extends NotesFigures {
  readonly session: { readonly id: string; readonly path: string };
  /** What was done: nothing but to show them, or how they came about. */
  readonly outcome: "shown" | BuiltNotes["outcome"];
  readonly written: boolean;
  /** How they were written just now; null where they were not. */
  readonly work: NotesWorkReport | null;
  /** What a person wrote above the first heading. */
  readonly preface: string;
  readonly sections: readonly NotesSectionReport[];
}

/** What `inspect` tells of them, too. */
export interface NotesFigures {
  readonly path: string;
  readonly tokens: number;
  readonly limits: NotesLimits;
  /** Names of sections that are longer than they should be. */
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
  /** The newest message that is in the notes, by what they say. */
  readonly uuid: string | null;
  readonly timestamp: string | null;
  /** Messages that are not in the notes; null where that cannot be told. */
  readonly newer: number | null;
}

export interface NotesWorkReport extends Pick<BuiltNotes, "by" | "messages" | "calls" | "edits" | "refused"> {
  readonly model: string | null;
  /** False where edits were refused and never put right: it ended there. */
  readonly complete: boolean;
  /** The model did not answer in time: why, and how many messages were noted without it. */
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
/** A count, its limit and a bar. */
const FIGURES_WIDTH = BAR_WIDTH + 16;
const INDENT = "  ";

export function notesView(report: NotesReport, options: NotesViewOptions, terminal: Terminal): string {
  const preface = report.preface === "" ? [] : [bodyLines(report.preface, terminal)];
  if (report.outcome === "up-to-date" && report.tokens === 0) {
    return `${titleLine("Notes", report.session.id, terminal)}\n\n${foldText(NOTHING_SAID, terminal.width)}`;
  }
  return [
    sessionTitle("Notes", { id: report.session.id, path: report.path }, terminal),
    notesFacts(report, terminal),
    ...preface,
    ...report.sections.map((section) => sectionView(section, report, terminal)),
    closing(report, options, terminal),
  ].join("\n\n");
}

const NOTHING_SAID = "This session has no messages: there is nothing to note.";

/** How large they are and how far they reach: what `inspect` shows, too. */
export function notesFacts(figures: NotesFigures, terminal: Terminal): string {
  const { tokens, limits } = figures;
  const { colours, width } = terminal;
  const share = tokens / limits.totalTokens;
  const used = `${formatCount(tokens)} tokens, ${formatPercent(share)} of ${formatCount(limits.totalTokens)}`;
  const whole = gauge(share, Math.max(BAR_WIDTH, width - used.length - 4));
  return [
    `${INDENT}${share > 1 ? colours.red(whole) : colours.cyan(whole)} ${used}`,
    foldText(`${INDENT}${coverageSentence(figures, colours)}`, width, INDENT),
  ].join("\n");
}

function coverageSentence({ covers }: NotesFigures, colours: Colours): string {
  const uuid = fitText(covers.uuid ?? "", ID_SHOWN + 1).slice(0, ID_SHOWN);
  if (covers.state === "unknown") return "They do not say up to which message they reach.";
  if (covers.state === "not-found")
    return colours.yellow(`They reach up to message ${uuid}, which is not in this session.`);
  if (covers.uuid === null)
    return "They were begun, but of no message is it certain that all is noted (--update).";
  const when = formatTime(covers.timestamp);
  const reach = `They reach up to message ${uuid}${when === "" ? "" : ` of ${when}`}`;
  const newer = covers.newer ?? 0;
  if (newer === 0) return `${reach}: up to date.`;
  return `${reach}; ${plural(newer, "message")} ${newer === 1 ? "is" : "are"} newer (--update).`;
}

function sectionView(section: NotesSectionReport, { limits }: NotesReport, terminal: Terminal): string {
  const { colours, width } = terminal;
  const share = section.tokens / limits.sectionTokens;
  const name = padEnd(fitText(section.name, width - FIGURES_WIDTH - 1), width - FIGURES_WIDTH);
  const figures = `${padStart(formatCount(section.tokens), 7)}${colours.dim(` / ${formatCount(limits.sectionTokens)}`)}`;
  const graph = bar(share, BAR_WIDTH);
  const heading = `${colours.bold(name)}${figures} ${share > 1 ? colours.red(graph) : colours.cyan(graph)}`;
  return `${heading}\n${section.text === "" ? colours.dim(`${INDENT}(nothing noted)`) : bodyLines(section.text, terminal)}`;
}

/** Lines are folded under where their text begins, so that lists stay lists. */
function bodyLines(text: string, { colours, width }: Terminal): string {
  return shownText(text)
    .replaceAll("\t", INDENT)
    .split("\n")
    .map((line) => {
      const hanging = /^\s*(?:(?:[-*•]|\d{1,3}[.)])\s+)?/.exec(line)?.[0] ?? "";
      const folded = foldText(`${INDENT}${line}`, width, INDENT + " ".repeat(Math.min(hanging.length, 12)));
      return /^#+\s/.test(line) ? colours.bold(folded) : folded;
    })
    .join("\n");
}

function closing(report: NotesReport, options: NotesViewOptions, { colours, width }: Terminal): string {
  const remarks = [
    options.modelNotAsked === undefined ? "" : notAsked(options.modelNotAsked, options.isDryRun),
    report.work === null ? "" : workSentence(report.work, report.outcome),
    report.work?.fallback ? fallbackSentence(report.work) : "",
    whatWasWritten(report, options),
  ];
  const sentence = foldText(remarks.filter((remark) => remark !== "").join(" "), width);
  // The path whole and on one line, so that it can be copied.
  return report.written ? `${colours.green(sentence)}\n${oneLine(report.path)}` : colours.dim(sentence);
}

const notAsked = (model: string, isDryRun: boolean): string =>
  isDryRun
    ? `${oneLine(model)} was not asked: a dry run calls no model.`
    : `${oneLine(model)} was not asked: the notes are there. --update has it bring them up to date.`;

function workSentence(work: NotesWorkReport, outcome: NotesReport["outcome"]): string {
  const done =
    { built: "Built", updated: "Brought up to date", rebuilt: "Built anew" }[outcome as string] ?? "";
  const from = `${done} from ${plural(work.messages, "message")}`;
  if (work.usage === null) return `${from}, without a model.`;
  const tokens = `${formatCount(inputTokens(work.usage))} tokens in, ${formatCount(work.usage.output_tokens)} out`;
  const price = work.cost === null ? "" : `, ${formatDollars(work.cost)}`;
  const refused = work.complete ? "" : NOT_TAKEN_IN;
  return `${from} by ${oneLine(work.model ?? "")} in ${plural(work.calls, "call")}: ${tokens}${price}${refused}.`;
}

const fallbackSentence = ({ model, fallback, messages }: NotesWorkReport): string => {
  const noted = fallback?.messages ?? 0;
  const what = noted === messages ? "them" : `the last ${plural(noted, "message")}`;
  return `${oneLine(model ?? "The model")} failed (timed out): the built-in writer noted ${what} instead.`;
};

const NOT_TAKEN_IN = "; not everything that it wrote could be taken in, so it ended there (--update goes on)";

function whatWasWritten({ written, outcome }: NotesReport, { isDryRun }: NotesViewOptions): string {
  if (outcome === "shown") return "";
  if (outcome === "up-to-date") return "Nothing is new: they were left as they are.";
  return written ? "Written to:" : isDryRun ? "Nothing was written." : "";
}

import type { SummaryAttempt } from "../../compaction/write/attempts.ts";
import { inputTokens } from "../../conversation/reported-usage.ts";
import { SECTION_NAMES } from "../../summary/sections.ts";
import type { CompactReport } from "../compact-report.ts";
import type { Terminal } from "../terminal.ts";
import { formatCount, formatDollars, plural } from "./numbers.ts";
import { foldText, oneLine, shownText } from "./text-width.ts";

export interface SummaryViewOptions {
  readonly showSummary: boolean;
  /** The model that a dry run did not call. */
  readonly modelNotAsked?: string | undefined;
}

type Summary = CompactReport["summary"];

/** Who wrote the summary, by which way, and what is in it: its outline, or all of it. */
export function summarySection(summary: Summary, options: SummaryViewOptions, terminal: Terminal): string {
  const { colours, width } = terminal;
  const folded = (text: string): string => foldText(`  ${text}`, width, "  ");
  const { showSummary, modelNotAsked } = options;
  const author = `${summaryAuthor(summary)}${showSummary ? "" : "; --summary shows it"}`;
  return [
    foldText(`${colours.bold("Summary")}     ${colours.dim(author)}`, width, " ".repeat(12)),
    ...remarks(summary, modelNotAsked).map((remark) => colours.yellow(folded(remark))),
    ...wayOf(summary).map((way) => colours.dim(folded(way))),
    ...(showSummary ? wholeText(summary, terminal) : outline(summary)),
  ].join("\n");
}

function remarks(summary: Summary, modelNotAsked: string | undefined): readonly string[] {
  const { attempts, source, truncated, condensedRounds } = summary;
  const failed = source === "built-in" ? attempts.findLast(({ outcome }) => outcome === "failed") : undefined;
  return [
    modelNotAsked === undefined ? "" : `${oneLine(modelNotAsked)} was not asked: a dry run calls no model.`,
    failed === undefined
      ? ""
      : `${nameOf(failed)} ${failureWords(failed)}: the built-in summariser wrote it instead.`,
    truncated ? "The model reached its output limit: the last section may be incomplete." : "",
    condensedRounds === 0
      ? ""
      : `The oldest ${plural(condensedRounds, "round")} did not fit and went in condensed.`,
  ].filter((remark) => remark !== "");
}

const nameOf = ({ model }: SummaryAttempt): string => oneLine(model ?? "The model");

function failureWords({ reason = "" }: SummaryAttempt): string {
  return reason === "no-summary" ? "wrote no summary" : `failed (${reasonWords(reason)})`;
}

/** Codes of the port's errors begin with what they are about. */
const reasonWords = (reason: string): string =>
  reason === "model-other" ? "an error of the provider" : reason.replace(/^model-/, "").replaceAll("-", " ");

/** The chain as it went, where more than one way was tried. A file has no cached prefix: that is no news. */
function wayOf({ attempts }: Summary): readonly string[] {
  const tried = attempts.filter(({ reason }) => reason !== NO_PREFIX);
  return tried.length < 2 ? [] : [tried.map(stepWords).join(" → ")];
}

const NO_PREFIX = "no-shared-prefix";

const STEP_NAMES: Readonly<Record<SummaryAttempt["step"], string>> = {
  notes: "the session's notes",
  provider: "the provider's own",
  fork: "shared prefix",
  direct: "own call",
  "built-in": "built-in summariser",
};

const OUTCOME_WORDS: Readonly<Record<SummaryAttempt["outcome"], readonly string[]>> = {
  written: [],
  failed: ["failed"],
  unavailable: ["not available"],
};

function stepWords({ step, outcome, reason, cuts }: SummaryAttempt): string {
  const facts = [
    ...OUTCOME_WORDS[outcome],
    ...(reason === undefined ? [] : [reasonWords(reason)]),
    ...(cuts === 0 ? [] : [plural(cuts, "cut")]),
  ];
  return `${STEP_NAMES[step]}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`;
}

/** Steps that call nobody. */
const ALONE: ReadonlySet<SummaryAttempt["step"]> = new Set(["notes", "built-in"]);

function summaryAuthor({ source, model, usage, cost, attempts }: Summary): string {
  if (source === "notes") return "from the session's notes, no model called";
  if (source === "built-in" || usage === null) {
    const wasAsked = attempts.some(({ step }) => !ALONE.has(step));
    return `by the built-in summariser${wasAsked ? "" : ", no model called"}`;
  }
  const price = cost === null ? "" : `, ${formatDollars(cost)}`;
  const read = formatCount(inputTokens(usage));
  return `by ${oneLine(model ?? "")}: ${read} tokens in, ${formatCount(usage.output_tokens)} out${price}`;
}

/** Numbered as they are in every summary, also where one is missing. */
function outline({ sections, titles, source }: Summary): readonly string[] {
  if (source === "notes") return titles.map((title) => `  - ${oneLine(title)}`);
  const names: readonly string[] = SECTION_NAMES;
  return titles.map((title, index) => `  ${names.indexOf(sections[index] ?? "") + 1}. ${title}`);
}

/** As the agent gets it, with the facts that are quoted at its end. */
function wholeText({ text, quoted }: Summary, { colours, width }: Terminal): readonly string[] {
  const rule = colours.dim("─".repeat(width));
  return [rule, shownText(quoted === "" ? text : `${text}\n\n${quoted}`), rule];
}

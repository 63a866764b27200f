import type { SummaryAttempt } from "@longhaul/core/compaction";
import { inputTokens } from "@longhaul/core/internal/messages";
import { SECTION_NAMES } from "@longhaul/core/summary";
import type { CompactReport, RestoredReport } from "../compact-report.ts";
import { beforeAndAfter, roomWords, writtenLine } from "../rewrite-report.ts";
import type { Terminal } from "../terminal.ts";
import { fullAt } from "../window-report.ts";
import { compactCostSection } from "./cost-view.ts";
import { ledgerLine } from "./fate-words.ts";
import { formatCount, formatDollars, formatPercent, plural } from "./numbers.ts";
import { indented, joined, labelled, sessionTitle } from "./sections.ts";
import { fitText, foldText, oneLine, padStart, shownText } from "./text-width.ts";

interface CompactViewOptions {
  readonly showSummary: boolean;
  /** The model that a dry run did not call. */
  readonly modelNotAsked?: string | undefined;
  /** The user asked to compact even if it does not pay. */
  readonly isForced?: boolean | undefined;
  /** The user's home folder, shown as `~`. */
  readonly home?: string | undefined;
}

export function compactView(report: CompactReport, options: CompactViewOptions, terminal: Terminal): string {
  const { saving, session, cost, ledger, summary } = report;
  const isForced = options.isForced === true;
  return joined([
    sessionTitle("Compact", session, terminal),
    beforeAndAfter(report, verdicts(report, isForced, terminal), terminal),
    whatBecameOfIt(report, options, terminal),
    compactCostSection(cost, session.model, terminal),
    ledger === null ? "" : ledgerLine(ledger, terminal),
    hooksSection(report, terminal),
    notesSection(report, terminal),
    summarySection(summary, options, terminal),
    writtenLine(report, terminal, !saving.pays && !isForced),
  ]);
}

function verdicts(report: CompactReport, isForced: boolean, { colours }: Terminal): readonly string[] {
  const { before, after, fits, saving } = report;
  const change = after.tokens / before.tokens - 1;
  const size = `${formatPercent(Math.abs(change))} ${change > 0 ? "larger" : "smaller"}`;
  return [
    fits ? `${size}; ${roomWords(report)}` : colours.red(whyNotFitting(report)),
    ...(saving.pays ? [] : [colours.yellow(whyNotPaying(report, isForced))]),
  ];
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
  const size = (count: number, noun: string, tokens: number): string =>
    `${plural(count, noun)}, ${formatCount(tokens)} tokens`;
  const restoredTokens = restored.reduce((sum, file) => sum + file.tokens, 0);
  return [
    labelled(
      "Summarised",
      `${size(summarised.messages, "message", summarised.tokens)} → ${formatCount(summary.tokens)}`,
      terminal,
    ),
    labelled(
      "Kept",
      `${size(kept.messages, "message", kept.tokens)}, verbatim${keptWords(report)}`,
      terminal,
    ),
    labelled("Put back", size(restored.length, "item", restoredTokens), terminal),
    ...restored.map(({ kind, displayPath, tokens, truncated }) => {
      const facts = [KIND_LABELS[kind] ?? "", truncated ? "its head" : ""].filter(Boolean).join(", ");
      const name = fitText(displayPath, width - 34, PATH_KINDS.has(kind) ? "front" : "end");
      return `  ${padStart(formatCount(tokens), 7)}  ${name}${facts === "" ? "" : colours.dim(` (${facts})`)}`;
    }),
    ...(skipped.length === 0
      ? []
      : [colours.dim(indented(`not put back: ${skippedWords(skipped)}`, terminal))]),
    ...leftOutLines(report, options, terminal),
  ].join("\n");
}

/** Kinds that can have many items. */
const COUNTED_KINDS: ReadonlyMap<string, string> = new Map([
  ["file", "file"],
  ["files", "file"],
  ["skills", "skill"],
  ["agents", "agent"],
  ["mcp-instructions", "MCP server"],
]);

const REASON_WORDS: ReadonlyMap<string, string> = new Map([["secret", "with secrets"]]);

interface Skipped {
  readonly kind: string;
  readonly reason: string;
}

/** What was not put back, counted by kind and reason. */
export function skippedWords(skipped: readonly Skipped[]): string {
  const groups = new Map<string, Skipped & { count: number }>();
  for (const { kind, reason } of skipped) {
    const key = `${kind} ${reason}`;
    const group = groups.get(key) ?? { kind, reason, count: 0 };
    group.count++;
    groups.set(key, group);
  }
  return [...groups.values()]
    .map(({ kind, reason, count }) => {
      const noun = COUNTED_KINDS.get(kind);
      const what = noun === undefined ? kind.replaceAll("-", " ") : plural(count, noun);
      return oneLine(`${what} ${REASON_WORDS.get(reason) ?? reason.replaceAll("-", " ")}`);
    })
    .join(", ");
}

function keptWords({ kept, cleared }: CompactReport): string {
  const covered = kept.inSummary ? "; also covered by the summary" : "";
  if (cleared.results === 0) return covered;
  return `${covered}; ${plural(cleared.results, "result")} of ${formatCount(cleared.tokens)} tokens stay cleared`;
}

/** Files that a session file must not pull in. */
const LEFT_OUT: Readonly<Record<string, string>> = { "outside-project": "outside", secret: "secret" };
const LEFT_OUT_SHOWN = 5;

function leftOutLines(
  { skipped, project }: CompactReport,
  { home }: CompactViewOptions,
  terminal: Terminal,
): readonly string[] {
  const { colours, width } = terminal;
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
    indented(oneLine(advice.filter(Boolean).join(" ")), terminal),
  ];
}

const atHome = (path: string, home: string | undefined): string =>
  home !== undefined && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;

const PATH_KINDS: ReadonlySet<string> = new Set(["file", "plan", "session-memory", "memory-files"]);

/** What a name alone would not tell. */
const KIND_LABELS: Partial<Readonly<Record<RestoredReport["kind"], string>>> = {
  plan: "the plan",
  skills: "skill",
  agents: "agent",
  "mcp-instructions": "MCP server",
  "session-memory": "notes",
};

function notesSection({ notes, summary }: CompactReport, terminal: Terminal): string {
  if (notes === null) return "";
  const origin = notes.built
    ? "there were none: they were built from the session, without a model"
    : "as they are";
  const facts = [
    origin,
    ...(notes.built && !notes.written ? ["nothing was written"] : []),
    ...(summary.source === "notes" ? [] : ["they were not used"]),
  ];
  const path = fitText(notes.path, terminal.width - 2, "front");
  return `${labelled("Notes", facts.join("; "), terminal)}\n${terminal.colours.dim(`  ${path}`)}`;
}

function hooksSection({ hooks }: CompactReport, terminal: Terminal): string {
  const { colours, width } = terminal;
  if (hooks.length === 0) return "";
  const failed = hooks.filter(({ state }) => state !== "completed").length;
  const verdict = failed === 0 ? `${hooks.length} ran` : `${hooks.length} ran, ${failed} of them failed`;
  return [
    labelled("Hooks", verdict, terminal),
    ...hooks.map(({ state, text }) => {
      // Its name alone may take a line; what it said is what people look for.
      const line = foldText(`  ${fitText(text, 2 * (width - 4))}`, width, "    ");
      return state === "completed" ? colours.dim(line) : colours.yellow(line);
    }),
  ].join("\n");
}

type Summary = CompactReport["summary"];

/** Who wrote the summary, by which way, and what is in it: its outline, or all of it. */
function summarySection(summary: Summary, options: CompactViewOptions, terminal: Terminal): string {
  const { colours } = terminal;
  const { showSummary, modelNotAsked } = options;
  const author = `${summaryAuthor(summary)}${showSummary ? "" : "; --summary shows it"}`;
  return [
    labelled("Summary", colours.dim(author), terminal),
    ...remarks(summary, modelNotAsked).map((remark) => colours.yellow(indented(remark, terminal))),
    ...wayOf(summary).map((way) => colours.dim(indented(way, terminal))),
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

import type { SummaryAttempt } from "@longhaul/core/compaction";
import { inputTokens } from "@longhaul/core/internal/messages";
import type { CompactReport, RestoredReport } from "../compact-report.ts";
import { beforeAndAfter, roomWords, writtenLine } from "../rewrite-report.ts";
import type { Terminal } from "../terminal.ts";
import { fullAt } from "../window-report.ts";
import { compactCostSection } from "./cost-view.ts";
import { ledgerLine } from "./fate-words.ts";
import { formatCount, formatDollars, formatPercent, plural } from "./numbers.ts";
import { indented, joined, labeled, sessionTitle } from "./sections.ts";
import { fitText, foldText, oneLine, padStart, shownText } from "./text-width.ts";

interface CompactViewOptions {
  readonly showSummary: boolean;
  /** The model that a dry run did not call. */
  readonly modelNotAsked?: string | undefined;
  /** True if the user wants the compaction even if it is not worthwhile. */
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

function verdicts(report: CompactReport, isForced: boolean, { colors }: Terminal): readonly string[] {
  const { before, after, fits, saving } = report;
  const change = after.tokens / before.tokens - 1;
  const size = `${formatPercent(Math.abs(change))} ${change > 0 ? "larger" : "smaller"}`;
  return [
    fits ? `${size}, ${roomWords(report)}` : colors.red(whyNotFitting(report)),
    ...(saving.pays ? [] : [colors.yellow(whyNotPaying(report, isForced))]),
  ];
}

function whyNotPaying({ saving, written }: CompactReport, isForced: boolean): string {
  const { tokens, smallestWorthwhile } = saving;
  const saved = tokens > 0 ? `it saves ${formatCount(tokens)} tokens` : "it saves nothing";
  const figures = `The compaction does not pay off: ${saved}, and the minimum is ${formatCount(smallestWorthwhile)}.`;
  if (isForced) return written === null ? figures : `${figures} Compacted anyway, as you asked.`;
  return `${figures} With --in-place or --out it fails and changes nothing.`;
}

function whyNotFitting({ window, notInFile }: CompactReport): string {
  const threshold = formatCount(fullAt(window));
  return notInFile >= fullAt(window)
    ? `Still over the threshold of ${threshold}: the system prompt and the tools alone take ${formatCount(notInFile)}.`
    : `Still over the threshold of ${threshold}. Try a smaller --keep-recent, or --no-restore.`;
}

function whatBecameOfIt(report: CompactReport, options: CompactViewOptions, terminal: Terminal): string {
  const { colors, width } = terminal;
  const { summarized, summary, kept, restored, skipped } = report;
  const size = (count: number, noun: string, tokens: number): string =>
    `${plural(count, noun)}, ${formatCount(tokens)} tokens`;
  const restoredTokens = restored.reduce((sum, file) => sum + file.tokens, 0);
  return [
    labeled(
      "Summarized",
      `${size(summarized.messages, "message", summarized.tokens)} → ${formatCount(summary.tokens)}`,
      terminal,
    ),
    labeled("Kept", `${size(kept.messages, "message", kept.tokens)}, verbatim${keptWords(report)}`, terminal),
    labeled(
      "Restored",
      restored.length === 0 ? "nothing" : size(restored.length, "item", restoredTokens),
      terminal,
    ),
    ...restored.map(({ kind, displayPath, tokens, truncated }) => {
      const facts = [KIND_LABELS[kind] ?? "", truncated ? "start only" : ""].filter(Boolean).join(", ");
      const note = facts === "" ? "" : ` (${facts})`;
      const name = fitText(displayPath, width - note.length - 11, PATH_KINDS.has(kind) ? "front" : "end");
      return `  ${padStart(formatCount(tokens), 7)}  ${name}${colors.dim(note)}`;
    }),
    ...(skipped.length === 0
      ? []
      : [colors.dim(indented(`Not restored: ${skippedWords(skipped)}.`, terminal))]),
    ...leftOutLines(report, options, terminal),
  ].join("\n");
}

/** Kinds that can have many items. The key is a kind, and the value is its name in the singular. */
const COUNTED_KINDS: ReadonlyMap<string, string> = new Map([
  ["file", "file"],
  ["files", "file"],
  ["skills", "skill"],
  ["agents", "agent"],
  ["mcp-instructions", "MCP server"],
  ["memory-files", "memory file"],
]);

/** Kinds that a person would not recognize. The key is a kind, and the value is another name for it. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["todos", "to-dos"],
  ["session-memory", "notes"],
]);

/** Names a kind of restored content. */
export const restoredKindName = (kind: string): string =>
  COUNTED_KINDS.get(kind) ?? OTHER_NAMES.get(kind) ?? kind.replaceAll("-", " ");

const REASON_WORDS: ReadonlyMap<string, string> = new Map([
  ["secret", "with secrets"],
  ["gone", "missing"],
  ["outside-project", "outside the project"],
]);

interface Skipped {
  readonly kind: string;
  readonly reason: string;
}

/** Describes the items that were not restored, counted by kind and reason. */
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
      const what = noun === undefined ? restoredKindName(kind) : plural(count, noun);
      return oneLine(`${what} ${REASON_WORDS.get(reason) ?? reason.replaceAll("-", " ")}`);
    })
    .join(", ");
}

function keptWords({ kept, cleared }: CompactReport): string {
  const covered = kept.inSummary ? ", also covered by the summary" : "";
  if (cleared.results === 0) return covered;
  return `${covered}. ${plural(cleared.results, "tool result")} (${formatCount(cleared.tokens)} tokens) ${cleared.results === 1 ? "stays" : "stay"} cleared.`;
}

/**
 * Labels of files that are not restored. The key is the reason, and the value is the label. Both reasons
 * protect the user's files, because a session file could name any path.
 */
const LEFT_OUT: Readonly<Record<string, string>> = { "outside-project": "outside", secret: "secret" };
const LEFT_OUT_SHOWN = 5;

function leftOutLines(
  { skipped, project }: CompactReport,
  { home }: CompactViewOptions,
  terminal: Terminal,
): readonly string[] {
  const { colors, width } = terminal;
  const files = skipped.filter(({ reason }) => LEFT_OUT[reason] !== undefined);
  if (files.length === 0) return [];
  const more = files.length - LEFT_OUT_SHOWN;
  const isAnySecret = files.some(({ reason }) => reason === "secret");
  const advice = [
    project.advice ?? "",
    isAnySecret ? "longhaul never restores files with well-known secrets." : "",
  ];
  return [
    ...files.slice(0, LEFT_OUT_SHOWN).map(({ path, reason }) => {
      const label = (LEFT_OUT[reason] ?? "").padStart(7);
      return `  ${colors.yellow(label)}  ${fitText(atHome(path, home), width - 11, "front")}`;
    }),
    ...(more > 0 ? [colors.dim(`           and ${more} more`)] : []),
    indented(oneLine(advice.filter(Boolean).join(" ")), terminal),
  ];
}

const atHome = (path: string, home: string | undefined): string =>
  home !== undefined && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;

const PATH_KINDS: ReadonlySet<string> = new Set(["file", "plan", "session-memory", "memory-files"]);

/** Labels for kinds that are not obvious from the name. */
const KIND_LABELS: Partial<Readonly<Record<RestoredReport["kind"], string>>> = {
  plan: "plan",
  skills: "skill",
  agents: "agent",
  "mcp-instructions": "MCP server",
  "session-memory": "notes",
};

function notesSection({ notes, summary }: CompactReport, terminal: Terminal): string {
  if (notes === null) return "";
  const origin = notes.built ? "written without a model, because the session had no notes" : "existing notes";
  const facts = [
    origin,
    ...(notes.built && !notes.written ? ["nothing was written"] : []),
    ...(summary.source === "notes" ? [] : ["not used"]),
  ];
  const path = fitText(notes.path, terminal.width - 2, "front");
  return `${labeled("Notes", facts.join(", "), terminal)}\n${terminal.colors.dim(`  ${path}`)}`;
}

function hooksSection({ hooks }: CompactReport, terminal: Terminal): string {
  const { colors, width } = terminal;
  if (hooks.length === 0) return "";
  const failed = hooks.filter(({ state }) => state !== "completed").length;
  const verdict = failed === 0 ? `${hooks.length} ran` : `${hooks.length} ran, ${failed} of them failed`;
  return [
    labeled("Hooks", verdict, terminal),
    ...hooks.map(({ state, text }) => {
      // Each hook gets up to two lines. Its name alone may fill the first line, but people look for its
      // message.
      const line = foldText(`  ${fitText(text, 2 * (width - 4))}`, width, "    ");
      return state === "completed" ? colors.dim(line) : colors.yellow(line);
    }),
  ].join("\n");
}

type Summary = CompactReport["summary"];

/** Shows the author and method of the summary, and its text on request. */
function summarySection(summary: Summary, options: CompactViewOptions, terminal: Terminal): string {
  const { colors } = terminal;
  const { showSummary, modelNotAsked } = options;
  const author = `${summaryAuthor(summary)}.${showSummary ? "" : " --summary shows it."}`;
  return [
    labeled("Summary", colors.dim(author), terminal),
    ...remarks(summary, modelNotAsked).map((remark) => colors.yellow(indented(remark, terminal))),
    ...wayOf(summary).map((way) => colors.dim(indented(way, terminal))),
    ...(showSummary ? wholeText(summary, terminal) : []),
  ].join("\n");
}

function remarks(summary: Summary, modelNotAsked: string | undefined): readonly string[] {
  const { attempts, source, truncated, condensedRounds } = summary;
  const failed = source === "built-in" ? attempts.findLast(({ outcome }) => outcome === "failed") : undefined;
  return [
    modelNotAsked === undefined ? "" : `${oneLine(modelNotAsked)} was not called: a dry run calls no model.`,
    failed === undefined
      ? ""
      : `${nameOf(failed)} ${failureWords(failed)}. The built-in summarizer wrote the summary instead.`,
    truncated ? "The model reached its output limit. The last section may be incomplete." : "",
    condensedRounds === 0
      ? ""
      : `The oldest ${plural(condensedRounds, "round")} did not fit. The model got a condensed version.`,
  ].filter((remark) => remark !== "");
}

const nameOf = ({ model }: SummaryAttempt): string => oneLine(model ?? "The model");

function failureWords({ reason = "" }: SummaryAttempt): string {
  return reason === "no-summary" ? "wrote no summary" : `failed (${reasonWords(reason)})`;
}

/** Describes an error code in words. Omits the prefix `model-` of codes of model errors. */
const reasonWords = (reason: string): string =>
  reason === "model-other" ? "provider error" : reason.replace(/^model-/, "").replaceAll("-", " ");

/**
 * Lists the attempts if there was more than one. Omits the step with the cached prefix, because a session in
 * a file never has a cached prefix.
 */
function wayOf({ attempts }: Summary): readonly string[] {
  const tried = attempts.filter(({ reason }) => reason !== NO_PREFIX);
  return tried.length < 2 ? [] : [tried.map(stepWords).join(" → ")];
}

const NO_PREFIX = "no-shared-prefix";

const STEP_NAMES: Readonly<Record<SummaryAttempt["step"], string>> = {
  notes: "session notes",
  provider: "provider summary",
  fork: "shared prefix",
  direct: "separate call",
  "built-in": "built-in summarizer",
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

/** Steps without a model call. */
const ALONE: ReadonlySet<SummaryAttempt["step"]> = new Set(["notes", "built-in"]);

function summaryAuthor({ source, model, usage, cost, attempts }: Summary): string {
  if (source === "notes") return "from the session's notes, no model called";
  if (source === "built-in" || usage === null) {
    const wasAsked = attempts.some(({ step }) => !ALONE.has(step));
    return `by the built-in summarizer${wasAsked ? "" : ", no model called"}`;
  }
  const price = cost === null ? "" : `, ${formatDollars(cost)}`;
  const read = formatCount(inputTokens(usage));
  return `by ${oneLine(model ?? "")}: ${read} tokens in, ${formatCount(usage.output_tokens)} out${price}`;
}

/** Shows the text that the agent gets, with the quoted facts at its end. */
function wholeText({ text, quoted }: Summary, { colors, width }: Terminal): readonly string[] {
  const rule = colors.dim("─".repeat(width));
  return [rule, shownText(quoted === "" ? text : `${text}\n\n${quoted}`), rule];
}

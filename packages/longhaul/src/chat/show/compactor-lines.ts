import { basename } from "node:path";
import type { SummaryAttempt, SummaryProgress, SummaryStep } from "@longhaul/core/compaction";
import type { CompactorEvent } from "@longhaul/core/engine";
import type { CompactBoundaryEntry } from "@longhaul/core/messages";
import { readLedger } from "@longhaul/core/messages";
import type { Terminal } from "../../terminal.ts";
import { ledgerLine } from "../../view/fate-words.ts";
import { formatCount, formatDollars, formatSeconds, plural } from "../../view/numbers.ts";
import { foldText, oneLine } from "../../view/text-width.ts";
import { rowOf } from "../tally.ts";

type EventOf<Type extends CompactorEvent["type"]> = Extract<CompactorEvent, { readonly type: Type }>;

/** Events that the person may want to act on. */
const WARNINGS: ReadonlySet<CompactorEvent["type"]> = new Set([
  "breaker-opened",
  "compaction-judged",
  "floor-above-threshold",
  "notes-failed",
  "transcript-failed",
]);

export const isWarning = ({ type }: CompactorEvent): boolean => WARNINGS.has(type);

/** Describes an engine event. Undefined for events that are shown elsewhere or are only for logs. */
export function compactorLine(event: CompactorEvent): string | undefined {
  const line = LINES[event.type] as ((event: CompactorEvent) => string | undefined) | undefined;
  return line?.(event);
}

interface Shrunk {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

const sizes = ({ tokensBefore, tokensAfter }: Shrunk): string =>
  `${formatCount(tokensBefore)} → ${formatCount(tokensAfter)} tokens`;

const spaced = (name: string): string => oneLine(name).replaceAll("-", " ");

const LINES: { readonly [Type in CompactorEvent["type"]]?: (event: EventOf<Type>) => string | undefined } = {
  "results-cleared": (event) => {
    const tools = event.tools.map(oneLine).join(", ");
    const of = tools === "" ? "" : ` of ${tools}`;
    const why = event.form === "time" ? ", after a long pause" : "";
    return `Cleared ${plural(event.results, "old tool result")}${of}${why}: ${sizes(event)}`;
  },
  "prompt-too-long-retried": ({ droppedRounds }) =>
    `The summary request was too long. ${plural(droppedRounds, "round")} condensed.`,
  "media-replaced": ({ replaced, left }) =>
    `${formatCount(replaced)} old ${replaced === 1 ? "image or document" : "images or documents"} replaced by placeholders, ${left} left`,
  snipped: ({ messages, tokensFreed }) =>
    `${plural(messages, "message")} removed from the context: ${formatCount(tokensFreed)} tokens freed`,
  "spans-committed": (event) => {
    const waited = event.waitedMs === 0 ? "" : `, waited ${formatSeconds(event.waitedMs)}`;
    return `Collapsed ${plural(event.spans, "span")}, ${plural(event.messages, "message")}: ${sizes(event)}${waited}`;
  },
  "spans-expanded": ({ spans, messages }) =>
    `Expanded ${plural(spans, "span")}: ${plural(messages, "message")} back in the context`,
  recovered: (event) => `The call did not fit (${event.from}). Made room and retried: ${sizes(event)}`,
  undone: (event) =>
    `${event.direction === "undo" ? "Undid" : "Redid"} the ${event.step}: ${sizes(event)}, ${plural(event.messagesRestored, "message")} restored, ${formatCount(event.messagesCarried)} newer`,
  "background-started": ({ isRefresh, tokens }) =>
    isRefresh
      ? "Updating the background summary"
      : `Writing a summary in the background, at ${formatCount(tokens)} tokens`,
  "background-ended": ({ outcome, reason, durationMs }) => {
    if (outcome === "ready")
      return `The background summary is ready (${formatSeconds(durationMs)}). It is used when the window is full.`;
    const why = reason === undefined ? "" : ` (${spaced(reason)})`;
    return outcome === "failed"
      ? `The background summary failed${why}`
      : `The background summary was dropped${why}`;
  },
  "span-staged": (event) =>
    `Summarized a span of ${plural(event.messages, "message")} ahead of time: ${sizes(event)}`,
  "span-failed": ({ reason }) => `A span could not be summarized (${oneLine(reason)})`,
  "notes-updated": ({ tokens, by, durationMs }) =>
    `Notes updated: ${formatCount(tokens)} tokens, ${by === "built-in" ? "without a model" : "by the model"}, ${formatSeconds(durationMs)}`,
  "notes-failed": ({ reason }) => `The notes could not be updated (${oneLine(reason)})`,
  "notes-declined": ({ reason }) =>
    UNREMARKABLE.has(reason)
      ? undefined
      : `The notes were not used as the summary (${reason.replaceAll("-", " ")})`,
  "memory-attached": ({ files, skipped }) => {
    const named = files.map(
      ({ path, tokens }) => `${oneLine(basename(path))} (${formatCount(tokens)} tokens)`,
    );
    const not = skipped.map(
      ({ path, reason }) => `${oneLine(basename(path))} ${reason.replaceAll("-", " ")}`,
    );
    const parts = [
      ...(named.length > 0 ? [`Attached memory: ${named.join(", ")}`] : []),
      ...(not.length > 0 ? [`not attached: ${not.join(", ")}`] : []),
    ];
    return parts.length === 0 ? undefined : parts.join("; ");
  },
  "cache-break": (event) => {
    const causes = event.causes.length === 0 ? "" : ` (${event.causes.map(spaced).join(", ")})`;
    return `The prompt cache was lost: ${formatCount(event.after)} of ${formatCount(event.expected)} tokens were read from it${causes}`;
  },
  "breaker-opened": ({ why }) => `Auto-compact is paused: ${BREAKER[why]}. /compact compacts now.`,
  "breaker-closed": () => "Auto-compact is on again",
  "floor-above-threshold": ({ floorTokens, threshold }) =>
    `The system prompt and the tools alone take ${formatCount(floorTokens)} tokens. The threshold is ${formatCount(threshold)}, so compaction cannot help.`,
  "compaction-judged": ({ verdict, reportedTokens }) =>
    verdict === "effective"
      ? undefined
      : `The compaction did not help: still ${formatCount(reportedTokens)} tokens`,
  "transcript-failed": ({ waiting }) =>
    `The session file cannot be written. ${plural(waiting, "message")} not saved yet.`,
};

/**
 * Reasons why a compaction used no notes. The chat does not report these reasons, because the session has no
 * notes.
 */
const UNREMARKABLE: ReadonlySet<string> = new Set(["disabled", "no-file", "only-template"]);

const BREAKER: Readonly<Record<EventOf<"breaker-opened">["why"], string>> = {
  failures: "several compactions failed in a row",
  ineffective: "the last compactions did not help",
  frequency: "compactions came too often",
};

type Compacted = EventOf<"compacted">;
type Restored = EventOf<"restored">;

/** Returns the line that a person sees while a compaction runs. */
export function compactingLine(progress: SummaryProgress | undefined, elapsedMs: number): string {
  const parts = ["Compacting…", ...progressWords(progress)];
  const [start = "", ...rest] = parts;
  return [[start, rest.shift()].filter(Boolean).join(" "), ...rest, formatSeconds(elapsedMs)].join(" · ");
}

const STEPS: Readonly<Record<SummaryStep, string>> = {
  notes: "using the notes as the summary",
  provider: "asking the provider for its own summary",
  fork: "asking for the summary as the next turn",
  direct: "asking for the summary in a separate call",
  "built-in": "writing the summary without a model",
};

function progressWords(progress: SummaryProgress | undefined): readonly string[] {
  switch (progress?.phase) {
    case undefined:
      return [];
    case "hooks":
      return [`running ${plural(progress.hooks, `${progress.event} hook`)}`];
    case "step":
      return [STEPS[progress.step]];
    case "sent":
      return [`the model reads ${plural(progress.messages, "message")}`];
    case "thinking":
      return ["the model thinks"];
    case "writing":
      return ["writing the summary", `${formatCount(progress.characters)} characters`];
    case "retrying":
      return [`no answer (${progress.code})`, `retrying in ${formatSeconds(progress.delayMs)}`];
    case "cut":
      return [`too long: condensing ${progress.droppedRounds} of ${progress.rounds} rounds`];
  }
}

export interface CompactionOutcome {
  readonly compacted: Compacted;
  readonly restored: Restored | undefined;
  readonly boundary: CompactBoundaryEntry | undefined;
  /** Model of the conversation. It applies to attempts that name no model. */
  readonly model: string;
  readonly prices: Parameters<typeof rowOf>[3];
  /** True if there is a summary to open. */
  readonly hasSummary: boolean;
}

/** Hint on how to show the summary of a compaction. */
export const SUMMARY_HINT = "/summary or Ctrl-O shows the summary.";

export const sizeWords = (compacted: Shrunk): string => `Compacted: ${sizes(compacted)}`;

/** Reports the outcome of a compaction, and where its facts are now. */
export function compactionLines(outcome: CompactionOutcome, terminal: Terminal): readonly string[] {
  const { compacted, restored, boundary } = outcome;
  const { messagesSummarized, messagesKept, durationMs } = compacted;
  const parts = [
    sizeWords(compacted),
    `${plural(messagesSummarized, "message")} summarized, ${formatCount(messagesKept)} kept`,
    restoredWords(restored),
    writerWords(compacted.attempts),
    formatSeconds(durationMs),
    costWords(outcome),
  ].filter((part) => part !== "");
  const { colors, width } = terminal;
  const ledger = boundary === undefined ? undefined : readLedger(boundary);
  const above = compacted.isAboveThreshold
    ? [colors.yellow(foldText("Still above the threshold: much of the context cannot be summarized.", width))]
    : [];
  return [
    colors.cyan(foldText(parts.join(" · "), width, "  ")),
    ...above,
    ...(ledger === undefined ? [] : [colors.dim(ledgerLine(ledger, terminal))]),
    ...(outcome.hasSummary ? [colors.dim(SUMMARY_HINT)] : []),
  ];
}

function restoredWords(restored: Restored | undefined): string {
  if (restored === undefined || restored.items.length === 0) return "";
  const files = restored.items.filter(({ kind }) => kind === "files").length;
  const others = new Set(restored.items.map(({ kind }) => kind).filter((kind) => kind !== "files"));
  const named = [...others].map((kind) => OTHER_KINDS[kind] ?? kind.replaceAll("-", " "));
  return `${[...(files > 0 ? [plural(files, "file")] : []), ...named].join(", ")} restored`;
}

const OTHER_KINDS: Readonly<Record<string, string>> = {
  "session-memory": "notes",
  agents: "agents",
  todos: "to-dos",
  "mcp-instructions": "MCP instructions",
};

const WRITERS: Readonly<Record<SummaryStep, string>> = {
  notes: "from the notes",
  provider: "summary by the provider",
  fork: "summary in a cached call",
  direct: "summary in a separate call",
  "built-in": "summary without a model",
};

function writerWords(attempts: readonly SummaryAttempt[]): string {
  const written = attempts.findLast(({ outcome }) => outcome === "written");
  return written === undefined ? "" : WRITERS[written.step];
}

function costWords({ compacted, model, prices }: CompactionOutcome): string {
  const paid = compacted.attempts.filter(({ usage }) => usage !== undefined);
  if (paid.length === 0) return "";
  const rows = paid.map((attempt) => rowOf(attempt.usage ?? {}, attempt.model ?? model, 1, prices).dollars);
  return rows.every((dollars) => dollars !== undefined)
    ? formatDollars(rows.reduce((sum, dollars) => sum + dollars, 0))
    : "";
}

import { basename } from "node:path";
import type { SummaryAttempt, SummaryProgress, SummaryStep } from "../../../compaction/write/attempts.ts";
import type { CompactBoundaryEntry } from "../../../conversation/entry.ts";
import { readLedger } from "../../../conversation/fact-ledger.ts";
import type { CompactorEvent } from "../../../turn/events.ts";
import type { Terminal } from "../../terminal.ts";
import { ledgerLine } from "../../view/fate-words.ts";
import { formatCount, formatDollars, formatSeconds, plural } from "../../view/numbers.ts";
import { foldText, oneLine } from "../../view/text-width.ts";
import { rowOf } from "../tally.ts";

type EventOf<Type extends CompactorEvent["type"]> = Extract<CompactorEvent, { readonly type: Type }>;

/** Something that the person may want to do something about. */
const WARNINGS: ReadonlySet<CompactorEvent["type"]> = new Set([
  "breaker-opened",
  "compaction-judged",
  "floor-above-threshold",
  "notes-failed",
  "transcript-failed",
]);

export const isWarning = ({ type }: CompactorEvent): boolean => WARNINGS.has(type);

/** What the engine did, in words; undefined for what is shown elsewhere, or is for logs. */
export function compactorLine(event: CompactorEvent): string | undefined {
  return rewriteLine(event) ?? asideLine(event) ?? troubleLine(event);
}

const sizes = (before: number, after: number): string =>
  `${formatCount(before)} → ${formatCount(after)} tokens`;

const spaced = (name: string): string => oneLine(name).replaceAll("-", " ");

function rewriteLine(event: CompactorEvent): string | undefined {
  switch (event.type) {
    case "results-cleared": {
      const tools = event.tools.map(oneLine).join(", ");
      const of = tools === "" ? "" : ` of ${tools}`;
      const why = event.form === "time" ? ", after a long pause" : "";
      return `Cleared ${plural(event.results, "old result")}${of}${why}: ${sizes(event.tokensBefore, event.tokensAfter)}`;
    }
    case "prompt-too-long-retried":
      return `The summary's request was too long: ${plural(event.droppedRounds, "round")} condensed`;
    case "media-replaced":
      return `${plural(event.replaced, "old picture or document")} became marks, ${event.left} left`;
    case "snipped":
      return `${plural(event.messages, "message")} removed from the context: ${formatCount(event.tokensFreed)} tokens freed`;
    case "spans-committed": {
      const waited = event.waitedMs === 0 ? "" : `, waited ${formatSeconds(event.waitedMs)}`;
      return `Collapsed ${plural(event.spans, "span")}, ${plural(event.messages, "message")}: ${sizes(event.tokensBefore, event.tokensAfter)}${waited}`;
    }
    case "spans-expanded":
      return `Expanded ${plural(event.spans, "span")}: ${plural(event.messages, "message")} back in the context`;
    case "recovered":
      return `The call did not fit (${event.from}); made room and called again: ${sizes(event.tokensBefore, event.tokensAfter)}`;
    case "undone":
      return `${event.direction === "undo" ? "Undone" : "Done again"}: the ${event.step}, ${sizes(event.tokensBefore, event.tokensAfter)}; ${plural(event.messagesRestored, "message")} as they were, ${formatCount(event.messagesCarried)} since`;
    default:
      return undefined;
  }
}

/** What happens beside the conversation. */
function asideLine(event: CompactorEvent): string | undefined {
  switch (event.type) {
    case "background-started":
      return event.isRefresh
        ? "The summary in the background is brought up to date"
        : `A summary is written in the background, at ${formatCount(event.tokens)} tokens`;
    case "background-ended":
      return backgroundEnded(event);
    case "span-staged":
      return `A span of ${plural(event.messages, "message")} is summarized ahead of need: ${sizes(event.tokensBefore, event.tokensAfter)}`;
    case "span-failed":
      return `A span could not be summarized (${oneLine(event.reason)})`;
    case "notes-updated":
      return `Notes brought up to date: ${formatCount(event.tokens)} tokens, ${event.by === "built-in" ? "without a model" : `by ${event.by}`}, ${formatSeconds(event.durationMs)}`;
    case "notes-failed":
      return `The notes could not be brought up to date (${oneLine(event.reason)})`;
    case "notes-declined":
      if (UNREMARKABLE.has(event.reason)) return undefined;
      return `The notes were not used as the summary (${event.reason.replaceAll("-", " ")})`;
    case "memory-attached":
      return memoryLine(event);
    default:
      return undefined;
  }
}

/** Without notes there is nothing to decline. */
const UNREMARKABLE: ReadonlySet<string> = new Set(["disabled", "no-file", "only-template"]);

function backgroundEnded({ outcome, reason, durationMs }: EventOf<"background-ended">): string {
  if (outcome === "ready")
    return `The summary in the background is ready (${formatSeconds(durationMs)}), and waits until it is needed`;
  const why = reason === undefined ? "" : ` (${spaced(reason)})`;
  return outcome === "failed"
    ? `No summary in the background${why}`
    : `The summary in the background is not used${why}`;
}

function memoryLine({ files, skipped }: EventOf<"memory-attached">): string | undefined {
  const named = files.map(({ path, tokens }) => `${oneLine(basename(path))} (${formatCount(tokens)} tokens)`);
  const not = skipped.map(({ path, reason }) => `${oneLine(basename(path))} ${reason.replaceAll("-", " ")}`);
  const parts = [
    ...(named.length > 0 ? [`Memory attached: ${named.join(", ")}`] : []),
    ...(not.length > 0 ? [`memory not attached: ${not.join(", ")}`] : []),
  ];
  return parts.length === 0 ? undefined : parts.join("; ");
}

function troubleLine(event: CompactorEvent): string | undefined {
  switch (event.type) {
    case "cache-break": {
      const causes = event.causes.length === 0 ? "" : ` (${event.causes.map(spaced).join(", ")})`;
      return `The prompt cache was lost: ${formatCount(event.after)} of ${formatCount(event.expected)} tokens came out of it${causes}`;
    }
    case "breaker-opened":
      return `No compaction by itself for now: ${BREAKER[event.why]}. /compact tries at once`;
    case "breaker-closed":
      return "It may compact by itself again";
    case "floor-above-threshold":
      return `System prompt and tools alone take ${formatCount(event.floorTokens)} tokens, the threshold is ${formatCount(event.threshold)}: nothing can be compacted`;
    case "compaction-judged":
      if (event.verdict === "effective") return undefined;
      return `The compaction did not help: still ${formatCount(event.reportedTokens)} tokens`;
    case "transcript-failed":
      return `The session cannot be written: ${plural(event.waiting, "message")} wait`;
    default:
      return undefined;
  }
}

const BREAKER: Readonly<Record<EventOf<"breaker-opened">["why"], string>> = {
  failures: "several failed in a row",
  ineffective: "the last ones did not help",
  frequency: "they came too often",
};

type Compacted = EventOf<"compacted">;
type Restored = EventOf<"restored">;

/** What somebody who waits for a compaction sees. */
export function compactingLine(progress: SummaryProgress | undefined, elapsedMs: number): string {
  const parts = ["Compacting…", ...progressWords(progress)];
  const [start = "", ...rest] = parts;
  return [[start, rest.shift()].filter(Boolean).join(" "), ...rest, formatSeconds(elapsedMs)].join(" · ");
}

const STEPS: Readonly<Record<SummaryStep, string>> = {
  notes: "taking the notes as the summary",
  provider: "asking the provider for its own summary",
  fork: "asking for the summary as the next turn",
  direct: "asking for the summary in a call of its own",
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
      return [`no answer (${progress.code})`, `again in ${formatSeconds(progress.delayMs)}`];
    case "cut":
      return [`too long: ${progress.droppedRounds} of ${progress.rounds} rounds go in condensed`];
  }
}

export interface CompactionOutcome {
  readonly compacted: Compacted;
  readonly restored: Restored | undefined;
  readonly boundary: CompactBoundaryEntry | undefined;
  /** The conversation's, where an attempt does not name its own. */
  readonly model: string;
  readonly prices: Parameters<typeof rowOf>[3];
  /** True if there is a text to open. */
  readonly hasSummary: boolean;
}

/** The ways to open the text of a compaction. */
export const SUMMARY_HINT = "/summary or Ctrl-O shows the summary.";

export const sizeWords = ({ tokensBefore, tokensAfter }: Compacted): string =>
  `Compacted: ${formatCount(tokensBefore)} → ${formatCount(tokensAfter)} tokens`;

/** What came of it, and where the facts are now. */
export function compactionLines(outcome: CompactionOutcome, terminal: Terminal): readonly string[] {
  const { compacted, restored, boundary } = outcome;
  const { messagesSummarised, messagesKept, durationMs } = compacted;
  const parts = [
    sizeWords(compacted),
    `${plural(messagesSummarised, "message")} summarised, ${formatCount(messagesKept)} kept`,
    restoredWords(restored),
    writerWords(compacted.attempts),
    formatSeconds(durationMs),
    costWords(outcome),
  ].filter((part) => part !== "");
  const { colours, width } = terminal;
  const ledger = boundary === undefined ? undefined : readLedger(boundary);
  const above = compacted.isAboveThreshold
    ? [colours.yellow(foldText("It is still above the threshold: much of it cannot be summarised.", width))]
    : [];
  return [
    colours.cyan(foldText(parts.join(" · "), width, "  ")),
    ...above,
    ...(ledger === undefined ? [] : [colours.dim(ledgerLine(ledger, terminal))]),
    ...(outcome.hasSummary ? [colours.dim(SUMMARY_HINT)] : []),
  ];
}

function restoredWords(restored: Restored | undefined): string {
  if (restored === undefined || restored.items.length === 0) return "";
  const files = restored.items.filter(({ kind }) => kind === "files").length;
  const others = new Set(restored.items.map(({ kind }) => kind).filter((kind) => kind !== "files"));
  const named = [...others].map((kind) => OTHER_KINDS[kind] ?? kind.replaceAll("-", " "));
  return `${[...(files > 0 ? [plural(files, "file")] : []), ...named].join(", ")} put back`;
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
  fork: "summary by fork",
  direct: "summary by a call of its own",
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

import type { CompactBoundaryEntry } from "../../../conversation/entry.ts";
import { readLedger } from "../../../conversation/fact-ledger.ts";
import type { SummaryProgress } from "../../../summary/progress.ts";
import type { SummaryAttempt, SummaryStep } from "../../../summary/sources.ts";
import type { CompactorEvent } from "../../../turn/events.ts";
import type { Terminal } from "../../terminal.ts";
import { ledgerLine } from "../../view/ledger-line.ts";
import { formatCount, formatDollars, plural } from "../../view/numbers.ts";
import { foldText } from "../../view/text-width.ts";
import { rowOf } from "../tally.ts";
import { seconds } from "./seconds.ts";

type Compacted = Extract<CompactorEvent, { type: "compacted" }>;
type Restored = Extract<CompactorEvent, { type: "restored" }>;

/** What somebody who waits for a compaction sees. */
export function compactingLine(progress: SummaryProgress | undefined, elapsedMs: number): string {
  const parts = ["Compacting…", ...progressWords(progress)];
  const [start = "", ...rest] = parts;
  return [[start, rest.shift()].filter(Boolean).join(" "), ...rest, seconds(elapsedMs)].join(" · ");
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
      return [`no answer (${progress.code})`, `again in ${seconds(progress.delayMs)}`];
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
    seconds(durationMs),
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

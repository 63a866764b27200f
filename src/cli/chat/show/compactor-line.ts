import { basename } from "node:path";
import type { CompactorEvent } from "../../../turn/events.ts";
import { formatCount, plural } from "../../view/numbers.ts";
import { oneLine } from "../../view/text-width.ts";
import { seconds } from "./seconds.ts";

export interface CompactorLine {
  readonly text: string;
  /** Something that the person may want to do something about. */
  readonly isWarning?: boolean;
}

/** What the engine did, in words; undefined for what is shown elsewhere, or is for logs. */
export function compactorLine(event: CompactorEvent): CompactorLine | undefined {
  return rewriteLine(event) ?? asideLine(event) ?? troubleLine(event);
}

const sizes = (before: number, after: number): string =>
  `${formatCount(before)} → ${formatCount(after)} tokens`;

function rewriteLine(event: CompactorEvent): CompactorLine | undefined {
  switch (event.type) {
    case "results-cleared": {
      const tools = event.tools.map(oneLine).join(", ");
      const of = tools === "" ? "" : ` of ${tools}`;
      const why = event.form === "time" ? ", after a long pause" : "";
      return {
        text: `Cleared ${plural(event.results, "old result")}${of}${why}: ${sizes(event.tokensBefore, event.tokensAfter)}`,
      };
    }
    case "prompt-too-long-retried":
      return {
        text: `The summary's request was too long: ${plural(event.droppedRounds, "round")} condensed`,
      };
    case "media-replaced":
      return {
        text: `${plural(event.replaced, "old picture or document")} became marks, ${event.left} left`,
      };
    case "snipped":
      return {
        text: `${plural(event.messages, "message")} removed from the context: ${formatCount(event.tokensFreed)} tokens freed`,
      };
    case "spans-committed":
      return {
        text: `Collapsed ${plural(event.spans, "span")}, ${plural(event.messages, "message")}: ${sizes(event.tokensBefore, event.tokensAfter)}${event.waitedMs === 0 ? "" : `, waited ${seconds(event.waitedMs)}`}`,
      };
    case "spans-expanded":
      return {
        text: `Expanded ${plural(event.spans, "span")}: ${plural(event.messages, "message")} back in the context`,
      };
    case "recovered":
      return {
        text: `The call did not fit (${event.from}); made room and called again: ${sizes(event.tokensBefore, event.tokensAfter)}`,
      };
    case "undone":
      return {
        text: `${event.direction === "undo" ? "Undone" : "Done again"}: the ${event.step}, ${sizes(event.tokensBefore, event.tokensAfter)}; ${plural(event.messagesRestored, "message")} as they were, ${formatCount(event.messagesCarried)} since`,
      };
    default:
      return undefined;
  }
}

/** What happens beside the conversation. */
function asideLine(event: CompactorEvent): CompactorLine | undefined {
  switch (event.type) {
    case "background-started":
      return {
        text: event.isRefresh
          ? "The summary in the background is brought up to date"
          : `A summary is written in the background, at ${formatCount(event.tokens)} tokens`,
      };
    case "background-ended":
      return backgroundEnded(event);
    case "span-staged":
      return {
        text: `A span of ${plural(event.messages, "message")} is summarized ahead of need: ${sizes(event.tokensBefore, event.tokensAfter)}`,
      };
    case "span-failed":
      return { text: `A span could not be summarized (${oneLine(event.reason)})` };
    case "notes-updated":
      return {
        text: `Notes brought up to date: ${formatCount(event.tokens)} tokens, ${event.by === "built-in" ? "without a model" : `by ${event.by}`}, ${seconds(event.durationMs)}`,
      };
    case "notes-failed":
      return {
        text: `The notes could not be brought up to date (${oneLine(event.reason)})`,
        isWarning: true,
      };
    case "notes-declined":
      return UNREMARKABLE.has(event.reason)
        ? undefined
        : { text: `The notes were not used as the summary (${event.reason.replaceAll("-", " ")})` };
    case "memory-attached":
      return memoryLine(event);
    default:
      return undefined;
  }
}

/** Without notes there is nothing to decline. */
const UNREMARKABLE: ReadonlySet<string> = new Set(["disabled", "no-file", "only-template"]);

type BackgroundEnded = Extract<CompactorEvent, { type: "background-ended" }>;

function backgroundEnded({ outcome, reason, durationMs }: BackgroundEnded): CompactorLine {
  if (outcome === "ready")
    return {
      text: `The summary in the background is ready (${seconds(durationMs)}), and waits until it is needed`,
    };
  const why = reason === undefined ? "" : ` (${oneLine(reason).replaceAll("-", " ")})`;
  return {
    text:
      outcome === "failed"
        ? `No summary in the background${why}`
        : `The summary in the background is not used${why}`,
  };
}

type MemoryAttached = Extract<CompactorEvent, { type: "memory-attached" }>;

function memoryLine({ files, skipped }: MemoryAttached): CompactorLine | undefined {
  const named = files.map(({ path, tokens }) => `${oneLine(basename(path))} (${formatCount(tokens)} tokens)`);
  const not = skipped.map(({ path, reason }) => `${oneLine(basename(path))} ${reason.replaceAll("-", " ")}`);
  const parts = [
    ...(named.length > 0 ? [`Memory attached: ${named.join(", ")}`] : []),
    ...(not.length > 0 ? [`memory not attached: ${not.join(", ")}`] : []),
  ];
  return parts.length === 0 ? undefined : { text: parts.join("; ") };
}

function troubleLine(event: CompactorEvent): CompactorLine | undefined {
  switch (event.type) {
    case "cache-break":
      return {
        text: `The prompt cache was lost: ${formatCount(event.after)} of ${formatCount(event.expected)} tokens came out of it${causes(event.causes)}`,
      };
    case "breaker-opened":
      return { text: `No compaction by itself for now: ${BREAKER[event.why]}`, isWarning: true };
    case "breaker-closed":
      return { text: "It may compact by itself again" };
    case "floor-above-threshold":
      return {
        text: `System prompt and tools alone take ${formatCount(event.floorTokens)} tokens, the threshold is ${formatCount(event.threshold)}: nothing can be compacted`,
        isWarning: true,
      };
    case "compaction-judged":
      return event.verdict === "effective"
        ? undefined
        : {
            text: `The compaction did not help: still ${formatCount(event.reportedTokens)} tokens`,
            isWarning: true,
          };
    case "transcript-failed":
      return {
        text: `The session cannot be written: ${plural(event.waiting, "message")} wait`,
        isWarning: true,
      };
    default:
      return undefined;
  }
}

const BREAKER: Readonly<Record<Extract<CompactorEvent, { type: "breaker-opened" }>["why"], string>> = {
  failures: "several failed in a row. /compact tries at once",
  ineffective: "the last ones did not help. /compact tries at once",
  frequency: "they came too often. /compact tries at once",
};

const causes = (names: readonly string[]): string =>
  names.length === 0 ? "" : ` (${names.map((name) => oneLine(name).replaceAll("-", " ")).join(", ")})`;

import type { BackgroundAgent } from "../../index.ts";
import type { RunResult } from "../events.ts";

/** An agent in the background. */
export interface AgentRecord {
  readonly id: string;
  readonly description: string;
  readonly outputPath: string;
  readonly abort: AbortController;
  status: BackgroundAgent["status"];
  /** What it came to, in words for the model; undefined while it runs. */
  result: string | undefined;
  /** The main conversation has the result. */
  isCollected: boolean;
  /** The main conversation knows that it has ended. */
  isTold: boolean;
  /** Settled when it has ended, whichever way; never rejects. */
  ended: Promise<void>;
}

/** The result of a run, for whoever asked for it: what went wrong, and what was got until then. */
export function wordsOf({ reason, text, error }: RunResult): string {
  if (reason === "answered") return text || "(It ended without a word.)";
  const why = {
    aborted: "It was stopped before it was finished.",
    "turn-limit": "It reached its limit of turns before it was finished.",
    failed: `It failed: ${error?.message ?? "nobody knows why"}`,
  }[reason];
  return text === "" ? why : `${why}\n\nThe last it said:\n${text}`;
}

/** A result that is longer is fetched with TaskOutput: news must not fill the window by itself. */
const LONGEST_NEWS_CHARS = 4_000;

/** In the form in which sessions tell of it, so that a reader knows which results have been had. */
export function newsOf(record: AgentRecord): string {
  const { id, description, status, outputPath, result = "" } = record;
  const isWhole = result.length <= LONGEST_NEWS_CHARS;
  const lines = [
    "<task-notification>",
    `<task-id>${id}</task-id>`,
    `<status>${status}</status>`,
    `<summary>The agent "${description.replaceAll(/[<>\s]+/g, " ")}" has ended.</summary>`,
    `<output-file>${outputPath}</output-file>`,
    ...(isWhole
      ? [`<result>\n${result}\n</result>`]
      : [`Its result is long: TaskOutput with task_id ${id} gives it.`]),
    "</task-notification>",
  ];
  record.isTold = true;
  record.isCollected ||= isWhole;
  return lines.join("\n");
}

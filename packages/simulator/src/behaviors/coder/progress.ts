import { contentBlocks, stringField, tagOf } from "@longhaul/core/internal/messages";
import { isContinuation, splitSections, withoutSummaryRequest } from "@longhaul/core/internal/summary";
import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import { hashText } from "../chance.ts";

/**
 * Position of the coder in its work. The coder keeps no state. The ids of its calls and the marks in its
 * texts contain the progress. So the coder finds its place again after a compaction or a restart.
 */
export interface Progress {
  /** Number of the next turn. The first turn after a human message has the number 1. */
  readonly step: number;
  /** The user's request in a few words. */
  readonly topic: string;
  /** Number that differs from turn to turn, but is equal for equal requests. */
  readonly chain: number;
  readonly isNewTask: boolean;
}

/** Number of newest messages to inspect. The cost of a turn must not grow with the history. */
export const LOOK_BACK_MESSAGES = 20;

/**
 * Maximum number of turns between two texts with a mark. It ensures that the inspected messages always
 * contain a mark.
 */
export const TURNS_PER_MARK = 4;

const NO_TOPIC = "the task";
const MAX_TOPIC_CHARS = 60;
/** Matches text that the client, not a person, adds for the model. */
const REMINDER = /^\s*<(?:system-reminder|task-notification)>/;

interface Trace {
  readonly step: number;
  readonly isDone: boolean;
  readonly topic: string | undefined;
  readonly chain: number;
}

/** A trace of an inspected message. */
interface FoundTrace extends Trace {
  /** Number of replies after the trace. */
  readonly repliesSince: number;
}

export function callId(step: number, call: number, chain: number): string {
  return `toolu_step${step}_${call}_${chain.toString(16).padStart(8, "0")}`;
}

/** Mark in the coder's texts: the topic of the work and its progress. */
export const stepMark = (step: number, topic: string): string => `(step ${step}: ${topic})`;
export const doneMark = (step: number, topic: string): string => `(done at step ${step}: ${topic})`;

export function readProgress(messages: readonly ApiMessage[]): Progress {
  const recent = messages.slice(-LOOK_BACK_MESSAGES);
  const lastAnswer = recent.findLastIndex((message) => message.role === "assistant");
  const incoming = recent
    .slice(lastAnswer + 1)
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => contentBlocks(content));
  const trace = newestTrace(recent);
  const isWorking = !incoming.some(isHuman) || incoming.some((block) => block.type === "tool_result");
  if (isWorking) return continueWork(trace, messages, recent);
  const said = incoming.findLast(isSpoken)?.text ?? "";
  const mark = isSummary(said) ? traceInText(said) : undefined;
  if (mark !== undefined && !mark.isDone) return { ...next(mark), chain: hashText(said, mark.step) };
  const before = recent[lastAnswer];
  return {
    step: 1,
    topic: topicOf(said),
    chain: hashText(said, before === undefined ? 0 : hashText(JSON.stringify(before.content))),
    isNewTask: true,
  };
}

/**
 * Returns the mark that a summary of these messages needs, so that the coder finds its place again. A request
 * without any work on it is at step 0. Returns undefined if the coder has not worked in this conversation.
 */
export function progressLine(messages: readonly ApiMessage[]): string | undefined {
  const recent = withoutSummaryRequest(messages.slice(-LOOK_BACK_MESSAGES));
  const trace = newestTrace(recent);
  if (trace === undefined) return undefined;
  const { step, topic, isNewTask } = readProgress(recent);
  const isDone = trace.isDone && !isNewTask;
  const mark = isDone ? doneMark(trace.step, topic) : stepMark(step - 1, topic);
  return `Progress of the work: ${mark}`;
}

const next = ({ step, topic }: Trace): Omit<Progress, "chain"> => ({
  step: step + 1,
  topic: topic ?? NO_TOPIC,
  isNewTask: false,
});

/**
 * Returns the progress of work that continues. Some clients replace the ids of calls, and calls of another
 * model have no step in their ids. So the function also counts the replies without a trace. Otherwise a task
 * would never end.
 */
function continueWork(
  trace: FoundTrace | undefined,
  messages: readonly ApiMessage[],
  recent: readonly ApiMessage[],
): Progress {
  const topic = trace?.topic ?? topicWithin(recent) ?? firstTopic(messages);
  if (trace !== undefined) {
    const { step, repliesSince } = trace;
    const chain = hashText(repliesSince === 0 ? "" : String(repliesSince), trace.chain);
    return { ...next({ ...trace, topic, step: step + repliesSince }), chain };
  }
  const newest = JSON.stringify(recent.at(-1)?.content ?? "");
  return { step: repliesInTask(messages) + 1, topic, chain: hashText(newest), isNewTask: false };
}

/** Counts the replies since the newest message of a person. */
function repliesInTask(messages: readonly ApiMessage[]): number {
  const isTask = ({ role, content }: ApiMessage): boolean =>
    role === "user" && isPlain(content) && contentBlocks(content).some(isHuman);
  const task = messages.findLastIndex(isTask);
  return messages.slice(task + 1).filter(({ role }) => role === "assistant").length;
}

/**
 * Finds the newest trace of the coder's work. If this trace has no topic, takes the topic from the trace
 * before it.
 */
function newestTrace(recent: readonly ApiMessage[]): FoundTrace | undefined {
  let found: FoundTrace | undefined;
  let repliesSince = 0;
  for (const message of recent.toReversed()) {
    for (const block of contentBlocks(message.content).toReversed()) {
      const trace = traceIn(block, message.role);
      if (trace === undefined) continue;
      found = found === undefined ? { ...trace, repliesSince } : { ...found, topic: trace.topic };
      if (found.topic !== undefined) return found;
    }
    if (message.role === "assistant") repliesSince++;
  }
  return found;
}

function traceIn(block: ContentBlock, role: ApiMessage["role"]): Trace | undefined {
  if (block.type === "tool_use") return traceInId(block.id);
  if (block.type === "text")
    return role === "assistant" || isSummary(block.text) ? traceInText(block.text) : undefined;
  const summary = tagOf(block) === "compaction" ? stringField(block, "content") : undefined;
  return summary === undefined ? undefined : traceInText(summary);
}

function traceInId(id: unknown): Trace | undefined {
  const match = typeof id === "string" ? /^toolu_step(\d{1,9})_\d+_([0-9a-f]{8})/.exec(id) : null;
  if (match === null) return undefined;
  return {
    step: Number(match[1]),
    isDone: false,
    topic: undefined,
    chain: Number.parseInt(match[2] ?? "", 16),
  };
}

/**
 * Finds the current mark in a text. A summary may contain older marks anywhere, but its current mark is in
 * the section "Current Work".
 */
function traceInText(text: string): Trace | undefined {
  const current = splitSections(text).find(({ name }) => name === "Current Work")?.body;
  return (current === undefined ? undefined : lastMark(current)) ?? lastMark(text);
}

function lastMark(text: string): Trace | undefined {
  const match = [...text.matchAll(/\((done at )?step (\d{1,9})(?:: ([^()\n]{1,80}))?\)/g)].at(-1);
  if (match === undefined) return undefined;
  const step = Number(match[2]);
  return { step, isDone: match[1] !== undefined, topic: match[3], chain: hashText(match[0], step) };
}

function isSummary(text: string): boolean {
  return isContinuation(text) || (text.includes("Current Work") && splitSections(text).length > 1);
}

function topicWithin(recent: readonly ApiMessage[]): string | undefined {
  const message = recent.findLast(({ role, content }) => role === "user" && isPlain(content));
  const text = message && contentBlocks(message.content).findLast(isSpoken)?.text;
  return text === undefined ? undefined : topicOf(text);
}

/** Returns the topic of the oldest message, which is the request itself or the summary that replaced it. */
function firstTopic(messages: readonly ApiMessage[]): string {
  const first = messages[0];
  return topicOf((first && contentBlocks(first.content).find(isSpoken)?.text) ?? "");
}

/** True for a message without tool results. */
export function isPlain(content: ApiMessage["content"]): boolean {
  return typeof content === "string" || !content.some((block) => block.type === "tool_result");
}

function isSpoken(block: ContentBlock): block is Extract<ContentBlock, { type: "text" }> {
  return block.type === "text" && block.text.trim() !== "" && !REMINDER.test(block.text);
}

/** True for a block from a person. An image or a document without text also counts. */
const isHuman = (block: ContentBlock): boolean => block.type !== "text" || isSpoken(block);

/**
 * Returns the first meaningful line of the text as the topic, without characters that would end a mark early.
 */
function topicOf(text: string): string {
  if (isSummary(text)) return traceInText(text)?.topic ?? NO_TOPIC;
  const bare = text.slice(0, 2_000).replace(/<[^>\n]*>/g, " ");
  const line = bare.split("\n").find((candidate) => /\p{L}{2}/u.test(candidate)) ?? "";
  const words = line
    .replace(/[()`"“”*#]/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  if (words === "") return NO_TOPIC;
  if (words.length <= MAX_TOPIC_CHARS) return words.replace(/[.:;,!]+$/, "");
  const cut = words.slice(0, MAX_TOPIC_CHARS + 1);
  const end = cut.lastIndexOf(" ");
  return cut.slice(0, end > 0 ? end : MAX_TOPIC_CHARS).replace(/[.:;,!]+$/, "");
}

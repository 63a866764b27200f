export interface ContinuationInput {
  /** As {@link formatSummary} or the built-in summariser left it. */
  readonly summary: string;
  /** It is the session's notes, which were taken along the way. */
  readonly isNotes?: boolean | undefined;
  /** Path of the whole conversation; the model is told. */
  readonly transcriptPath?: string | undefined;
  /** Name of the tool by which the agent can search what was summarised, where it has one; the model is told. */
  readonly recallTool?: string | undefined;
  /** Recent messages follow the summary unchanged. */
  readonly keptRecent: boolean;
  /** The messages before the summary stand as they were; it stands for what followed them. */
  readonly keptEarlier?: boolean | undefined;
  /**
   * Results of the newest calls that the model has not seen yet stand at the end of the conversation, `whole` or
   * `shortened` to fit.
   */
  readonly unseen?: "whole" | "shortened" | undefined;
  readonly trigger: "auto" | "manual";
  /** The agent works in a loop of its own, without a person at the keyboard. */
  readonly autonomous?: boolean | undefined;
}

const OPENING =
  "This conversation goes on from an earlier one that no longer fitted into the context window. The summary below stands for its earlier part.";
const OPENING_NOTES =
  "This conversation goes on from an earlier one that no longer fitted into the context window. The notes below, taken while the session went on, stand for its earlier part.";
const OPENING_AFTER_KEPT =
  "The messages above stand as they were. What followed them was taken out to make room, and the summary below stands for it.";
const TRANSCRIPT =
  "Where an exact detail matters (a code snippet, an error text, something you wrote), read it in the full transcript: ";
const RECALL =
  "Everything that was said and done before can be searched, and read word for word: call the tool ";
const RECALL_HOW =
  " with words, an exact text, a file or an id before you guess or do work again. What it gives is old: the present state may differ.";
const KEPT_RECENT = "The most recent messages follow verbatim after this one.";
const KEPT_SHORTENED = "The most recent messages follow after this one.";
const UNSEEN =
  "The conversation ends with results of your last tool calls that you have not read yet. Read them first.";
const UNSEEN_SHORTENED =
  "The conversation ends with results of your last tool calls that you have not read yet. They are shortened; a note in each says how to read the rest. Read them first.";
const GO_ON =
  "Go on with the work from where it stopped, as if there had been no break: no questions to the user, no recap, no word about this summary.";
const AUTONOMOUS =
  "You are working autonomously. This is not a first start: the work loop is under way, so take it up again and do not greet or set up anew.";

/** Starts of the paragraphs that longhaul writes after a summary. */
const OWN_AFTERWORDS: readonly string[] = [
  TRANSCRIPT,
  RECALL,
  KEPT_RECENT,
  KEPT_SHORTENED,
  UNSEEN,
  UNSEEN_SHORTENED,
  GO_ON,
  AUTONOMOUS,
];

/** The first paragraph that Claude Code writes after a summary, from 2.1.1 on. */
const THEIR_TRANSCRIPT = /^If you need specific details from before compaction\b/;
/** All of its paragraphs. Each version words the order to continue in its own way. */
const THEIR_AFTERWORDS: readonly RegExp[] = [
  THEIR_TRANSCRIPT,
  /^Recent messages are preserved verbatim/,
  /^The messages after this summary are the most recent messages/,
  /^(?:Please )?continue the conversation from where (?:we|it) left (?:it )?off\b/i,
  /^You are running in autonomous/,
];
/** Paragraphs after the summary number four at most. A few more lines leave room for new ones. */
const MAX_CLOSING_LINES = 12;

/** The text of the user message that stands in for what was summarised. */
export function continuationMessage(input: ContinuationInput): string {
  const opening = input.keptEarlier ? OPENING_AFTER_KEPT : input.isNotes ? OPENING_NOTES : OPENING;
  return [opening, input.summary, ...afterwords(input)].join("\n\n");
}

/** Our words beside a summary that cannot hold them, such as the provider's; "" if there is nothing to say. */
export function continuationAfterwords(input: Omit<ContinuationInput, "summary" | "isNotes">): string {
  return afterwords(input).join("\n\n");
}

function afterwords(input: Omit<ContinuationInput, "summary" | "isNotes">): readonly string[] {
  const paragraphs: string[] = [];
  if (input.transcriptPath) paragraphs.push(`${TRANSCRIPT}${input.transcriptPath}`);
  if (input.recallTool) paragraphs.push(`${RECALL}\`${input.recallTool}\`${RECALL_HOW}`);
  if (input.keptRecent) paragraphs.push(input.unseen === "shortened" ? KEPT_SHORTENED : KEPT_RECENT);
  if (input.unseen !== undefined) paragraphs.push(input.unseen === "whole" ? UNSEEN : UNSEEN_SHORTENED);
  if (input.trigger === "auto") paragraphs.push(GO_ON);
  if (input.autonomous) paragraphs.push(AUTONOMOUS);
  return paragraphs;
}

/** The start of the message by which Claude Code continues from a summary. */
const THEIR_OPENING = "This session is being continued from a previous conversation";
const OWN_OPENINGS: readonly string[] = [OPENING, OPENING_NOTES, OPENING_AFTER_KEPT];

/** True if a user's text is the message that stands in for an earlier conversation. */
export function isContinuation(text: string): boolean {
  return openingLength(text.trimStart()) > 0;
}

/** Claude Code's opening is the whole first line, and ends differently by version. */
function openingLength(text: string): number {
  if (text.startsWith(THEIR_OPENING)) return (text.split("\n", 1)[0] ?? "").length;
  return OWN_OPENINGS.find((opening) => text.startsWith(opening))?.length ?? 0;
}

/** True if the session's notes stand in for the earlier conversation. */
export const isNotesContinuation = (text: string): boolean => text.trimStart().startsWith(OPENING_NOTES);

/**
 * The summary in a continuation message, without the paragraphs that longhaul or Claude Code writes around it. Only
 * the first line and the end of the message count: the same words inside the summary are a quotation.
 */
export function unwrapSummary(message: string): string {
  const text = message.trimStart();
  const lines = text.slice(openingLength(text)).split("\n");
  let end = lines.length;
  while (end > 0 && isAfterword(lines[end - 1] ?? "")) end--;
  if (text.startsWith(THEIR_OPENING)) end = Math.min(end, startOfTheirClosing(lines));
  return lines.slice(0, end).join("\n").trim();
}

/**
 * Claude Code closes the message with the transcript's path and orders to continue, whose wording changes. Plain
 * paragraphs from the path to the end are that closing, whatever they say. A list or a heading is the summary.
 */
function startOfTheirClosing(lines: readonly string[]): number {
  const start = lines.findLastIndex(
    (line, at) => THEIR_TRANSCRIPT.test(line) && lines[at - 1]?.trim() === "",
  );
  const closing = start === -1 ? [] : lines.slice(start);
  const isPlain =
    closing.length <= MAX_CLOSING_LINES && closing.every((line) => /^(?:\p{L}|\s*$)/u.test(line));
  return isPlain && start !== -1 ? start : lines.length;
}

const isAfterword = (line: string): boolean =>
  line.trim() === "" ||
  OWN_AFTERWORDS.some((start) => line.startsWith(start)) ||
  THEIR_AFTERWORDS.some((start) => start.test(line));

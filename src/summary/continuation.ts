export interface ContinuationInput {
  /** As {@link formatSummary} or the built-in summariser left it. */
  readonly summary: string;
  /** It is the session's notes, which were taken along the way. */
  readonly isNotes?: boolean | undefined;
  readonly transcriptPath?: string | undefined;
  /** Name of the tool by which the agent can search what was summarised, where it has one. */
  readonly recallTool?: string | undefined;
  /** Recent messages follow the summary unchanged. */
  readonly keptRecent: boolean;
  /** The messages before the summary stand as they were; it stands for what followed them. */
  readonly keptEarlier?: boolean | undefined;
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
const GO_ON =
  "Go on with the work from where it stopped, as if there had been no break: no questions to the user, no recap, no word about this summary.";
const AUTONOMOUS =
  "You are working autonomously. This is not a first start: the work loop is under way, so take it up again and do not greet or set up anew.";

/** Starts of the paragraphs that agents put after a summary: ours, and those of Claude Code. */
const AFTERWORDS: readonly string[] = [
  TRANSCRIPT,
  RECALL,
  KEPT_RECENT,
  GO_ON,
  AUTONOMOUS,
  "If you need specific details from before compaction",
  "Recent messages are preserved verbatim",
  "The messages after this summary are the most recent messages",
  "Please continue the conversation from where we left it off",
  "Continue the conversation from where it left off",
  "You are running in autonomous",
];

/** The text of the user message that stands in for what was summarised. */
export function continuationMessage(input: ContinuationInput): string {
  const opening = input.keptEarlier ? OPENING_AFTER_KEPT : input.isNotes ? OPENING_NOTES : OPENING;
  return [opening, input.summary, ...afterwords(input)].join("\n\n");
}

/** What goes with a summary that cannot hold words of ours, such as the provider's; "" where there is nothing to say. */
export function continuationAfterwords(input: Omit<ContinuationInput, "summary" | "isNotes">): string {
  return afterwords(input).join("\n\n");
}

function afterwords(input: Omit<ContinuationInput, "summary" | "isNotes">): readonly string[] {
  const paragraphs: string[] = [];
  if (input.transcriptPath) paragraphs.push(`${TRANSCRIPT}${input.transcriptPath}`);
  if (input.recallTool) paragraphs.push(`${RECALL}\`${input.recallTool}\`${RECALL_HOW}`);
  if (input.keptRecent) paragraphs.push(KEPT_RECENT);
  if (input.trigger === "auto") paragraphs.push(GO_ON);
  if (input.autonomous) paragraphs.push(AUTONOMOUS);
  return paragraphs;
}

/** Starts of the texts by which agents go on from a summary: ours, and that of Claude Code. */
const OPENINGS: readonly string[] = [
  OPENING,
  OPENING_NOTES,
  OPENING_AFTER_KEPT,
  "This session is being continued from a previous conversation",
];

/** Whether a user's text is the message that stands in for an earlier conversation. */
export function isContinuation(text: string): boolean {
  const start = text.trimStart();
  return OPENINGS.some((opening) => start.startsWith(opening));
}

/** Whether what stands in for the earlier conversation is the session's notes. */
export const isNotesContinuation = (text: string): boolean => text.trimStart().startsWith(OPENING_NOTES);

/** Notes that stand in for an earlier conversation, without what we wrote in front of them. */
export const withoutNotesOpening = (text: string): string =>
  isNotesContinuation(text) ? text.trimStart().slice(OPENING_NOTES.length).trimStart() : text;

/**
 * A summary message without what we, or Claude Code, wrote around the summary. Only lines at its very end: the
 * same words in the middle are a quotation, and what follows them is the summary.
 */
export function withoutAfterwords(text: string): string {
  const lines = text.split("\n");
  let end = lines.length;
  while (end > 0 && isAfterword(lines[end - 1] ?? "")) end--;
  return end === lines.length ? text : lines.slice(0, end).join("\n").trimEnd();
}

const isAfterword = (line: string): boolean =>
  line.trim() === "" || AFTERWORDS.some((start) => line.startsWith(start));

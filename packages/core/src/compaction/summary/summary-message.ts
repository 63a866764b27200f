/**
 * Writes and recognizes the message of a summary: opening, nine sections, quoted facts and closing
 * paragraphs.
 */

import { FORMER_AFTERWORDS, FORMER_OPENING_NOTES, FORMER_OPENINGS } from "./former-wording.ts";

/**
 * Part that a summary covers. `whole`: the whole conversation. Its newest messages may also be kept. `from`:
 * the messages after a point. Earlier messages stay. `up-to`: the messages before a point. Later messages
 * stay.
 */
export type SummaryVariant = "whole" | "from" | "up-to";

/** Names of the nine sections of every summary, whoever writes it. Other programs read these names. */
export const SECTION_NAMES = [
  "Primary Request and Intent",
  "Key Technical Concepts",
  "Files and Code Sections",
  "Errors and Fixes",
  "Problem Solving",
  "All User Messages",
  "Pending Tasks",
  "Current Work",
  "Optional Next Step",
] as const;

export type SectionName = (typeof SECTION_NAMES)[number];

interface SummarySection {
  readonly name: SectionName;
  /** Title in the text. A section may have another title in some variants. */
  readonly title: string;
  readonly body: string;
}

/**
 * Titles for a summary that newer messages follow. The key is the name of a section, and the value is its
 * title. Nothing in such a summary is current, and the next step is in the newer messages.
 */
const UP_TO_TITLES: ReadonlyMap<SectionName, string> = new Map([
  ["Current Work", "Work Completed"],
  ["Optional Next Step", "Context for Continuing Work"],
]);

/**
 * The key is a title in lower case, and the value is the name of its section. The keys include the titles of
 * all variants, because a reader of a summary need not know its variant.
 */
const NAME_BY_LOWER_CASE: ReadonlyMap<string, SectionName> = new Map(
  SECTION_NAMES.flatMap((name) =>
    [name, sectionTitle(name, "up-to")].map((title) => [title.toLowerCase(), name] as const),
  ),
);

/**
 * Start of a heading. If a heading has text on its line, a colon must precede the text. A line with a longer
 * name is prose.
 */
const HEADING_PREFIX = /^[\s#*_]*(?:\d{1,2}[.)][\s*_]*)?/;
const MAX_HEADING_NAME_LENGTH = 40;

/** Returns the title of a section in a summary of this variant. */
export function sectionTitle(name: SectionName, variant: SummaryVariant = "whole"): string {
  return (variant === "up-to" ? UP_TO_TITLES.get(name) : undefined) ?? name;
}

export function sectionHeading(name: SectionName, variant: SummaryVariant = "whole"): string {
  return `## ${SECTION_NAMES.indexOf(name) + 1}. ${sectionTitle(name, variant)}`;
}

/**
 * Returns the names of the sections that have a heading in this text, whatever their titles are. The order is
 * that of the nine sections.
 */
export function presentSections(text: string): string[] {
  const found = new Set(splitSections(text).map((section) => section.name));
  return SECTION_NAMES.filter((name) => found.has(name));
}

/**
 * Splits a text at its section headings. Text before the first heading is left out. Headings inside fenced
 * code do not count. There is one exception: if all nine sections are found only with such headings, they
 * count, because a fence was never closed.
 */
export function splitSections(text: string): SummarySection[] {
  const lines = text.split("\n");
  const honouringFences = cutAtHeadings(lines, fencedLines(lines));
  const ignoringFences = cutAtHeadings(lines, () => false);
  return ignoringFences.length === SECTION_NAMES.length && honouringFences.length < SECTION_NAMES.length
    ? ignoringFences
    : honouringFences;
}

function cutAtHeadings(lines: readonly string[], isCode: (line: number) => boolean): SummarySection[] {
  const sections: { name: SectionName; title: string; lines: string[] }[] = [];
  lines.forEach((line, index) => {
    const heading = isCode(index) ? undefined : parseHeading(line);
    const current = sections.at(-1);
    if (heading) sections.push({ ...heading, lines: heading.rest ? [heading.rest] : [] });
    else current?.lines.push(line);
  });
  return sections.map(({ name, title, lines: body }) => ({ name, title, body: body.join("\n") }));
}

function parseHeading(line: string): { name: SectionName; title: string; rest: string } | undefined {
  const prefix = HEADING_PREFIX.exec(line)?.[0] ?? "";
  const afterPrefix = line.slice(prefix.length);
  const colon = afterPrefix.slice(0, MAX_HEADING_NAME_LENGTH).indexOf(":");
  const label = colon === -1 ? afterPrefix : afterPrefix.slice(0, colon);
  const title = label.replace(/[\s*_]+$/, "");
  const name = NAME_BY_LOWER_CASE.get(title.toLowerCase());
  if (name === undefined) return undefined;
  const rest = colon === -1 ? "" : afterPrefix.slice(colon + 1).replace(/^[\s*_]+/, "");
  return { name, title, rest };
}

/**
 * Returns a function that tells whether a line is inside fenced code. A fence that never closes is not a
 * fence.
 */
export function fencedLines(lines: readonly string[]): (line: number) => boolean {
  const inside = new Set<number>();
  let open: { marker: string; from: number } | undefined;
  lines.forEach((line, index) => {
    const marker = /^\s{0,12}(`{3,}|~{3,})/.exec(line)?.[1];
    if (!marker) return;
    if (!open) {
      open = { marker, from: index };
    } else if (marker.startsWith(open.marker) && line.trim() === marker) {
      for (let at = open.from; at <= index; at++) inside.add(at);
      open = undefined;
    }
  });
  return (line) => inside.has(line);
}

// Quoted facts. They are written at the end of a summary, and recognized when the summary is read again.

const FACTS_HEADING = "## Facts quoted from the transcript";
const PREAMBLE =
  "The summary above lacks these facts. They were copied from the transcript without a model. If the summary contradicts the user's words or a tool's output, trust these. A sentence of the assistant was its view at that time. Only the user's own words, after the mark >, can request, approve, or cancel something. Do not resume anything that is done, cancelled, or superseded. A plan of the assistant is not a request of the user.";
const FACTS_END = "(end of the quoted facts)";
/**
 * Matches our heading and anything that looks like it. Such a line may be indented, on another level, bold or
 * in capitals.
 */
const LIKE_HEADING = /^#{0,6}\s*[*_]{0,3}facts\s+quoted\s+from\s+the\s+transcript[*_:\s]*$/i;

export function factsSection(body: string): string {
  return `${FACTS_HEADING}\n${PREAMBLE}\n\n${body}\n${FACTS_END}`;
}

/**
 * Removes the quoted facts from a summary. They come from the ledger and are not among the nine sections. If
 * the quoted facts have no end line, they extend to the next heading.
 */
export function withoutQuotedFacts(summaryText: string): string {
  if (!/facts\s+quoted\s+from/i.test(summaryText)) return summaryText;
  const kept: string[] = [];
  const lines = summaryText.split("\n");
  for (let index = 0; index < lines.length; index++) {
    if (LIKE_HEADING.test(lines[index]?.trim() ?? "")) index = endOfSection(lines, index);
    else kept.push(lines[index] ?? "");
  }
  return kept.length === lines.length ? summaryText : kept.join("\n").trimEnd();
}

/** Returns the lines of the last section of quoted facts. Only the last section is longhaul's own. */
export function quotedLines(summaryText: string): readonly string[] {
  const lines = summaryText.split(/\r\n|\n/);
  const start = lines.lastIndexOf(FACTS_HEADING);
  return start === -1 ? [] : lines.slice(start + 1, endOfSection(lines, start) + 1);
}

/** Returns the last line of the section that starts at this line. */
function endOfSection(lines: readonly string[], start: number): number {
  for (let index = start + 1; index < lines.length; index++) {
    const line = lines[index]?.trimEnd();
    if (line === FACTS_END) return index;
    if (line !== undefined && /^#{1,6} \S/.test(line)) return index - 1;
  }
  return lines.length - 1;
}

export interface ContinuationInput {
  /** Summary as {@link formatSummary} or the built-in summarizer returns it. */
  readonly summary: string;
  /** True if the summary is the session's notes. */
  readonly isNotes?: boolean | undefined;
  /** Path of the whole transcript. The message names this path. */
  readonly transcriptPath?: string | undefined;
  /**
   * Name of the tool that searches the summarized messages, if the agent has such a tool. The message names
   * the tool.
   */
  readonly recallTool?: string | undefined;
  /** True if recent messages follow the summary unchanged. */
  readonly keptRecent: boolean;
  /**
   * True if the messages before the summary are unchanged, so that the summary covers only later messages.
   */
  readonly keptEarlier?: boolean | undefined;
  /** Form of the unseen results at the end of the conversation: `whole`, or `shortened` to fit. */
  readonly unseen?: "whole" | "shortened" | undefined;
  readonly trigger: "auto" | "manual";
  /** True if the agent works in a loop without a user at the keyboard. */
  readonly autonomous?: boolean | undefined;
}

const OPENING =
  "This conversation continues an earlier one that no longer fit into the context window. The summary below replaces its earlier part.";
const OPENING_NOTES =
  "This conversation continues an earlier one that no longer fit into the context window. The notes below, which were written during the session, replace its earlier part.";
const OPENING_AFTER_KEPT =
  "The messages above are unchanged. The messages after them were removed to make room. The summary below replaces those messages.";
const TRANSCRIPT =
  "If you need an exact detail (a code snippet, an error text, something you wrote), read it in the full transcript: ";
const RECALL =
  "You can search everything that is no longer in your context and read it word for word. Call the tool ";
const RECALL_HOW =
  " with words, an exact text, a file, or an id. Use it before you read the transcript, guess, or repeat work. Its results are old, so the current state may differ.";
const KEPT_RECENT = "The most recent messages follow this one verbatim.";
const KEPT_SHORTENED = "The most recent messages follow this one.";
const UNSEEN =
  "The conversation ends with results of your last tool calls. You have not read them yet. Read them first.";
const UNSEEN_SHORTENED =
  "The conversation ends with results of your last tool calls. You have not read them yet. They are shortened, and a note in each result says how to read the rest. Read them first.";
const CONTINUE =
  "Continue the work at the point where it stopped, as if there had been no break. Do not start with a question to the user, a recap, or a remark about this message.";
const AUTONOMOUS =
  "You are working autonomously. This is not a first start. The work loop is already running, so continue it. Do not greet anyone, and do not set up anything again.";

/** Starts of the paragraphs that longhaul writes after a summary. */
const OWN_AFTERWORDS: readonly string[] = [
  TRANSCRIPT,
  RECALL,
  KEPT_RECENT,
  KEPT_SHORTENED,
  UNSEEN,
  UNSEEN_SHORTENED,
  CONTINUE,
  AUTONOMOUS,
  ...FORMER_AFTERWORDS,
];

/** First paragraph that Claude Code writes after a summary, from version 2.1.1 on. */
const THEIR_TRANSCRIPT = /^If you need specific details from before compaction\b/;
/** All paragraphs of Claude Code after a summary. Each version words the order to continue differently. */
const THEIR_AFTERWORDS: readonly RegExp[] = [
  THEIR_TRANSCRIPT,
  /^Recent messages are preserved verbatim/,
  /^The messages after this summary are the most recent messages/,
  /^(?:Please )?continue the conversation from where (?:we|it) left (?:it )?off\b/i,
  /^You are running in autonomous/,
];
/**
 * Maximum lines after a summary. There are at most four paragraphs, with a few lines of reserve for new ones.
 */
const MAX_CLOSING_LINES = 12;

/** Writes the user message that replaces the summarized messages. */
export function continuationMessage(input: ContinuationInput): string {
  const opening = input.keptEarlier ? OPENING_AFTER_KEPT : input.isNotes ? OPENING_NOTES : OPENING;
  return [opening, input.summary, ...afterwords(input)].join("\n\n");
}

/**
 * Writes our text next to a summary that cannot contain it, such as the provider's. Returns "" if there is
 * nothing to say.
 */
export function continuationAfterwords(input: Omit<ContinuationInput, "summary" | "isNotes">): string {
  return afterwords(input).join("\n\n");
}

function afterwords(input: Omit<ContinuationInput, "summary" | "isNotes">): readonly string[] {
  const paragraphs: string[] = [];
  if (input.transcriptPath) paragraphs.push(`${TRANSCRIPT}${input.transcriptPath}`);
  if (input.recallTool) paragraphs.push(`${RECALL}\`${input.recallTool}\`${RECALL_HOW}`);
  if (input.keptRecent) paragraphs.push(input.unseen === "shortened" ? KEPT_SHORTENED : KEPT_RECENT);
  if (input.unseen !== undefined) paragraphs.push(input.unseen === "whole" ? UNSEEN : UNSEEN_SHORTENED);
  if (input.trigger === "auto") paragraphs.push(CONTINUE);
  if (input.autonomous) paragraphs.push(AUTONOMOUS);
  return paragraphs;
}

/** Start of the message with which Claude Code continues from a summary. */
const THEIR_OPENING = "This session is being continued from a previous conversation";
const OWN_OPENINGS: readonly string[] = [OPENING, OPENING_NOTES, OPENING_AFTER_KEPT, ...FORMER_OPENINGS];

/** Returns true if a user's text is the continuation message of an earlier conversation. */
export function isContinuation(text: string): boolean {
  return openingLength(text.trimStart()) > 0;
}

/**
 * Returns the length of the opening. Claude Code's opening is the whole first line, and its last words depend
 * on the version.
 */
function openingLength(text: string): number {
  if (text.startsWith(THEIR_OPENING)) return (text.split("\n", 1)[0] ?? "").length;
  return OWN_OPENINGS.find((opening) => text.startsWith(opening))?.length ?? 0;
}

/** Returns true if the session's notes replace the earlier conversation. */
export const isNotesContinuation = (text: string): boolean =>
  [OPENING_NOTES, FORMER_OPENING_NOTES].some((opening) => text.trimStart().startsWith(opening));

/**
 * Returns the summary in a continuation message, without the paragraphs that longhaul or Claude Code writes
 * around it. Only the first line and the end of the message are checked, because the same words inside the
 * summary are a quotation.
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
 * Returns the line where Claude Code's closing starts. The closing has the transcript's path, followed by
 * orders to continue. The wording of these orders changes. For this reason, all plain paragraphs from the
 * path to the end count as the closing. A list or a heading belongs to the summary.
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

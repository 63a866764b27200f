import { withoutControls } from "@longhaul/core/internal/messages";
import type { Answer, Plan } from "@longhaul/core/internal/summary";
import {
  AFTER_INTERRUPTION,
  clip,
  clipMarkdown,
  earlierItems,
  headAndTail,
  indented,
  isRequest,
  listedMessages,
  messageForms,
  messageKey,
  oneLine,
  parseMessageItem,
  proseSentences,
  quoted,
} from "@longhaul/core/internal/summary";
import { headOf } from "@longhaul/core/messages";
import type { UpdateInput } from "./news.ts";
import { asBullet, foreignItem, keptItem, type NoteItem, ownItem, PINNED, putLast } from "./note-items.ts";
import { replyContext } from "./note-state.ts";

/** This file writes the sections "Session Title" and "Task Specification" of the built-in notes. */

const MAX_TITLE_CHARS = 100;
/** A shorter message is too generic for a title. */
const MIN_TITLE_CHARS = 12;
const SAYS_LITTLE_CHARS = 30;
const LOOKED_AT_CHARS = 1_000;
/**
 * Marks at the start of a line. They are removed from a title, because with them the title would look like a
 * heading or a list item.
 */
const MARKS_IN_FRONT = /^[^\p{L}\p{N}/`"'(]+/u;

/** Returns the person's first request as the title. Keeps a title that the notes already have. */
export function sessionTitle(before: readonly string[], { digest }: UpdateInput): readonly NoteItem[] {
  if (before.length > 0) return before.map((item) => keptItem(item));
  const earlier = earlierItems(digest.earlier, "All User Messages").map(parseMessageItem);
  const said = digest.exchanges.filter(isRequest).map(({ message }) => message?.text ?? "");
  const titles = [...earlier, ...said].map(titleFrom).filter((title) => title !== "");
  const title = titles.find(({ length }) => length > MIN_TITLE_CHARS) ?? titles[0];
  return title === undefined ? [] : [ownItem([title, clip(title, MAX_TITLE_CHARS / 2)])];
}

/**
 * Returns the first sentence of the text as a title. If the sentence is short or ends with a colon, adds the
 * text that follows.
 */
function titleFrom(text: string): string {
  const lines = headOf(text, LOOKED_AT_CHARS)
    .split("\n")
    .map((line) => oneLine(line).replace(MARKS_IN_FRONT, ""))
    .filter((line) => line !== "" && !/^\w+\]$/.test(line));
  const [first = "", second = ""] = lines;
  const [sentence = first] = proseSentences(first);
  const saysEnough = sentence.length >= SAYS_LITTLE_CHARS && !/[:：]$/.test(sentence);
  const more = sentence === first ? `${first} ${second}` : first;
  return clip((saysEnough ? sentence : more).replace(/[\s.:;,]+$/, ""), MAX_TITLE_CHARS);
}

const PLAN = "- Plan of the assistant ";
const ASKED = "- Asked: ";
const MAX_PLAN_CHARS = 1_600;
const MAX_QUESTION_CHARS = 220;
const MAX_ANSWER_CHARS = 400;
const MAX_CONTEXT_CHARS = 160;
/**
 * Number of compared characters. If the first letters and digits of two messages agree up to this number,
 * they count as one message.
 */
const ALIKE_CHARS = 30;
const OURS_IN_INTENT = /^- (?:"|\((?:\d+|several) lines\)\n|Working directory|For this summary)/;

/**
 * Lists the person's requests, requirements and answers in order. The first and the newest items are dropped
 * last.
 */
export function taskSpecification(before: readonly string[], news: UpdateInput): readonly NoteItem[] {
  const list = new MessageList();
  for (const item of before) readItem(list, item);
  for (const text of intentBefore(news, list)) list.put(text, foreignItem(text));
  for (const text of messagesBefore(news, list)) takeMessage(list, text, news.longestItemChars);
  const { exchanges, answers, plans } = news.digest;
  const requests = exchanges.flatMap((exchange, index) => {
    const { message } = exchange;
    if (message === undefined || !isRequest(exchange)) return [];
    return [{ ...message, context: replyContext(message.text, index, news, MAX_CONTEXT_CHARS) }];
  });
  for (const found of [...requests, ...answers, ...plans].sort((a, b) => a.at - b.at)) {
    if ("answer" in found) addAnswer(list, found);
    else if ("approved" in found) takePlan(list, found, news.longestItemChars);
    else {
      const prefix = found.afterInterruption ? AFTER_INTERRUPTION : "";
      takeMessage(list, found.text, news.longestItemChars, prefix, found.context);
    }
  }
  const first = list.firstMessage();
  return list.items().map((item) => (item === first ? { ...item, worth: PINNED } : item));
}

function readItem(list: MessageList, item: string): void {
  const text = list.readMessage(item);
  // The shortest form does not depend on how much earlier updates have shortened the message.
  if (text !== undefined) list.putMessage(text, ownItem([item, ...writtenForms(text, BRIEF_CHARS, "")]));
  else if (item.startsWith(PLAN)) list.put(PLAN, keptItem(item));
  else if (item.startsWith(ASKED)) list.put(item.split(" → ")[0] ?? item, keptItem(item));
  else list.put(item, foreignItem(item));
}

function takeMessage(list: MessageList, text: string, longestChars: number, prefix = "", context = ""): void {
  const clean = withoutControls(text).trim();
  if (clean === "") return;
  const forms = writtenForms(clean, longestChars, prefix);
  const isOneLine = !forms[0]?.includes("\n");
  list.putMessage(clean, ownItem(context !== "" && isOneLine ? [`${forms[0]}${context}`, ...forms] : forms));
}

function addAnswer(list: MessageList, { question, answer }: Answer): void {
  const asked = `${ASKED}${quoted(clip(oneLine(question), MAX_QUESTION_CHARS))}`;
  const said = quoted(oneLine(answer));
  list.put(asked, ownItem([`${asked} → ${clip(said, MAX_ANSWER_CHARS)}`, `${asked} → ${clip(said, 120)}`]));
}

/** Keeps only the newest plan, which replaces earlier ones. */
function takePlan(list: MessageList, { text, approved }: Plan, longestChars: number): void {
  const status = approved ? "(approved by the user)" : "(no approval by the user on record)";
  const forms = [MAX_PLAN_CHARS, 700, 300].map((chars) => {
    const plan = clipMarkdown(withoutControls(text).trim(), Math.min(chars, longestChars));
    return `${PLAN}${status}:\n${indented(plan)}`;
  });
  list.put(PLAN, ownItem(forms));
}

/**
 * Returns the user messages that an earlier summary lists and the notes lack. If the notes contain some of
 * the listed messages, returns only the messages after the last of them. Earlier messages may be in the notes
 * in other words, because a model rewords messages.
 */
function messagesBefore({ digest }: UpdateInput, list: MessageList): readonly string[] {
  const messages = listedMessages(digest.earlier);
  if (messages.length === 0) return [];
  const known = list.messages().map(letters);
  const isKnown = (text: string): boolean => known.some((key) => beginAlike(key, letters(text)));
  return messages.slice(messages.findLastIndex(isKnown) + 1);
}

const letters = (text: string): string =>
  text
    .slice(0, 200)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "");

function beginAlike(one: string, other: string): boolean {
  const length = Math.min(one.length, other.length, ALIKE_CHARS);
  return length > 0 && one.slice(0, length) === other.slice(0, length);
}

/**
 * Returns the requests from a model's summary if the notes have no user messages. Skips lines in the format
 * of the built-in summarizer, because these lines repeat user messages.
 */
function intentBefore({ digest, longestItemChars }: UpdateInput, list: MessageList): readonly string[] {
  if (list.messages().length > 0) return [];
  return earlierItems(digest.earlier, "Primary Request and Intent")
    .filter((item) => !OURS_IN_INTENT.test(item))
    .map((item) => asBullet(clipMarkdown(withoutControls(item), longestItemChars)));
}

const BRIEF_CHARS = 400;
const SHORTER_CHARS: readonly number[] = [1_000, BRIEF_CHARS, 160];
/**
 * Minimum length of a shortened message. If a shorter text ends with an ellipsis, the user wrote the
 * ellipsis.
 */
const MIN_SHORTENED_CHARS = 60;
/**
 * Minimum length of a shortened message that also shows its end. People often put their request at the end.
 */
const HEAD_AND_TAIL_FROM_CHARS = 500;
const OURS = /^- (?:\(after interrupting the assistant\) )?(?:["“]|\((?:\d+|several) lines\)\n)/;
const CONTEXT = / \(in reply to: ".*"\)$/;
const CUT_MARK = /\[… \d+ characters left out(?: here; they are in|: see) the transcript …\]/;

/**
 * Returns the forms of a message, longest first. The first form is the verbatim text if it is short enough.
 * Indents all further lines, so that no line looks like a heading.
 */
function writtenForms(text: string, longestChars: number, prefix: string): string[] {
  const lengths = [longestChars, ...SHORTER_CHARS].filter(
    (chars, index) => chars < text.length && (index === 0 || chars < longestChars),
  );
  const shortened = lengths.map((chars) => shorterText(text, chars));
  const texts = text.length <= longestChars ? [text, ...shortened] : shortened;
  return texts.map((part) => (messageForms(part, prefix)[0] ?? "").replace(/\n(?=.)/g, "\n  "));
}

function shorterText(text: string, chars: number): string {
  const isCut = CUT_MARK.test(text);
  if (chars >= HEAD_AND_TAIL_FROM_CHARS && !isCut) return headAndTail(text, chars);
  const head = isCut ? (text.split(CUT_MARK)[0] ?? "") : headOf(text, 4 * chars);
  const line = oneLine(head);
  return line.length <= chars && head.length < text.length ? `${line}…` : clip(line, chars);
}

interface Shortened {
  readonly slot: string;
  readonly beginning: string;
  readonly ending: string;
}

/**
 * Items in order, each with a key. If a message is repeated, it moves to the end, unless it is the first
 * message. If the notes contain only a shortened form of a message, the beginning and end of that form
 * identify the message.
 */
class MessageList {
  readonly #slots = new Map<string, NoteItem>();
  readonly #texts = new Map<string, string>();
  readonly #shortened: Shortened[] = [];

  /**
   * Returns the text of a message in the notes. Returns undefined if the item does not have the format that
   * this file writes.
   */
  readMessage(item: string): string | undefined {
    if (!OURS.test(item)) return undefined;
    const text = parseMessageItem(item.replace(/\n {2}/g, "\n").replace(CONTEXT, ""));
    const slot = keyOf(text);
    const [beginning = "", ending] = slot.split(CUT_MARK).map((part) => part.trim());
    if (ending !== undefined) this.#shortened.push({ slot, beginning, ending });
    else if (slot.endsWith("…") && slot.length >= MIN_SHORTENED_CHARS)
      this.#shortened.push({ slot, beginning: slot.slice(0, -1).trimEnd(), ending: "" });
    return text;
  }

  putMessage(text: string, item: NoteItem): void {
    const slot = this.#slotOf(text);
    if (slot === this.#firstSlot()) this.#slots.set(slot, item);
    else this.put(slot, item);
    this.#texts.set(slot, text);
  }

  put(slot: string, item: NoteItem): void {
    putLast(this.#slots, slot, item);
  }

  items(): readonly NoteItem[] {
    return [...this.#slots.values()];
  }

  messages(): readonly string[] {
    return [...this.#texts.values()];
  }

  firstMessage(): NoteItem | undefined {
    return this.#slots.get(this.#firstSlot() ?? "");
  }

  /**
   * Returns the key of the first message. This key never changes, because the first message is never removed
   * or moved.
   */
  #firstSlot(): string | undefined {
    return this.#texts.keys().next().value;
  }

  #slotOf(text: string): string {
    const key = keyOf(text);
    if (this.#slots.has(key)) return key;
    const known = this.#shortened.find(
      ({ beginning, ending }) => key.startsWith(beginning) && key.endsWith(ending),
    );
    return known?.slot ?? key;
  }
}

const keyOf = (text: string): string => messageKey(text).replace(/^["“]|["”]$/g, "");

import { withoutControls } from "../../../conversation/text.ts";
import { clip, clipMarkdown, indented, oneLine, quoted } from "../../../summary/clip.ts";
import {
  AFTER_INTERRUPTION,
  type Answer,
  earlierItems,
  type HumanMessage,
  isRequest,
  listedMessages,
  type Plan,
} from "../../../summary/readers/readers.ts";
import type { News } from "../news.ts";
import { asBullet, foreignItem, keptItem, type NoteItem, ownItem, PINNED } from "../note-item.ts";
import { replyContext } from "./context.ts";
import { MessageList, shorterForms, writtenForms } from "./message-items.ts";

const PLAN = "- Plan of the assistant ";
const ASKED = "- Asked: ";
const MAX_PLAN_CHARS = 1_600;
const MAX_QUESTION_CHARS = 220;
const MAX_ANSWER_CHARS = 400;
const MAX_CONTEXT_CHARS = 160;
/** How much of two messages must be the same for them to be one. */
const ALIKE_CHARS = 30;
const OURS_IN_INTENT = /^- (?:"|\(\d+ lines\)\n|Working directory|For this summary)/;

interface Step {
  readonly at: number;
  readonly take: () => void;
}

/** What the person asked for, required and answered, in order. The first and the newest are the last to go. */
export function taskSpecification(before: readonly string[], news: News): readonly NoteItem[] {
  const list = new MessageList();
  for (const item of before) readItem(list, item);
  for (const text of intentBefore(news, list)) list.put(text, foreignItem(text));
  for (const text of messagesBefore(news, list)) takeMessage(list, text, news.longestItemChars);
  const { exchanges, answers, plans } = news.digest;
  const steps: Step[] = [
    ...exchanges.flatMap((exchange, index): Step[] => {
      const { message } = exchange;
      if (message === undefined || !isRequest(exchange)) return [];
      const context = replyContext(message.text, index, news, MAX_CONTEXT_CHARS);
      return [{ at: message.at, take: () => takeRequest(list, message, context, news) }];
    }),
    ...answers.map((answer) => ({ at: answer.at, take: () => takeAnswer(list, answer) })),
    ...plans.map((plan) => ({ at: plan.at, take: () => takePlan(list, plan, news.longestItemChars) })),
  ];
  for (const step of steps.sort((a, b) => a.at - b.at)) step.take();
  const first = list.firstMessage();
  return list.items().map((item) => (item === first ? { ...item, worth: PINNED } : item));
}

function readItem(list: MessageList, item: string): void {
  const text = list.readMessage(item);
  if (text !== undefined) list.putMessage(text, ownItem([item, ...shorterForms(text)]));
  else if (item.startsWith(PLAN)) list.put(PLAN, keptItem(item));
  else if (item.startsWith(ASKED)) list.put(item.split(" → ")[0] ?? item, keptItem(item));
  else list.put(item, foreignItem(item));
}

function takeRequest(list: MessageList, message: HumanMessage, context: string, news: News): void {
  const prefix = message.afterInterruption ? AFTER_INTERRUPTION : "";
  takeMessage(list, message.text, news.longestItemChars, prefix, context);
}

function takeMessage(list: MessageList, text: string, longestChars: number, prefix = "", context = ""): void {
  const clean = withoutControls(text).trim();
  if (clean === "") return;
  const forms = writtenForms(clean, longestChars, prefix);
  const isOneLine = !forms[0]?.includes("\n");
  list.putMessage(clean, ownItem(context !== "" && isOneLine ? [`${forms[0]}${context}`, ...forms] : forms));
}

function takeAnswer(list: MessageList, { question, answer }: Answer): void {
  const asked = `${ASKED}${quoted(clip(oneLine(question), MAX_QUESTION_CHARS))}`;
  const said = quoted(oneLine(answer));
  list.put(asked, ownItem([`${asked} → ${clip(said, MAX_ANSWER_CHARS)}`, `${asked} → ${clip(said, 120)}`]));
}

/** Only the newest: it took the place of those before it. */
function takePlan(list: MessageList, { text, approved }: Plan, longestChars: number): void {
  const status = approved ? "(the user let it go ahead)" : "(no approval by the user on record)";
  const forms = [MAX_PLAN_CHARS, 700, 300].map((chars) => {
    const plan = clipMarkdown(withoutControls(text).trim(), Math.min(chars, longestChars));
    return `${PLAN}${status}:\n${indented(plan)}`;
  });
  list.put(PLAN, ownItem(forms));
}

/**
 * The messages that a summary in front tells of. Notes that have messages already need only those after the last
 * one they know: a model puts them in words of its own, and none would be known again.
 */
function messagesBefore({ digest }: News, list: MessageList): readonly string[] {
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

/** What a model made of the requests, where the notes do not have them; ours stand among the messages. */
function intentBefore({ digest, longestItemChars }: News, list: MessageList): readonly string[] {
  if (list.messages().length > 0) return [];
  return earlierItems(digest.earlier, "Primary Request and Intent")
    .filter((item) => !OURS_IN_INTENT.test(item))
    .map((item) => asBullet(clipMarkdown(withoutControls(item), longestItemChars)));
}

import { withoutControls } from "../../../conversation/text.ts";
import { clip, clipMarkdown, oneLine, quoted } from "../../../summary/builtin/clip.ts";
import type { Exchange } from "../../../summary/builtin/exchange.ts";
import { isRequest } from "../../../summary/builtin/exchange.ts";
import type { Answer, Plan } from "../../../summary/builtin/read/answers.ts";
import { earlierItems } from "../../../summary/builtin/read/earlier.ts";
import { AFTER_INTERRUPTION, parseMessageItem } from "../../../summary/builtin/render/message-item.ts";
import type { News } from "../news.ts";
import { asBullet, foreignItem, keptItem, type NoteItem, ownItem, PINNED } from "../note-item.ts";
import { shortReplyContext } from "./context.ts";
import { isSameMessage, type KnownMessage, readMessage, writtenForms } from "./message-items.ts";

const PLAN = "- Plan of the assistant ";
const ASKED = "- Asked: ";
/** How much of two messages must be the same for them to be one. */
const ALIKE_CHARS = 30;
const MAX_PLAN_CHARS = 1_600;
const MAX_QUESTION_CHARS = 220;
const MAX_ANSWER_CHARS = 400;
/** In a summary of ours the current request stands once, under the first heading. */
const SEE_ABOVE = /^- \(the current request: see 1\)$/;
const OURS_IN_INTENT = /^- (?:"|\(\d+ lines\)\n|Working directory|For this summary)/;

interface Slot {
  readonly message?: KnownMessage | undefined;
  readonly key?: string | undefined;
  readonly item: NoteItem;
}

/** What the person asked for, required and answered, in order. The first and the newest are the last to go. */
export function taskSpecification(before: readonly string[], news: News): readonly NoteItem[] {
  const slots = before.map(readSlot);
  for (const text of intentBefore(news)) put(slots, { key: text, item: foreignItem(text) });
  for (const text of messagesBefore(news, slots)) putMessage(slots, text, news.longestItemChars);
  const { exchanges, answers, plans } = news.digest;
  const said = exchanges.filter(isRequest);
  const steps: { at: number; put: () => void }[] = [
    ...said.map((exchange) => ({
      at: exchange.message?.at ?? 0,
      put: () => putRequest(slots, exchange, news),
    })),
    ...answers.map((answer) => ({ at: answer.at, put: () => put(slots, answerSlot(answer)) })),
    ...plans.map((plan) => ({ at: plan.at, put: () => put(slots, planSlot(plan, news.longestItemChars)) })),
  ];
  for (const step of steps.sort((a, b) => a.at - b.at)) step.put();
  const first = slots.findIndex(({ message }) => message !== undefined);
  return slots.map(({ item }, index) => (index === first ? { ...item, worth: PINNED } : item));
}

function readSlot(item: string): Slot {
  const message = readMessage(item);
  if (message !== undefined) {
    const shorter = item.length > 160 ? writtenForms(message.text, 160, "").slice(-1) : [];
    return { message, item: ownItem([item, ...shorter]) };
  }
  const key = keyOf(item);
  return { key, item: key === undefined ? foreignItem(item) : keptItem(item) };
}

function keyOf(item: string): string | undefined {
  if (item.startsWith(PLAN)) return PLAN;
  return item.startsWith(ASKED) ? (item.split(" → ")[0] ?? item) : undefined;
}

function put(slots: Slot[], slot: Slot): void {
  const at = slots.findIndex(({ key }) => key !== undefined && key === slot.key);
  if (at !== -1) slots.splice(at, 1);
  slots.push(slot);
}

function putRequest(slots: Slot[], exchange: Exchange, news: News): void {
  const { message } = exchange;
  if (message === undefined) return;
  const prefix = message.afterInterruption ? AFTER_INTERRUPTION : "";
  putMessage(slots, message.text, news.longestItemChars, prefix, shortReplyContext(exchange, news));
}

/** Said again it is the newest; the first stays the first. */
function putMessage(slots: Slot[], text: string, longestChars: number, prefix = "", context = ""): void {
  const clean = withoutControls(text).trim();
  if (clean === "") return;
  const known = slots.findIndex(({ message }) => message !== undefined && isSameMessage(message, clean));
  const isFirst = known !== -1 && slots.findIndex(({ message }) => message !== undefined) === known;
  const forms = writtenForms(clean, longestChars, prefix);
  const isOneLine = !forms[0]?.includes("\n");
  const item = ownItem(context !== "" && isOneLine ? [`${forms[0]}${context}`, ...forms] : forms);
  const slot: Slot = { message: readMessage(item.forms[0] ?? ""), item };
  if (known !== -1) slots.splice(known, 1);
  if (isFirst) slots.splice(known, 0, slot);
  else slots.push(slot);
}

function answerSlot({ question, answer }: Answer): Slot {
  const asked = `${ASKED}${quoted(clip(oneLine(question), MAX_QUESTION_CHARS))}`;
  const said = quoted(oneLine(answer));
  return {
    key: asked,
    item: ownItem([`${asked} → ${clip(said, MAX_ANSWER_CHARS)}`, `${asked} → ${clip(said, 120)}`]),
  };
}

/** Only the newest: it took the place of those before it. */
function planSlot({ text, approved }: Plan, longestChars: number): Slot {
  const status = approved ? "(the user let it go ahead)" : "(no approval by the user on record)";
  const forms = [MAX_PLAN_CHARS, 700, 300].map((chars) => {
    const plan = clipMarkdown(withoutControls(text).trim(), Math.min(chars, longestChars));
    return `${PLAN}${status}:\n${plan.replace(/^(?=.)/gm, "  ")}`;
  });
  return { key: PLAN, item: ownItem(forms) };
}

/**
 * The messages that a summary in front tells of. Notes that have messages already need only those after the last
 * one they know: a model puts them in words of its own, and none would be known again.
 */
function messagesBefore({ digest }: News, slots: readonly Slot[]): readonly string[] {
  const current = earlierItems(digest.earlier, "Primary Request and Intent")[0] ?? "";
  const messages = earlierItems(digest.earlier, "All User Messages").map((item) =>
    parseMessageItem(SEE_ABOVE.test(item) ? current : item),
  );
  const known = slots.flatMap(({ message }) => (message === undefined ? [] : [letters(message.text)]));
  return messages.slice(
    messages.findLastIndex((text) => known.some((key) => beginAlike(key, letters(text)))) + 1,
  );
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
function intentBefore({ digest, before, longestItemChars }: News): readonly string[] {
  if (before.hasRequests) return [];
  return earlierItems(digest.earlier, "Primary Request and Intent")
    .filter((item) => !OURS_IN_INTENT.test(item))
    .map((item) => asBullet(clipMarkdown(withoutControls(item), longestItemChars)));
}

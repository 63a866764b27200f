import { headOf } from "../../../conversation/text.ts";
import { clip, headAndTail, oneLine } from "../../../summary/clip.ts";
import { messageForms, messageKey, parseMessageItem } from "../../../summary/readers/readers.ts";
import type { NoteItem } from "../note-item.ts";

/** A person's messages as items of the notes: written here, and known again at the next update. */

const BRIEF_CHARS = 400;
const SHORTER_CHARS: readonly number[] = [1_000, BRIEF_CHARS, 160];
/** What is shorter and ends with an ellipsis was written like that. */
const LEAST_SHORTENED_CHARS = 60;
/** From this length on the end of a message is shown too: there people put what they want. */
const HEAD_AND_TAIL_FROM_CHARS = 500;
const OURS = /^- (?:\(after interrupting the assistant\) )?(?:["“]|\(\d+ lines\)\n)/;
const CONTEXT = / \(in reply to: ".*"\)$/;
const CUT_MARK = /\[… \d+ characters left out here; they are in the transcript …\]/;

/** Verbatim where it is short enough; shorter ones follow. Lines stand indented: none can be taken for a heading. */
export function writtenForms(text: string, longestChars: number, prefix: string): string[] {
  const lengths = [longestChars, ...SHORTER_CHARS].filter(
    (chars, index) => chars < text.length && (index === 0 || chars < longestChars),
  );
  const shortened = lengths.map((chars) => shorterText(text, chars));
  const texts = text.length <= longestChars ? [text, ...shortened] : shortened;
  return texts.map((part) => indented(messageForms(part, prefix)[0] ?? ""));
}

/** For a message that stands in the notes. The shortest is the same however it has been shortened before. */
export function shorterForms(text: string): string[] {
  return writtenForms(text, BRIEF_CHARS, "");
}

function shorterText(text: string, chars: number): string {
  const isCut = CUT_MARK.test(text);
  if (chars >= HEAD_AND_TAIL_FROM_CHARS && !isCut) return headAndTail(text, chars);
  const head = isCut ? (text.split(CUT_MARK)[0] ?? "") : headOf(text, 4 * chars);
  const line = oneLine(head);
  return line.length <= chars && head.length < text.length ? `${line}…` : clip(line, chars);
}

function indented(item: string): string {
  return item.replace(/\n(?=.)/g, "\n  ");
}

interface Shortened {
  readonly slot: string;
  readonly beginning: string;
  readonly ending: string;
}

/**
 * Items in their order, each known by a key. A message that comes again is the newest, unless it was the first. The
 * notes may have it shortened; only those few are compared one by one.
 */
export class MessageList {
  readonly #slots = new Map<string, NoteItem>();
  readonly #texts = new Map<string, string>();
  #shortened: Shortened[] = [];

  /** Undefined for what is no message as we write them. */
  readMessage(item: string): string | undefined {
    if (!OURS.test(item)) return undefined;
    const text = parseMessageItem(item.replace(/\n {2}/g, "\n").replace(CONTEXT, ""));
    const slot = keyOf(text);
    const [beginning = "", ending] = slot.split(CUT_MARK).map((part) => part.trim());
    if (ending !== undefined) this.#shortened.push({ slot, beginning, ending });
    else if (slot.endsWith("…") && slot.length >= LEAST_SHORTENED_CHARS)
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
    this.#slots.delete(slot);
    this.#slots.set(slot, item);
  }

  items(): readonly NoteItem[] {
    return [...this.#slots.values()];
  }

  messages(): readonly string[] {
    return [...this.#texts.values()];
  }

  firstMessage(): NoteItem | undefined {
    const slot = this.#firstSlot();
    return slot === undefined ? undefined : this.#slots.get(slot);
  }

  /** Messages are never taken out and the first is never moved: it is the first that was put. */
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

import { headOf } from "../../../conversation/text.ts";
import { clip, headAndTail, oneLine } from "../../../summary/builtin/clip.ts";
import { messageKey } from "../../../summary/builtin/read/human.ts";
import { messageForms, parseMessageItem } from "../../../summary/builtin/render/message-item.ts";

/** A person's message as an item of the notes: written here, and known again at the next update. */
export interface KnownMessage {
  /** The message, or what is left of it. */
  readonly text: string;
  readonly beginning: string;
  /** Undefined while the message is whole. */
  readonly ending: string | undefined;
}

const SHORTER_CHARS: readonly number[] = [1_000, 400, 160];
/** From this length on the end of a message is shown too: there people put what they want. */
const HEAD_AND_TAIL_FROM_CHARS = 500;
const OURS = /^- (?:\(after interrupting the assistant\) )?(?:["“]|\(\d+ lines\)\n)/;
const CONTEXT = / \(in reply to: ".*"\)$/;
const CUT_MARK = /\s*\[… \d+ characters left out here; they are in the transcript …\]\s*/;

/** Verbatim where it is short enough; shorter ones follow. Lines stand indented: none can be taken for a heading. */
export function writtenForms(text: string, longestChars: number, prefix: string): string[] {
  const lengths = [longestChars, ...SHORTER_CHARS].filter(
    (chars, index) => chars < text.length && (index === 0 || chars < longestChars),
  );
  const shortened = lengths.map((chars) => shorterText(text, chars));
  const texts = text.length <= longestChars ? [text, ...shortened] : shortened;
  return texts.map((part) => indented(messageForms(part, prefix)[0] ?? ""));
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

/** Undefined for what is no message as we write them. */
export function readMessage(item: string): KnownMessage | undefined {
  if (!OURS.test(item)) return undefined;
  const text = parseMessageItem(item.replace(/\n {2}/g, "\n").replace(CONTEXT, ""));
  const key = keyOf(text);
  const [beginning = "", ending] = key.split(CUT_MARK);
  if (ending !== undefined) return { text, beginning, ending };
  return key.endsWith("…")
    ? { text, beginning: key.slice(0, -1).trimEnd(), ending: "" }
    : { text, beginning: key, ending: undefined };
}

/** One message told twice, the first time perhaps shortened. */
export function isSameMessage(known: KnownMessage, text: string): boolean {
  const key = keyOf(text);
  if (known.ending === undefined) return key === known.beginning;
  return key.startsWith(known.beginning) && key.endsWith(known.ending);
}

const keyOf = (text: string): string => messageKey(text).replace(/^["“]|["”]$/g, "");

import type { FactAuthor } from "../../../messages/fact-ledger.ts";
import { headOf, tailOf } from "../../../messages/text.ts";
import { headAndTail, oneLine } from "../clip.ts";
import { hasIdeographs, proseSentences } from "./prose.ts";
import {
  announcedType,
  connectiveAt,
  continuesReason,
  headingType,
  leadInLength,
  type ReasonType,
  reasonTypeOf,
} from "./zz-cues0.ts";
import { contentWords } from "./topic-words.ts";

/** Reads causes, decisions and corrected beliefs from the words of users and the assistant. */

/** Statement with its reason. */
export interface Reason {
  readonly type: ReasonType;
  readonly by: FactAuthor;
  /** The statement on one line. */
  readonly text: string;
  /** Verbatim pieces with the names, the numbers and the reason. A text that contains them holds the reason. */
  readonly needed: readonly string[];
}

/** Reason at a position in the conversation. */
export interface StatedReason extends Reason {
  readonly at: number;
}

/** Characters of a text to read. The middle of a longer text is detail. */
const SCANNED_CHARS = 12_000;
/** A longer sentence is usually a list or data on one line. */
const MAX_SENTENCE_CHARS = 600;
/** A longer sentence does not only announce another one. */
const MAX_ANNOUNCEMENT_CHARS = 160;
/** Minimum length of a statement, in scripts with and without spaces between words. */
const MIN_CHARS = 24;
const MIN_CHARS_IDEOGRAPHIC = 8;
/** Number of content words below which a statement has no content. */
const MIN_WORDS = 3;
/** The same for a sentence that only announces code. */
const MIN_WORDS_OF_OPENING = 5;
/** Number of content words below which a reason is only filler. */
const MIN_WORDS_OF_REASON = 1;
/** Maximum length of a statement with the sentences that continue it. */
const MAX_CHARS = 380;
/** Maximum number of sentences and list items of a statement. */
const MAX_PARTS = 5;
/** Maximum number of statements of one text. A longer list is a document. */
const MAX_PER_TEXT = 12;

/** Reads the statements of a text. `by` is its author. */
export function reasonsIn(text: string, by: FactAuthor): readonly Reason[] {
  const units = unitsOf(by === "user" ? ownWords(text) : headAndTail(text, SCANNED_CHARS));
  const found: Reason[] = [];
  let announced: ReasonType | undefined;
  for (let index = 0; index < units.length; index++) {
    const unit = units[index] as Unit;
    if (unit.kind === "heading") {
      announced = headingType(unit.text);
      continue;
    }
    const next = unit.text.length > MAX_ANNOUNCEMENT_CHARS ? undefined : announcedType(unit.text);
    if (next !== undefined && !saysEnough(unit.text.slice(leadInLength(unit.text)))) {
      announced = next;
      continue;
    }
    const type = typeOf(unit, by, announced);
    // A heading covers the whole list below it.
    if (unit.kind !== "item") announced = undefined;
    if (type === undefined) continue;
    const parts = partsFrom(units, index);
    if (!hasContent(parts)) continue;
    found.push({ type, by, ...formsOf(parts) });
    index += parts.length - 1;
  }
  return found.slice(0, MAX_PER_TEXT);
}

/** Returns the type of a unit. A sentence after an announcement or a heading needs no cue. */
function typeOf(unit: Unit, by: FactAuthor, announced: ReasonType | undefined): ReasonType | undefined {
  if (unit.text.length > MAX_SENTENCE_CHARS) return undefined;
  const type = reasonTypeOf(unit.text, by);
  if (type !== undefined && type !== "reason") return type;
  const isStatement = announced !== undefined && !/[?？]\W{0,4}$/.test(unit.text) && !isStep(unit.text);
  return isStatement ? announced : type;
}

/** Returns true for a sentence about the next step. */
const isStep = (sentence: string): boolean =>
  /^\W*(?:step \d|now\b|let me|let's|i'?ll|i will|i need|next)/i.test(sentence);

interface Unit {
  /** `item`: list item. `pause`: code or a table, which belongs to no statement. */
  readonly kind: "sentence" | "item" | "heading" | "pause";
  readonly text: string;
}

const HEADING_LINE = /^\s*(?:#{1,6}\s+(.+)|\*\*([^*]{3,80})\*\*:?\s*)$/;
const ITEM_LINE = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+/;
/** Quoted text, tables and rules, which are not the author's own sentences. */
const FOREIGN_LINE = /^\s*(?:>|\||[-=_*─━]{3,}\s*$)/;

/** Maximum length of the needed pieces of one sentence, and of its first and its last piece. */
const NEEDED_CHARS = 160;
const NEEDED_HEAD_CHARS = 84;
const NEEDED_TAIL_CHARS = 70;
/** Maximum length of all needed pieces. */
const ALL_NEEDED_CHARS = 260;

/** Returns the text of a statement and its needed pieces. `parts`: sentences on one line each. */
export function formsOf(parts: readonly string[]): Pick<Reason, "text" | "needed"> {
  const needed: string[] = [];
  let chars = 0;
  for (const part of parts) {
    const pieces = neededPieces(part);
    chars += pieces.join(" ").length;
    if (needed.length > 0 && chars > ALL_NEEDED_CHARS) break;
    needed.push(...pieces);
  }
  return { text: headAndTail(parts.join(" "), MAX_CHARS, () => OMISSION), needed };
}

/** Mark between pieces of a shortened statement. */
export const OMISSION = "[…]";

function neededPieces(part: string): readonly string[] {
  const content = part.slice(leadInLength(part)).trim();
  const whole = content === "" ? part : content;
  if (whole.length <= NEEDED_CHARS) return [whole];
  const head = startOf(whole, NEEDED_HEAD_CHARS);
  const reasonAt = connectiveAt(whole);
  const tail =
    reasonAt >= head.length
      ? startOf(whole.slice(reasonAt), NEEDED_TAIL_CHARS)
      : tailOf(whole, NEEDED_TAIL_CHARS).replace(/^\S*\s/, "");
  return [head.trim(), tail.trim()].filter((piece) => piece !== "");
}

/** Returns the start of a text, without a word that the cut may have split. */
function startOf(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = headOf(text, maxChars);
  const space = head.lastIndexOf(" ");
  return space > head.length / 2 ? head.slice(0, space) : head;
}

/** Splits a text into headings, sentences and list items. Code is left out. */
function unitsOf(text: string): readonly Unit[] {
  const units: Unit[] = [];
  let fence: string | undefined;
  for (const line of text.split("\n")) {
    const mark = /^\s*(```|~~~)/.exec(line)?.[1];
    if (mark !== undefined && (fence === undefined || mark === fence)) {
      if (fence === undefined) units.push({ kind: "pause", text: "" });
      fence = fence === undefined ? mark : undefined;
      continue;
    }
    if (fence !== undefined || line.trim() === "") continue;
    if (FOREIGN_LINE.test(line)) {
      units.push({ kind: "pause", text: "" });
      continue;
    }
    const heading = HEADING_LINE.exec(line);
    const title = heading?.[1] ?? heading?.[2];
    if (title !== undefined) units.push({ kind: "heading", text: bare(title) });
    else if (ITEM_LINE.test(line)) {
      units.push({ kind: "item", text: bare(line.replace(ITEM_LINE, "")) });
    } else
      for (const sentence of proseSentences(line)) units.push({ kind: "sentence", text: bare(sentence) });
  }
  return units;
}

const bare = (text: string): string => oneLine(text.replaceAll("**", ""));

/** Returns the sentence with the list below it, or with the sentences that continue it. */
function partsFrom(units: readonly Unit[], start: number): readonly string[] {
  const first = units[start] as Unit;
  const parts = [first.text];
  let chars = first.text.length;
  const opensList = /[:：]$/.test(first.text);
  for (let index = start + 1; index < units.length && parts.length < MAX_PARTS; index++) {
    const { kind, text } = units[index] as Unit;
    const isPart = kind === "item" ? opensList : kind === "sentence" && continuesReason(text);
    if (!isPart || /[?？]$/.test(text) || chars + text.length > MAX_CHARS) break;
    parts.push(text);
    chars += text.length;
  }
  return parts;
}

function hasContent(parts: readonly string[]): boolean {
  const text = parts.join(" ");
  if (!saysEnough(text)) return false;
  // A sentence that announces code or a list says nothing without it.
  if (parts.length === 1 && /[:：]$/.test(text) && contentWords(text).size < MIN_WORDS_OF_OPENING)
    return false;
  const at = connectiveAt(text);
  const reason = at === -1 ? "" : text.slice(at).replace(/^\W*\S+/, "");
  return (
    at <= 0 || /[:：]$/.test(text) || hasIdeographs(text) || contentWords(reason).size >= MIN_WORDS_OF_REASON
  );
}

function saysEnough(text: string): boolean {
  const least = hasIdeographs(text) ? MIN_CHARS_IDEOGRAPHIC : MIN_CHARS;
  return text.length >= least && contentWords(text).size >= MIN_WORDS;
}

/** A longer message of a user has pasted text in its middle. */
const OWN_WORDS_CHARS = 2_000;
const HEAD_CHARS = 1_300;
const TAIL_CHARS = 700;
/** Line that a program printed. */
const PRINTED =
  /^(?:\s{4,}|\t|\s*(?:---|===|\+\+\+|@@|[[>❯➜$│├└┃✓✔✗×●{}<]|\S+\.\w{1,5}:\d+|\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|at\s|(?:error|warning|info|debug|fatal)\b[:[]|\d+m?s$))/i;

function ownWords(text: string): string {
  const ends =
    text.length <= OWN_WORDS_CHARS ? text : `${headOf(text, HEAD_CHARS)}\n${tailOf(text, TAIL_CHARS)}`;
  return ends
    .split("\n")
    .filter((line) => !PRINTED.test(line))
    .join("\n");
}

import type { FactAuthor } from "../../../messages/fact-ledger.ts";
import { headOf, tailOf } from "../../../messages/text.ts";
import { headAndTail, oneLine } from "../clip.ts";
import { ownWords } from "./own-words.ts";
import { hasIdeographs, proseSentences } from "./prose.ts";
import {
  announcedType,
  announcesChange,
  connectiveAt,
  continuesReason,
  headingType,
  isGuess,
  isOptionList,
  isUnresolved,
  leadInLength,
  type ReasonType,
  reasonTypeOf,
  refersBack,
  saysHowThingsAre,
} from "./reason-cues.ts";
import { contentWords, shareIn } from "./topic-words.ts";

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
/** The same for a statement without a cue after an announcement or a heading. Numbers do not count. */
const MIN_WORDS_ANNOUNCED = 4;
/** Number of content words below which a reason is only filler. */
const MIN_WORDS_OF_REASON = 1;
/** Maximum length of a statement with the sentences that belong to it: a paragraph. */
const MAX_CHARS = 560;
/** Maximum number of sentences and list items of a statement. */
const MAX_PARTS = 6;
/** Maximum number of sentences before and after the one with the cue. */
const MAX_BEFORE = 2;
const MAX_AFTER = 2;
/** Maximum number of statements of one text. A longer list is a document. */
const MAX_PER_TEXT = 12;

/** Reads the statements of a text. `by` is its author. */
export function reasonsIn(text: string, by: FactAuthor): readonly Reason[] {
  const units = unitsOf(by === "user" ? ownWords(text) : headAndTail(text, SCANNED_CHARS));
  const found: Reason[] = [];
  let section: Section = {};
  let used = 0;
  for (let index = 0; index < units.length; index++) {
    const unit = units[index] as Unit;
    if (unit.kind === "heading") {
      section = sectionOf(unit.text);
      continue;
    }
    if (unit.kind === "item" ? section.hasOptions : isOptionList(unit.text)) {
      section = { isUndecided: section.isUndecided, hasOptions: true };
      continue;
    }
    const next = unit.text.length > MAX_ANNOUNCEMENT_CHARS ? undefined : announcedType(unit.text);
    if (next !== undefined && !saysEnough(unit.text.slice(leadInLength(unit.text)))) {
      section = { ...section, announced: next };
      continue;
    }
    const { announced, title } = section;
    // Code follows, and the next sentence says what it means.
    if (announced !== undefined && /[:：]$/.test(unit.text) && units[index + 1]?.kind === "pause") continue;
    const own = typeOf(unit, by, section);
    const isForChange = (own === undefined || own === "reason") && isReasonForChange(units, index);
    const type = isForChange ? "decision" : own;
    const hasDetails = type !== "reason" || announced !== undefined;
    // A heading covers the whole list below it.
    if (unit.kind !== "item") section = { isUndecided: section.isUndecided };
    if (type === undefined) continue;
    const start = startOfArgument(units, index, used);
    if (start === index && type !== "correction" && isUnresolved(unit.text)) {
      const last = index === used ? found.at(-1) : undefined;
      const joined = last === undefined ? "" : `${last.text} ${unit.text}`;
      if (last === undefined || joined.length > MAX_CHARS) continue;
      found[found.length - 1] = { type: last.type === "reason" ? type : last.type, by, ...formsOf([joined]) };
      used = index + 1;
      continue;
    }
    const end = isForChange ? index + 2 : endOfStatement(units, index, { type, by, start, hasDetails });
    const parts = units.slice(start, end).flatMap(({ text: part }) => (part === "" ? [] : [part]));
    if (!hasContent(parts)) continue;
    const titled = title === undefined ? parts : [`${title}: ${parts[0]}`, ...parts.slice(1)];
    found.push({ type, by, ...formsOf(titled) });
    used = end;
    index = end - 1;
  }
  return found.slice(0, MAX_PER_TEXT);
}

/** Part of a text below a heading, or after a sentence that announces something. */
interface Section {
  /** Type of the statements that need no cue. */
  readonly announced?: ReasonType | undefined;
  /** Heading that each statement needs, because it says the contrary without it. */
  readonly title?: string;
  /** True if the part lists findings, plans or questions, so that it decides nothing. */
  readonly isUndecided?: boolean | undefined;
  /** True if the list items are possibilities, none of which is chosen yet. */
  readonly hasOptions?: boolean;
}

function sectionOf(heading: string): Section {
  if (isOptionList(heading)) return { hasOptions: true, isUndecided: true };
  const type = headingType(heading);
  if (type === "skipped" || type === "skippable")
    return { announced: type === "skipped" ? "decision" : "reason", title: heading.replace(/[\s:：]+$/, "") };
  return type === "undecided" ? { isUndecided: true } : { announced: type };
}

/** Returns the type of a unit. A sentence after an announcement or a heading needs no cue. */
function typeOf(
  unit: Unit,
  by: FactAuthor,
  { announced, isUndecided, title }: Section,
): ReasonType | undefined {
  if (unit.text.length > MAX_SENTENCE_CHARS) return undefined;
  const type = reasonTypeOf(unit.text, by);
  if (type === "decision" && isUndecided === true) return undefined;
  if (type !== undefined && type !== "reason") return type;
  const isStatement =
    announced !== undefined &&
    !/[?？]\W{0,4}$/.test(unit.text) &&
    !isStep(unit.text) &&
    !isGuess(unit.text, by) &&
    (title !== undefined ||
      /[:：]$/.test(unit.text) ||
      hasIdeographs(unit.text) ||
      contentWords(unit.text.replace(/\d+/g, "")).size >= MIN_WORDS_ANNOUNCED);
  return isStatement ? announced : type;
}

/**
 * Returns true for an observation about named code right before the change that it leads to, as in "`parseRow` is
 * never called. Let me remove it."
 */
function isReasonForChange(units: readonly Unit[], index: number): boolean {
  const { kind, text, line } = units[index] as Unit;
  const next = units[index + 1];
  return (
    kind === "sentence" &&
    next?.kind === "sentence" &&
    next.line === line &&
    text.length <= MAX_SENTENCE_CHARS &&
    NAME.test(text) &&
    saysHowThingsAre(text) &&
    !isAside(text) &&
    announcesChange(next.text) &&
    saysEnough(next.text)
  );
}

/** Returns true for a sentence about the next step. */
const isStep = (sentence: string): boolean =>
  /^\W*(?:step \d|now,? (?:let|i|i'|i’|we|for|to|add|update|fix|run|check|the next|that)\b|let me|let's|i'?ll|i will|i need|next)/i.test(
    sentence,
  );

interface Unit {
  /** `item`: list item. `pause`: code or a table, which belongs to no statement. */
  readonly kind: "sentence" | "item" | "heading" | "pause";
  readonly text: string;
  /** Line of the text. Sentences of one line are a paragraph. */
  readonly line: number;
}

const HEADING_LINE = /^\s*(?:#{1,6}\s+(.+)|\*\*([^*]{3,80})\*\*:?\s*)$/;
const ITEM_LINE = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+/;
/** Quoted text, tables and rules, which are not the author's own sentences. */
const FOREIGN_LINE = /^\s*(?:>|\||[-=_*─━]{3,}\s*$)/;

/** Maximum length of all needed pieces of a statement. Shorter pieces would find a statement without its reason. */
const ALL_NEEDED_CHARS = 320;
/** A longer sentence is needed by its first and its last piece. The last one has the reason. */
const NEEDED_CHARS = 160;
const NEEDED_HEAD_CHARS = 70;
const NEEDED_TAIL_CHARS = 90;

/**
 * Returns the text of a statement and its needed pieces. `parts`: sentences on one line each, or paragraphs. The
 * first sentence, reasons, names and numbers are needed most.
 */
export function formsOf(parts: readonly string[]): Pick<Reason, "text" | "needed"> {
  const sentences = parts.flatMap(sentencesOf).map((sentence, order) => ({
    order,
    pieces: neededPieces(sentence),
    weight: (order === 0 ? FIRST_WEIGHT : 0) + weightOf(sentence),
  }));
  const needed: typeof sentences = [];
  let chars = 0;
  for (const sentence of sentences.toSorted((a, b) => b.weight - a.weight || a.order - b.order)) {
    const length = sentence.pieces.join(" ").length;
    if (needed.length > 0 && chars + length > ALL_NEEDED_CHARS) continue;
    chars += length;
    needed.push(sentence);
  }
  return {
    text: headAndTail(parts.join(" "), MAX_CHARS, () => OMISSION),
    needed: needed.sort((a, b) => a.order - b.order).flatMap(({ pieces }) => pieces),
  };
}

/** Weights of a sentence: the first, one with a reason, one with a negation or contrast, and one with a name. */
const FIRST_WEIGHT = 3;
const REASON_WEIGHT = 2;
const STATE_WEIGHT = 1;
const NAME_WEIGHT = 1;
const NAME = /`|\d|[a-z][A-Z]|\w[_/]\w/;

const weightOf = (sentence: string): number =>
  (connectiveAt(sentence) === -1 ? 0 : REASON_WEIGHT) +
  (saysHowThingsAre(sentence) ? STATE_WEIGHT : 0) +
  (NAME.test(sentence) ? NAME_WEIGHT : 0);

/** Splits a part that is too long to be needed whole. */
function sentencesOf(part: string): readonly string[] {
  if (part.length <= NEEDED_CHARS) return [part];
  const sentences = proseSentences(part);
  return sentences.length === 0 ? [part] : sentences;
}

/** Mark between pieces of a shortened statement. */
export const OMISSION = "[…]";

function neededPieces(part: string): readonly string[] {
  const content = part.slice(leadInLength(part)).trim();
  const whole = saysEnough(content) ? content : part;
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
  for (const [at, line] of text.split("\n").entries()) {
    const add = (kind: Unit["kind"], said: string): void => {
      units.push({ kind, text: said, line: at });
    };
    const mark = /^\s*(```|~~~)/.exec(line)?.[1];
    if (mark !== undefined && (fence === undefined || mark === fence)) {
      if (fence === undefined) add("pause", "");
      fence = fence === undefined ? mark : undefined;
      continue;
    }
    if (fence !== undefined || line.trim() === "") continue;
    if (FOREIGN_LINE.test(line)) {
      add("pause", "");
      continue;
    }
    const heading = HEADING_LINE.exec(line);
    const title = heading?.[1] ?? heading?.[2];
    if (title !== undefined) add("heading", bare(title));
    else if (ITEM_LINE.test(line)) add("item", bare(line.replace(ITEM_LINE, "")));
    else for (const sentence of proseSentences(line)) add("sentence", bare(sentence));
  }
  return units;
}

const bare = (text: string): string => oneLine(text.replaceAll("**", ""));

/**
 * Returns the first unit of the argument that ends with the unit at `index`. A statement that starts with a
 * conclusion or a pronoun says little without the sentence before it. `from`: the first unit that no earlier
 * statement has.
 */
function startOfArgument(units: readonly Unit[], index: number, from: number): number {
  let start = index;
  let chars = units[index]?.text.length ?? 0;
  while (start > Math.max(from, index - MAX_BEFORE) && refersBack(units[start]?.text ?? "")) {
    // Code between two sentences belongs to the first one, which announces it.
    const isCode = units[start - 1]?.kind === "pause" && /[:：]$/.test(units[start - 2]?.text ?? "");
    const before = isCode ? start - 2 : start - 1;
    const { kind, text } = units[before] as Unit;
    chars += text.length;
    if (before < from || (kind !== "sentence" && kind !== "item") || isAside(text) || chars > MAX_CHARS)
      break;
    start = before;
  }
  return start;
}

/** Returns true for a sentence that states nothing about the work: a question, the next step or a short cheer. */
const isAside = (text: string): boolean =>
  /[?？]$/.test(text) ||
  isStep(text) ||
  /^\W*looking at\b.*:$/i.test(text) ||
  text.length < MIN_CHARS_IDEOGRAPHIC ||
  contentWords(text).size < MIN_WORDS_OF_CONTEXT;

/** Number of content words below which a sentence says nothing about the next one, as in "Perfect!". */
const MIN_WORDS_OF_CONTEXT = 2;

/** Maximum length of a sentence that repeats a decision in short, as in "Ship both." */
const MAX_ECHO_CHARS = 40;

/** Returns true for the unit after a decision if it repeats the decision in short, or gives a reason for it. */
function followsDecision(
  units: readonly Unit[],
  { index, end, by }: { readonly index: number; readonly end: number; readonly by: FactAuthor },
): boolean {
  const { text, line } = units[end] as Unit;
  const decision = units[index] as Unit;
  if (decision.kind !== "sentence" || isStep(text)) return false;
  const own = reasonTypeOf(text, by);
  if (line === decision.line && text.length <= MAX_ECHO_CHARS) return own === undefined && !isAside(text);
  return own === "reason" && shareIn(contentWords(decision.text), contentWords(text)) >= SAME_TOPIC_SHARE;
}

/** Share of the words of a decision that its reason must contain. */
const SAME_TOPIC_SHARE = 0.5;

interface StatementStart extends Pick<Reason, "type" | "by"> {
  readonly start: number;
  /** True if sentences after the statement can belong to it. A plain reason has none. */
  readonly hasDetails: boolean;
}

/**
 * Returns the end of the statement at `index`: after the list below it, the sentences that continue it, and
 * the sentences of its paragraph that say how things are.
 */
function endOfStatement(
  units: readonly Unit[],
  index: number,
  { type, by, start, hasDetails }: StatementStart,
): number {
  const first = units[index] as Unit;
  let chars = units.slice(start, index + 1).reduce((sum, { text }) => sum + text.length, 0);
  const opensList = /[:：]$/.test(first.text);
  let end = index + 1;
  let details = 0;
  for (; end < units.length && end - start < MAX_PARTS; end++) {
    const { kind, text, line } = units[end] as Unit;
    chars += text.length;
    if (/[?？]$/.test(text) || chars > MAX_CHARS) break;
    if (kind === "item" ? opensList : kind === "sentence" && continuesReason(text)) continue;
    if (kind === "sentence" && type === "decision" && followsDecision(units, { index, end, by })) continue;
    const isDetail = hasDetails && kind === "sentence" && first.kind === "sentence" && line === first.line;
    if (!isDetail || details >= MAX_AFTER || !saysHowThingsAre(text) || isStep(text)) break;
    const own = reasonTypeOf(text, by);
    if (own !== undefined && own !== "reason" && own !== type) break;
    details++;
  }
  return end;
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

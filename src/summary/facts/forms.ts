import { headOf, tailOf } from "../../conversation/text.ts";
import { proseSentences } from "../readers/readers.ts";
import { saysRule } from "./words.ts";

/** How a person's words are shortened: by pieces that stand in them letter by letter. */

/** Between two pieces, on a line of its own or within one. */
export const LEFT_OUT = "[…]";

interface Lengths {
  /** Up to this length nothing is left out. */
  readonly whole: number;
  readonly head: number;
  readonly tail: number;
  /** Rules between head and tail: how many, and how much of each. */
  readonly rules: number;
  readonly rule: number;
}

/** Kept in the ledger, and quoted where there is room: of what is active, and of what is over. */
const KEPT_ACTIVE: Lengths = { whole: 2_400, head: 1_400, tail: 700, rules: 8, rule: 200 };
const KEPT_PAST: Lengths = { whole: 700, head: 400, tail: 200, rules: 0, rule: 0 };
/** What a text must hold, and what is quoted at least. */
const NEEDED_ACTIVE: Lengths = { whole: 240, head: 130, tail: 80, rules: 3, rule: 110 };
const NEEDED_PAST: Lengths = { whole: 140, head: 80, tail: 50, rules: 0, rule: 0 };

/** A message of which this is not the beginning is a document that was pasted. */
const SCANNED_CHARS = 40_000;

/** All of what was said, or its ends and the rules in it, with a mark where something is left out. */
export function quotedForm(text: string, isActive: boolean, entryId: string | undefined): string {
  const [head = "", ...others] = piecesOf(text.trim(), isActive ? KEPT_ACTIVE : KEPT_PAST);
  if (others.length === 0) return head;
  const where =
    entryId === undefined ? LEFT_OUT : `[… ${text.trim().length} characters in entry ${entryId} …]`;
  return `${head}\n${where}\n${others.join(`\n${LEFT_OUT}\n`)}`;
}

/** The pieces that must stand where it is told; undefined: all of it. */
export function neededPieces(text: string, isActive: boolean): readonly string[] | undefined {
  const pieces = piecesOf(text, isActive ? NEEDED_ACTIVE : NEEDED_PAST);
  return pieces.length <= 1 ? undefined : pieces;
}

function piecesOf(text: string, lengths: Lengths): readonly string[] {
  if (text.length <= lengths.whole) return [text];
  const head = startOf(text, lengths.head);
  const tail = endOf(text, lengths.tail);
  const middle = text.slice(head.length, text.length - tail.length);
  return [head.trim(), ...rulesIn(middle, lengths), tail.trim()].filter((piece) => piece !== "");
}

function rulesIn(middle: string, { rules, rule }: Lengths): readonly string[] {
  if (rules === 0) return [];
  const scanned = headOf(middle, SCANNED_CHARS);
  const found = proseSentences(scanned)
    .filter(saysRule)
    .slice(0, 2 * rules);
  // Not one whose white space was put right: it must stand there to the letter.
  const verbatim = found.filter((sentence) => scanned.includes(sentence));
  return [...new Set(verbatim.map((sentence) => startOf(sentence, rule).trim()))].slice(0, rules);
}

/** Without the last word where it may be half of one; a word may be as long as the whole, though. */
function startOf(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = headOf(text, maxChars);
  const space = head.search(/\s\S*$/);
  return space > head.length / 2 ? head.slice(0, space) : head;
}

function endOf(text: string, maxChars: number): string {
  const tail = tailOf(text, maxChars);
  const space = tail.search(/\s/);
  return space !== -1 && space < tail.length / 2 ? tail.slice(space) : tail;
}

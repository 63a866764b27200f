import type { Colours } from "../../terminal.ts";
import type { Choice, Chosen } from "./screen.ts";
import { safeLines } from "./styled-text.ts";

export type PlainAnswer =
  /** Nothing chosen: declined. */
  | { readonly type: "answered"; readonly chosen: Chosen | undefined }
  /** They want to use their own words, which come next, beside these. */
  | { readonly type: "words"; readonly picked: readonly number[] }
  | { readonly type: "unclear"; readonly words: string };

/** A detail of more lines may push the title out of sight, so the title comes once more below it. */
const SHORT_DETAIL_LINES = 12;

/** The question with numbered options, for somebody who answers with a line. */
export function questionLines(choice: Choice, colours: Colours): readonly string[] {
  const { title, detail, options, otherLabel, mayChooseSeveral, grants, declining = "declines" } = choice;
  const safe = (text: string): readonly string[] => safeLines(text, colours.isColorSupported).lines;
  const named = options.map(({ label, description, key }, index) => {
    const hint = key === undefined || grants ? "" : ` (${key})`;
    const about = description === undefined ? "" : `: ${description}`;
    return `${index + 1}. ${label}${hint}${about}`;
  });
  const other = otherLabel === undefined ? [] : [`${options.length + 1}. ${otherLabel}`];
  const how = mayChooseSeveral ? "Numbers with blanks between" : "A number";
  const titleLines = safe(title).map((line) => colours.bold(line));
  // The bar marks the lines that others wrote, so that none of them can look like an option.
  const lead = grants ? "| " : "  ";
  const detailLines = detail === undefined ? [] : safe(detail).map((line) => `${lead}${line}`);
  return [
    ...titleLines,
    ...detailLines,
    ...(grants && detailLines.length > SHORT_DETAIL_LINES ? titleLines : []),
    ...[...named, ...other].flatMap(safe),
    `${how}; an empty line ${declining}.`,
  ];
}

/**
 * The answer that a line gives: numbers, or the letter of an option. A question that grants takes exactly the number of
 * an option. Own words come after their option was taken, with `pickedBefore` beside it.
 */
export function answerOf(choice: Choice, line: string, pickedBefore?: readonly number[]): PlainAnswer {
  const text = line.trim();
  if (text === "") return { type: "answered", chosen: undefined };
  if (pickedBefore !== undefined) return { type: "answered", chosen: { picked: pickedBefore, words: text } };
  const { options, otherLabel, mayChooseSeveral } = choice;
  const parts = choice.grants ? [line] : text.split(/[\s,]+/);
  const picked = parts.map((part) => indexOf(choice, part));
  const count = options.length + (otherLabel === undefined ? 0 : 1);
  const areValid = picked.every((index) => index >= 0 && index < count);
  if (!areValid || (picked.length > 1 && !mayChooseSeveral)) {
    return {
      type: "unclear",
      words: `Please answer with ${mayChooseSeveral ? "numbers" : "a number"} from 1 to ${count}.`,
    };
  }
  const sorted = [...new Set(picked)].sort((a, b) => a - b).filter((index) => index < options.length);
  const wantsWords = picked.includes(options.length);
  return wantsWords ? { type: "words", picked: sorted } : { type: "answered", chosen: { picked: sorted } };
}

function indexOf({ options, grants }: Choice, part: string): number {
  if (/^[1-9]\d{0,2}$/.test(part)) return Number(part) - 1;
  if (grants) return -1;
  return options.findIndex(({ key }) => key?.toLowerCase() === part.toLowerCase());
}

import { headOf, tailOf } from "../../conversation/text.ts";

/** Long enough to stand nowhere by chance, short enough to be quoted by anybody who quotes. */
const PHRASE_CHARS = 60;
/** Up to this length a text is known by how it begins; of a longer one the end counts too. */
const BY_ITS_BEGINNING_CHARS = 1.5 * PHRASE_CHARS;

/** A text for people, on one line. */
export const shown = (text: string): string => {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= 2 * PHRASE_CHARS ? line : `${headOf(line, 2 * PHRASE_CHARS)}…`;
};

/** How a text begins, and how it ends where it is long: word by word, each within one line. */
export function phrasesOf(text: string): readonly string[] {
  const lines = linesOf(text);
  const first = lines.find(isTelling) ?? lines[0];
  const last = lines.findLast(isTelling) ?? lines.at(-1);
  if (first === undefined || last === undefined) return [];
  const begins = wholeWords(headOf(first, PHRASE_CHARS), "start");
  if (text.trim().length <= BY_ITS_BEGINNING_CHARS) return [begins];
  const ends = wholeWords(tailOf(last, PHRASE_CHARS), "end");
  return begins === ends ? [begins] : [begins, ends];
}

/** The beginning of its first line. */
export function phraseOf(text: string): string | undefined {
  const [first] = linesOf(text);
  return first === undefined ? undefined : wholeWords(headOf(first, PHRASE_CHARS), "start");
}

const linesOf = (text: string): readonly string[] =>
  text.split("\n").flatMap((line) => {
    const bare = line.replace(/\s+/g, " ").trim();
    return bare === "" ? [] : [bare];
  });

/** Fences, rules and brackets alone say nothing. */
const isTelling = (line: string): boolean => /[\p{L}\p{N}].*[\p{L}\p{N}]/u.test(line);

/** Without the word that the cut went through; a text without spaces is taken as it was cut. */
function wholeWords(phrase: string, from: "start" | "end"): string {
  if (phrase.length < PHRASE_CHARS) return phrase;
  const cut = from === "start" ? phrase.replace(/\s\S*$/, "") : phrase.replace(/^\S*\s/, "");
  return cut.length > PHRASE_CHARS / 2 ? cut : phrase;
}

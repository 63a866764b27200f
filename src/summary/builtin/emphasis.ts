import type { Piece } from "./budget.ts";

const BONUS = 150;
/** Words too short to tell one piece from another, in scripts that write words with spaces. */
const MIN_WORD_CHARS = 4;
const STOP_WORDS: ReadonlySet<string> = new Set(
  "about also and conversation conversations detail details focus from have include just keep make only parts please relevant should summarise summarize summary that them these they this what when where which with your".split(
    " ",
  ),
);

/** Pieces that share words with the user's instructions rise above their peers. */
export function emphasise(pieces: Piece[], instructions: string | undefined): Piece[] {
  if (instructions === undefined) return pieces;
  const words = wordsOf(instructions);
  if (words.length === 0) return pieces;
  return pieces.map((piece) => {
    const text = piece.forms[0]?.toLowerCase() ?? "";
    return words.some((word) => text.includes(word))
      ? { ...piece, importance: piece.importance + BONUS }
      : piece;
  });
}

function wordsOf(instructions: string): string[] {
  const words = instructions.toLowerCase().match(/[\p{Script=Han}]{2,}|[\p{L}\p{N}_.-]+/gu) ?? [];
  return [...new Set(words)].filter(
    (word) => /\p{Script=Han}/u.test(word) || (word.length >= MIN_WORD_CHARS && !STOP_WORDS.has(word)),
  );
}

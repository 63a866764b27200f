import type { Random } from "../../packages/simulator/src/demo/random.ts";

const WORDS = [
  "const",
  "return",
  "value",
  "harbour",
  "tide",
  "ledger",
  "(boat)",
  "=>",
  "await",
  "export",
  "function",
  "berth",
  "42",
  "===",
  "error",
  "at",
  "line",
  "src/books.ts",
  "{",
  "}",
  "total",
  "import",
  "check",
  "false",
] as const;

/**
 * Creates a text with typical words of coding agents and this many characters. Equal random sources give
 * equal texts.
 */
export function stockOfText(random: Random, characters: number): string {
  const parts: string[] = [];
  let length = 0;
  while (length < characters) {
    const word = random.pick(WORDS);
    const end = random.between(1, 9) === 1 ? "\n" : " ";
    parts.push(word, end);
    length += word.length + 1;
  }
  return parts.join("");
}

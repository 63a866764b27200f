import { foldText, oneLine, padEnd, textWidth } from "../../view/text-width.ts";
import type { Screen } from "../screen/screen.ts";

/** With less beside the names, the words stand below them. */
const LEAST_ROOM = 24;

/** Names with what they are: nothing is cut, the words are folded. */
export function described(
  rows: readonly (readonly [name: string, words: string])[],
  { width, colours }: Pick<Screen, "width" | "colours">,
): string {
  const nameWidth = Math.max(0, ...rows.map(([name]) => textWidth(oneLine(name))));
  const isBeside = width - nameWidth - 2 >= LEAST_ROOM;
  const indent = " ".repeat(isBeside ? nameWidth + 2 : 2);
  return rows
    .map(([given, words]) => {
      const name = oneLine(given);
      const [first = "", ...more] = foldText(oneLine(words), width - indent.length).split("\n");
      const head = isBeside
        ? [padEnd(name, indent.length) + colours.dim(first)]
        : [name, indent + colours.dim(first)];
      return [...head, ...more.map((line) => indent + colours.dim(line))].join("\n");
    })
    .join("\n");
}

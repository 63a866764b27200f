import type { Terminal } from "../terminal.ts";
import { fitText, foldText } from "./text-width.ts";

/** Columns of a label and the space behind it. */
const LABEL_WIDTH = 12;

/** Sections with a blank line between them; one that has nothing to say is left out. */
export const joined = (sections: readonly string[]): string =>
  sections.filter((section) => section !== "").join("\n\n");

interface Named {
  readonly id: string;
  readonly path: string;
}

/** A word for what is shown, and its name. */
export const titleLine = (word: string, name: string, { colours, width }: Terminal): string =>
  `${colours.bold(word)} ${fitText(name, width - word.length - 1)}`;

/** With the path below it. */
export const sessionTitle = (word: string, { id, path }: Named, terminal: Terminal): string =>
  `${titleLine(word, id, terminal)}\n${terminal.colours.dim(fitText(path, terminal.width, "front"))}`;

/** With a few facts below it. */
export const factsTitle = (word: string, name: string, facts: string, terminal: Terminal): string =>
  `${titleLine(word, name, terminal)}\n${terminal.colours.dim(foldText(facts, terminal.width))}`;

/** A text behind a label; what follows its first line stands under it. */
export function labelled(label: string, text: string, { colours, width }: Terminal): string {
  const lead = `${label === "" ? "" : colours.bold(label)}${" ".repeat(LABEL_WIDTH - label.length)}`;
  return foldText(`${lead}${text}`, width, " ".repeat(LABEL_WIDTH));
}

export const indented = (text: string, { width }: Pick<Terminal, "width">): string =>
  foldText(`  ${text}`, width, "  ");

import type { AddHelpTextContext, HelpConfiguration } from "commander";
import { NARROWEST_VIEW } from "./terminal.ts";
import { foldText, padEnd, textWidth } from "./view/text-width.ts";

const INDENT = "  ";
/**
 * Minimum columns for descriptions next to the terms. If there are fewer columns, descriptions are printed
 * below the terms.
 */
const MIN_ROOM = 30;

/** Format of the help. Unlike Commander's own format, it also wraps descriptions in a narrow terminal. */
export const HELP: HelpConfiguration = {
  subcommandTerm: (command) =>
    [
      command.name(),
      ...command.registeredArguments.map((argument) => {
        const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
        return argument.required ? `<${name}>` : `[${name}]`;
      }),
    ].join(" "),
  formatItem: (term, termWidth, description, helper) => {
    const width = widthOf(helper.helpWidth);
    const lead = termWidth + 2 * INDENT.length;
    if (description === "") return INDENT + term;
    if (width - lead >= MIN_ROOM)
      return foldText(`${INDENT}${padEnd(term, termWidth)}${INDENT}${description}`, width, " ".repeat(lead));
    const below = INDENT.repeat(3);
    return `${INDENT}${term}\n${foldText(`${below}${description}`, width, below)}`;
  },
  styleUsage(usage) {
    const lead = "Usage: ";
    return foldText(`${lead}${usage}`, widthOf(this.helpWidth), INDENT.repeat(2)).slice(lead.length);
  },
  boxWrap: (text, width) => foldText(text, widthOf(width)),
};

const widthOf = (columns = 80): number => Math.max(NARROWEST_VIEW, columns);

/**
 * Matches a command line that calls the program by its name. Does not match a line in which only an argument
 * has that name.
 */
const NAMES_PROGRAM = /(?:^|[|(] ?)longhaul /;

interface HelpEnd {
  readonly notes?: readonly string[];
  readonly examples?: readonly string[];
}

/** Paragraphs and examples, wrapped when the help is printed. */
export const afterHelp =
  ({ notes = [], examples = [] }: HelpEnd) =>
  ({ command }: AddHelpTextContext): string => {
    const { getOutHelpWidth } = command.configureOutput();
    const width = widthOf(getOutHelpWidth?.());
    const paragraphs = notes.map((note) => (note.startsWith(INDENT) ? note : foldText(note, width)));
    const lines = examples.map((line) =>
      foldCommand(NAMES_PROGRAM.test(line) ? line : `longhaul ${line}`, width),
    );
    return [
      ...(paragraphs.length === 0 ? [] : ["", ...paragraphs]),
      ...(lines.length === 0 ? [] : ["", "Examples:", ...lines]),
    ].join("\n");
  };

/**
 * Wraps a command line so that it can be pasted into a shell. A line that is too long continues after a
 * backslash.
 */
function foldCommand(line: string, width: number): string {
  if (textWidth(INDENT + line) <= width) return INDENT + line;
  const lines = [INDENT];
  // A quoted word is never broken.
  for (const word of line.match(/ *(?:"[^"]*"|'[^']*'|[^ "'])+/g) ?? []) {
    const longer = `${lines.at(-1)}${word}`;
    if (textWidth(longer) <= width - 2 || lines.at(-1)?.trim() === "") lines[lines.length - 1] = longer;
    else lines.push(`${INDENT.repeat(3)}${word.trimStart()}`);
  }
  return lines.join(" \\\n");
}

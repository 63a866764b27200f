import { LonghaulError } from "@longhaul/core/errors";
import { foldText } from "../../view/text-width.ts";
import { type ChatCommand, described, misused } from "./command.ts";
import {
  agentsCommand,
  contextCommand,
  costCommand,
  ledgerCommand,
  memoryCommand,
  recallCommand,
  summaryCommand,
  todosCommand,
  unfoldCommand,
} from "./context-commands.ts";
import {
  clearResultsCommand,
  collapseCommand,
  compactCommand,
  redoCommand,
  rewindCommand,
  snipCommand,
  undoCommand,
} from "./rewrite-commands.ts";
import { modelCommand, notesCommand, planCommand, resumeCommand } from "./session-commands.ts";

const KEYS = [
  "Ctrl-C or Esc stops the agent. Ctrl-D exits. So does Ctrl-C twice while the agent is idle.",
  "Ctrl-O shows the last tool call or summary in full. Tab completes a command. Alt-Enter starts a new line.",
  "Prompts that you send while the agent works are queued.",
];

const helpCommand: ChatCommand = {
  name: "/help",
  about: "show this help",
  run: (_, { screen, say }) => {
    const rows = COMMANDS.map(({ name, usage = "", about }) => [`${name} ${usage}`, about] as const);
    const keys = KEYS.map((line) => foldText(line, screen.width, "  ")).join("\n");
    say(`${described(rows, screen)}\n\n${screen.colors.dim(keys)}`);
  },
};

const quitCommand: ChatCommand = {
  name: "/quit",
  about: "exit (you can resume the session later)",
  run: (_, { leave }) => leave(),
};

/** Every command, in the order of the help. */
export const COMMANDS: readonly ChatCommand[] = [
  contextCommand,
  compactCommand,
  clearResultsCommand,
  snipCommand,
  collapseCommand,
  undoCommand,
  redoCommand,
  rewindCommand,
  summaryCommand,
  ledgerCommand,
  recallCommand,
  memoryCommand,
  notesCommand,
  planCommand,
  todosCommand,
  modelCommand,
  resumeCommand,
  costCommand,
  agentsCommand,
  unfoldCommand,
  helpCommand,
  quitCommand,
];

export interface CalledCommand {
  readonly command: ChatCommand;
  readonly argument: string;
}

const CALL = /^(\/[A-Za-z?-]+)(?:\s+([\s\S]*))?$/;

const named = (name: string): ChatCommand | undefined =>
  COMMANDS.find((command) => command.name === name.toLowerCase());

/** Returns true if a text begins with the name of a known command. */
export const isCommand = (text: string): boolean => named(CALL.exec(text.trim())?.[1] ?? "") !== undefined;

/** Finds the command in a text. Returns undefined for a prompt, even if the prompt begins with a path. */
export function commandIn(text: string): CalledCommand | undefined {
  const [, name = "", argument = ""] = CALL.exec(text.trim()) ?? [];
  if (name === "") return undefined;
  const command = named(name);
  if (command === undefined) throw unknown(name);
  const given = argument.trim();
  if (given !== "" && command.usage === undefined) throw misused(command, given);
  return { command, argument: given };
}

function unknown(name: string): LonghaulError {
  const meant = nearest(
    name.toLowerCase(),
    COMMANDS.map((command) => command.name),
  );
  return new LonghaulError("command-unknown", `Unknown command ${name}.`, {
    remedy: `${meant === undefined ? "" : `Did you mean ${meant}? `}/help lists all commands.`,
  });
}

/** Returns the completions for a partly typed command. */
export function completions(text: string): readonly string[] {
  const [, name = "", begun] = /^(\/\S*)(?:\s+(\S*))?$/.exec(text) ?? [];
  if (begun === undefined) {
    return COMMANDS.map((command) => command.name).filter((one) => name !== "" && one.startsWith(name));
  }
  const values = COMMANDS.find((command) => command.name === name)?.values ?? [];
  return values.filter((value) => value.startsWith(begun)).map((value) => `${name} ${value}`);
}

/**
 * Maximum differences between a misspelled name and a command. A name with more differences counts as a
 * different word, not as a misspelling.
 */
const MAX_MISTAKES = 2;

/** Returns the most similar name. Undefined if no name is similar enough. */
function nearest(written: string, names: readonly string[]): string | undefined {
  const begun = names.filter((name) => name.startsWith(written));
  if (begun.length === 1) return begun[0];
  const ranked = names
    .map((name) => ({ name, mistakes: mistakesBetween(written, name) }))
    .sort((a, b) => a.mistakes - b.mistakes);
  const [best] = ranked;
  return best !== undefined && best.mistakes <= MAX_MISTAKES ? best.name : begun[0];
}

/** Counts the letters to add, remove or change (edit distance). */
function mistakesBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const change = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(change, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

import { LonghaulError } from "../../../errors.ts";
import { agentsCommand } from "./agents.ts";
import { clearResultsCommand } from "./clear-results.ts";
import { collapseCommand } from "./collapse.ts";
import type { ChatCommand } from "./command.ts";
import { compactCommand } from "./compact.ts";
import { contextCommand } from "./context.ts";
import { costCommand } from "./cost.ts";
import { helpCommand } from "./help.ts";
import { ledgerCommand } from "./ledger.ts";
import { memoryCommand } from "./memory.ts";
import { misused } from "./misused.ts";
import { modelCommand } from "./model.ts";
import { nearest } from "./nearest.ts";
import { notesCommand } from "./notes.ts";
import { planCommand } from "./plan.ts";
import { quitCommand } from "./quit.ts";
import { recallCommand } from "./recall.ts";
import { resumeCommand } from "./resume.ts";
import { rewindCommand } from "./rewind.ts";
import { snipCommand } from "./snip.ts";
import { summaryCommand } from "./summary.ts";
import { todosCommand } from "./todos.ts";
import { redoCommand, undoCommand } from "./undo.ts";
import { unfoldCommand } from "./unfold.ts";

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
  helpCommand(() => COMMANDS),
  quitCommand,
];

export interface CalledCommand {
  readonly command: ChatCommand;
  readonly argument: string;
}

const CALL = /^(\/[A-Za-z?-]+)(?:\s+([\s\S]*))?$/;

const named = (name: string): ChatCommand | undefined =>
  COMMANDS.find((command) => command.name === name.toLowerCase());

/** True if a text begins with the name of a known command. */
export const isCommand = (text: string): boolean => named(CALL.exec(text.trim())?.[1] ?? "") !== undefined;

/** Undefined for a prompt; one that begins with a path is one, too. */
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
  return new LonghaulError("command-misused", `There is no command ${name}.`, {
    remedy: `${meant === undefined ? "" : `Did you mean ${meant}? `}/help lists them all.`,
  });
}

/** What may stand in place of a command that was begun. */
export function completions(text: string): readonly string[] {
  const [, name = "", begun] = /^(\/\S*)(?:\s+(\S*))?$/.exec(text) ?? [];
  if (begun === undefined) {
    return COMMANDS.map((command) => command.name).filter((one) => name !== "" && one.startsWith(name));
  }
  const values = COMMANDS.find((command) => command.name === name)?.values ?? [];
  return values.filter((value) => value.startsWith(begun)).map((value) => `${name} ${value}`);
}

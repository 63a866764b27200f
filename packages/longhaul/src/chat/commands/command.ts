import type { Agent } from "@longhaul/agent";
import { LonghaulError } from "@longhaul/core/errors";
import type { Model } from "@longhaul/core/models";
import { loadSession, type Session } from "@longhaul/sessions";
import type { Terminal } from "../../terminal.ts";
import { plural } from "../../view/numbers.ts";
import { foldText, oneLine, padEnd, textWidth } from "../../view/text-width.ts";
import type { ChatSetup } from "../chat-setup.ts";
import type { Folded } from "../folded.ts";
import type { Screen } from "../screen/screen.ts";
import type { Tally } from "../tally.ts";

/** A slash command that a person can type instead of a prompt. */
export interface ChatCommand {
  /** Name of the command, including the slash. */
  readonly name: string;
  /** Arguments of the command, as the help shows them. */
  readonly usage?: string;
  readonly about: string;
  /**
   * True if the command cannot run while the agent works, because it changes the conversation. A function
   * decides this from the argument.
   */
  readonly needsIdle?: boolean | ((argument: string) => boolean);
  /** Possible arguments, if there are only a few. */
  readonly values?: readonly string[];
  /** Runs the command. An error with a remedy is shown, and the chat continues. */
  run(argument: string, chat: CommandContext): Promise<void> | void;
}

/** Objects that commands can use. */
export interface CommandContext {
  readonly agent: Agent;
  readonly screen: Screen;
  /** The screen as a terminal. Views that the chat shares with the commands of `longhaul` need this form. */
  readonly terminal: Terminal;
  readonly composition: ChatSetup["composition"];
  readonly tally: Tally;
  readonly folded: Folded;
  readonly signal: AbortSignal;
  say(text: string): void;
  modelNamed(name: string): Promise<Model>;
  /** Switches to the session in this file. */
  resumeFrom(session: string): Promise<void>;
  leave(): void;
}

/** Throws the error for invalid arguments of a command. `hint` is an additional sentence for the remedy. */
export function misused(
  { name, usage = "" }: Pick<ChatCommand, "name" | "usage">,
  argument: string,
  hint = "",
): LonghaulError {
  const accepted = usage === "" ? "no argument" : usage;
  return new LonghaulError(
    "command-misused",
    `Invalid use of ${name}: it accepts ${accepted}, but got ${JSON.stringify(argument)}.`,
    { remedy: `Usage: ${`${name} ${usage}`.trimEnd()}${hint === "" ? "" : `\n${hint}`}` },
  );
}

interface Numbered {
  readonly command: ChatCommand;
  /** Word for the numbered items, such as `round`. */
  readonly noun: string;
  readonly count: number;
}

/**
 * Parses numbers such as `2`, `1-3` or `1 4-5`. Throws if there is no number, or if a number is out of range.
 */
export function numbersIn(text: string, { command, noun, count }: Numbered): readonly number[] {
  const numbers = new Set<number>();
  for (const part of text.split(/[\s,]+/)) {
    const [, one, other = one] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(part) ?? [];
    if (one === undefined) throw misused(command, text, `Write numbers such as 2, 1-3 or "1 4-5".`);
    const [first, last] = [Number(one), Number(other)].sort((a, b) => a - b) as [number, number];
    if (first < 1 || last > count) throw noSuch(first < 1 ? first : last, { command, noun, count });
    for (let number = first; number <= last; number++) numbers.add(number);
  }
  return [...numbers].sort((a, b) => a - b);
}

function noSuch(number: number, { command, noun, count }: Numbered): LonghaulError {
  const known = count === 0 ? `no ${noun}` : `only ${plural(count, noun)}`;
  return new LonghaulError(
    "command-misused",
    `Invalid use of ${command.name}: there is no ${noun} ${number}, because the conversation has ${known}.`,
    { remedy: count === 0 ? "Use the command later." : `${command.name} without an argument lists them.` },
  );
}

/** Returns the session on disk with the agent's current conversation. Undefined before the first message. */
export async function liveSession(
  agent: Pick<Agent, "sessionPath" | "conversation">,
): Promise<Session | undefined> {
  try {
    const session = await loadSession(agent.sessionPath);
    return { ...session, conversation: agent.conversation };
  } catch (error) {
    const isNew = error instanceof LonghaulError && /^session-(?:not-found|empty)$/.test(error.code);
    if (isNew && agent.conversation.length === 0) return undefined;
    throw error;
  }
}

/**
 * Minimum columns for descriptions next to the names. If there are fewer columns, descriptions are printed
 * below the names.
 */
const MIN_ROOM = 24;

/** Lists names with descriptions. Cuts nothing and wraps the descriptions. */
export function described(
  rows: readonly (readonly [name: string, words: string])[],
  { width, colors }: Pick<Screen, "width" | "colors">,
): string {
  const nameWidth = Math.max(0, ...rows.map(([name]) => textWidth(oneLine(name))));
  const isBeside = width - nameWidth - 2 >= MIN_ROOM;
  const indent = " ".repeat(isBeside ? nameWidth + 2 : 2);
  return rows
    .map(([given, words]) => {
      const name = oneLine(given);
      const [first = "", ...more] = foldText(oneLine(words), width - indent.length).split("\n");
      const head = isBeside
        ? [padEnd(name, indent.length) + colors.dim(first)]
        : [name, indent + colors.dim(first)];
      return [...head, ...more.map((line) => indent + colors.dim(line))].join("\n");
    })
    .join("\n");
}

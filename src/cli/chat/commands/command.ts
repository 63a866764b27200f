import type { Agent } from "../../../agent/index.ts";
import type { Model } from "../../../models/port.ts";
import type { Terminal } from "../../terminal.ts";
import type { ChatSetup } from "../chat-setup.ts";
import type { Folded } from "../folded.ts";
import type { Screen } from "../screen/screen.ts";
import type { Tally } from "../tally.ts";

/** What a person can write instead of a prompt. */
export interface ChatCommand {
  /** With its slash. */
  readonly name: string;
  /** What may follow it, for the help. */
  readonly usage?: string;
  readonly about: string;
  /** It changes the conversation: not while the agent works on it. A function says so of what follows the command. */
  readonly needsIdle?: boolean | ((argument: string) => boolean);
  /** What may follow, where that is a choice of few. */
  readonly values?: readonly string[];
  /** An error that says what to do is shown, and the chat goes on. */
  run(argument: string, chat: CommandContext): Promise<void> | void;
}

/** What commands can reach. */
export interface CommandContext {
  readonly agent: Agent;
  readonly screen: Screen;
  /** The screen, for the views of other commands. */
  readonly terminal: Terminal;
  readonly composition: ChatSetup["composition"];
  readonly tally: Tally;
  readonly folded: Folded;
  readonly signal: AbortSignal;
  say(text: string): void;
  modelNamed(name: string): Promise<Model>;
  /** Leaves this session for another one, by its file. */
  goOnWith(session: string): Promise<void>;
  leave(): void;
}

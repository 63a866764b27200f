import type { Agent, AgentEvent, AgentOptions, Person } from "@longhaul/agent";
import type { Model } from "@longhaul/core/models";
import type { Composition } from "../composition.ts";
import type { Screen, ScreenHandlers } from "./screen/screen.ts";

/** What a chat is made of. The command line has it from options and settings, the tour from its own folder and model. */
export interface ChatSetup {
  readonly composition: Pick<Composition, "terminal" | "places" | "prices" | "now">;
  readonly version: string;
  /** Opens the agent: for a new session, or for one to go on with. */
  open(wiring: AgentWiring): Promise<Agent>;
  /** What `/model NAME` means. */
  modelNamed(name: string): Promise<Model>;
  openScreen(handlers: ScreenHandlers): Screen;
  /** Which session to go on with, by its file; undefined for a new one. */
  pickSession?(screen: Screen): Promise<string | undefined>;
  /** Said at once. */
  readonly prompt?: string | undefined;
  readonly guide?: Guide | undefined;
  /** Nobody is there: what the guide puts into the input line is sent at once, and the chat ends with the guide. */
  readonly isUnattended?: boolean | undefined;
  /** Said when it is over, in place of how to go on. */
  farewell?(agent: Agent): Promise<string>;
}

/** What an agent needs of the chat that it is opened for. */
export interface AgentWiring {
  readonly person: Person | undefined;
  readonly onEvent: NonNullable<AgentOptions["onEvent"]>;
  readonly session: string | undefined;
}

/** Leads through a chat: says what to look at, and puts the next prompt or command into the input line. */
export interface Guide {
  /**
   * Asked whenever the agent has nothing to do, with what the person sent last; undefined at the beginning. Undefined: it
   * is over, and the person goes on alone; without a person the chat ends.
   */
  next(sent: string | undefined): Promise<GuideStep | undefined>;
  /** Shown all that the agent does, in a run or not, so that the words tell what really happened. */
  saw(event: AgentEvent): void;
}

export interface GuideStep {
  /** For the person, shown before. */
  readonly words: string;
  /** Empty: there is nothing to send. */
  readonly input: string;
}

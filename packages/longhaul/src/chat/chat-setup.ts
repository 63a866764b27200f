import type { Agent, AgentEvent, AgentOptions, Person } from "@longhaul/agent";
import type { Model } from "@longhaul/core/models";
import type { Composition } from "../composition.ts";
import type { Screen, ScreenHandlers } from "./screen/screen.ts";

/**
 * Parts of a chat. The command line takes these parts from options and settings. The tour provides its own
 * folder and model.
 */
export interface ChatSetup {
  readonly composition: Pick<Composition, "terminal" | "places" | "prices" | "now">;
  readonly version: string;
  /** Opens the agent with a new or a resumed session. */
  open(wiring: AgentWiring): Promise<Agent>;
  /** Finds the model of `/model NAME`. */
  modelNamed(name: string): Promise<Model>;
  openScreen(handlers: ScreenHandlers): Screen;
  /** Asks which session to resume and returns its file. Undefined for a new session. */
  pickSession?(screen: Screen): Promise<string | undefined>;
  /** First prompt, sent immediately. */
  readonly prompt?: string | undefined;
  readonly guide?: Guide | undefined;
  /**
   * True if nobody is watching. The chat sends the guide's suggestions immediately and ends when the guide
   * ends.
   */
  readonly isUnattended?: boolean | undefined;
  /** Returns the closing text that replaces the hint on how to resume the chat. */
  farewell?(agent: Agent): Promise<string>;
}

/** Connections between an agent and its chat. */
export interface AgentWiring {
  readonly person: Person | undefined;
  readonly onEvent: NonNullable<AgentOptions["onEvent"]>;
  readonly session: string | undefined;
}

/** Guides a person through a chat: explains what to look at, and suggests the next prompt or command. */
export interface Guide {
  /**
   * Called whenever the agent is idle. `sent` is the person's last input, or undefined at the beginning.
   * Returns undefined when the guide is finished. After that, the person continues without a guide, and an
   * unattended chat ends.
   */
  next(sent: string | undefined): Promise<GuideStep | undefined>;
  /**
   * Receives all events of the agent, including events outside of runs. So the guide's text can describe
   * events that really happened.
   */
  saw(event: AgentEvent): void;
}

export interface GuideStep {
  /** Text for the person, shown first. */
  readonly words: string;
  /** Prompt or command for the input line. Empty if there is nothing to send. */
  readonly input: string;
}

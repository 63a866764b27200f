import type { AgentEvent } from "../../agent/events.ts";

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

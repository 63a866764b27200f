/** Leads through a chat: says what to look at, and puts the next prompt or command into the input line. */
export interface Guide {
  /** Asked whenever the agent has nothing to do. Undefined: it is over, and the person goes on alone. */
  next(): Promise<GuideStep | undefined>;
}

export interface GuideStep {
  /** For the person, shown before. */
  readonly words: string;
  readonly input: string;
}

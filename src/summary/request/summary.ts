import type { ModelUsage } from "../../models/port.ts";

/** What a model wrote. */
export interface ModelSummary {
  /** Ready to stand in a summary message. */
  readonly text: string;
  readonly model: string;
  readonly usage: ModelUsage;
  /** The answer reached its limit: its last section may be incomplete. */
  readonly isTruncated: boolean;
  /** Rounds that were told by the built-in summariser, because they did not fit into the request. */
  readonly condensedRounds: number;
}

/** This way to a summary cannot be taken at all; the word says why. Nothing was sent. */
export interface Unavailable {
  readonly unavailable: string;
}

import type { Entry } from "../conversation/entry.ts";
import type { ApiMessage } from "../conversation/message.ts";
import type { Model, ModelRequest, ModelUsage } from "../models/port.ts";

/** Everything of a request but its messages: system prompt, tools, thinking, limits. */
export type RequestFrame = Omit<ModelRequest, "messages">;

/** What a second call needs to share the main conversation's cached prefix. */
export interface ForkSource {
  readonly model: Model;
  /** As the main conversation sends it: any other byte would miss the cache. */
  readonly frame: RequestFrame;
  /** The messages that the main conversation sends for these entries, byte for byte. */
  messagesFor(entries: readonly Entry[]): readonly ApiMessage[];
  /**
   * How many messages the last call sent: it wrote the cache at the end of them. 0 before the first call, and
   * when anything before that end has changed since: a mark there would write what nobody reads again.
   */
  readonly cachedMessages: number;
  /** Size of what the main conversation sends now, by the newest reported usage. */
  readonly contextTokens?: number | undefined;
}

/**
 * What a summary stands for: the whole conversation (its newest messages may be kept as well), what comes
 * after a point while the earlier messages stay, or what comes before a point while the later ones stay.
 */
export type SummaryVariant = "whole" | "from" | "up-to";

/** The ways to a summary, in the order in which they are tried. */
export type SummaryStep = "notes" | "provider" | "fork" | "direct" | "built-in";

/** One step of the chain, as it went. Counts and codes only. */
export interface SummaryAttempt {
  readonly step: SummaryStep;
  readonly outcome: "written" | "failed" | "unavailable";
  /** Code of the error, or why the step was not available. */
  readonly reason?: string;
  /** How often the request was cut because it was too long. */
  readonly cuts: number;
  readonly model?: string;
  readonly usage?: ModelUsage;
}

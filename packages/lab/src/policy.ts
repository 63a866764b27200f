import type { CountText, Thresholds } from "@longhaul/core/measure";
import type { Entry, Usage } from "@longhaul/core/messages";
import type { HostState } from "@longhaul/core/restore";

/** Ways to keep a conversation within its window, ours and those that others use. */
export const POLICY_NAMES = [
  "longhaul",
  "longhaul-hostile",
  "drop-oldest",
  "keep-last",
  "clear-results",
  "plain-summary",
] as const;

export type PolicyName = (typeof POLICY_NAMES)[number];

/**
 * Policies of a replay. `longhaul-built-in` is the engine without a model for summaries. `everything` leaves nothing
 * out: it tells the cost of the whole history if it had fitted.
 */
export const REPLAY_POLICIES = [
  "longhaul",
  "longhaul-built-in",
  "drop-oldest",
  "keep-last",
  "clear-results",
  "plain-summary",
  "everything",
] as const;

export type ReplayPolicyName = (typeof REPLAY_POLICIES)[number];

/** A conversation that has reached its threshold. */
export interface PolicyInput {
  /** From its last boundary on, as it would be sent. Usage in it counts as what this very conversation was measured at. */
  readonly entries: readonly Entry[];
  readonly thresholds: Thresholds;
  /** Where the whole conversation can be read, for those who tell the agent. */
  readonly transcriptPath: string;
}

export interface PolicyOutcome {
  /** The conversation to go on with. */
  readonly entries: readonly Entry[];
  /** Calls of a model that it took. */
  readonly calls: readonly PolicyCall[];
}

export interface PolicyCall {
  readonly usage: Usage;
  readonly isWaitedFor: boolean;
}

export interface Policy {
  /** One of {@link POLICY_NAMES}, or of one's own. */
  readonly name: string;
  /** For people, in a few words. */
  readonly description: string;
  /** Whether what it leaves out can be found again with recall. */
  readonly hasRecall: boolean;
  shrink(input: PolicyInput): Promise<PolicyOutcome>;
}

export interface PolicyOptions {
  /** The session's: some rules depend on it. */
  readonly model?: string | undefined;
  readonly countText?: CountText | undefined;
  /** How long a summary that nobody checks is, in tokens of the estimate. */
  readonly summaryTokens?: number | undefined;
  /** What can be put back, for those that put anything back. */
  readonly state?: HostState | undefined;
}

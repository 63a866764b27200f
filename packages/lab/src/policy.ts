import type { CountText, Thresholds } from "@longhaul/core/measure";
import type { Entry, Usage } from "@longhaul/core/messages";
import type { HostState } from "@longhaul/core/restore";

/** Ways to keep a conversation within its window: ours, and those of other programs. */
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
 * Policies that a replay can run. `longhaul-built-in` is the engine without a model for summaries.
 * `everything` removes nothing. It shows the cost of sending the whole history in an unlimited window.
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

/** A conversation that has reached the threshold. */
export interface PolicyInput {
  /**
   * Entries from the last compaction boundary on, as the next request would send them. If an entry contains
   * usage, the usage was measured for exactly this conversation.
   */
  readonly entries: readonly Entry[];
  readonly thresholds: Thresholds;
  /** Path of the full transcript, for policies that mention it to the agent. */
  readonly transcriptPath: string;
}

export interface PolicyOutcome {
  /** The conversation that replaces the input. */
  readonly entries: readonly Entry[];
  /** Model calls that the policy made. */
  readonly calls: readonly PolicyCall[];
}

export interface PolicyCall {
  readonly usage: Usage;
  readonly isBlocking: boolean;
}

export interface Policy {
  /** One of {@link POLICY_NAMES}, or the name of your own policy. */
  readonly name: string;
  /** Short description for people. */
  readonly description: string;
  /** True if the agent can find removed content again with the recall tool. */
  readonly hasRecall: boolean;
  shrink(input: PolicyInput): Promise<PolicyOutcome>;
}

export interface PolicyOptions {
  /** The session's model. Some rules depend on it. */
  readonly model?: string | undefined;
  readonly countText?: CountText | undefined;
  /** Length of the summaries of `longhaul` and `plain-summary`, in estimated tokens. */
  readonly summaryTokens?: number | undefined;
  /**
   * True if the host announces its tools again after a compaction, because the agent could not use them
   * otherwise. Claude Code does.
   */
  readonly announcesTools?: boolean | undefined;
  /** Host state that a policy can restore after a compaction. */
  readonly state?: HostState | undefined;
}

import type { PolicyName } from "../policy.ts";
import type { CacheTtl } from "./cache.ts";
import type { ReplayedTurn, TokenSums } from "./till.ts";

/** `everything` leaves nothing out: what the whole history would have cost if it had fitted. */
export type ReplayPolicyName = Exclude<PolicyName, "longhaul-hostile"> | "everything";

export const REPLAY_POLICIES: readonly ReplayPolicyName[] = [
  "longhaul",
  "drop-oldest",
  "keep-last",
  "clear-results",
  "plain-summary",
  "everything",
];

/** A session under one policy. */
export interface PolicyReplay {
  readonly policy: ReplayPolicyName;
  /** Of all calls, those for summaries included. */
  readonly tokens: TokenSums;
  /** Dollars; undefined where the model's prices are unknown. */
  readonly cost: number | undefined;
  /** What summaries took of these. */
  readonly summaries: {
    readonly calls: number;
    readonly tokens: TokenSums;
    readonly cost: number | undefined;
  };
  readonly compactions: number;
  /** Times that tool results were emptied without a compaction. */
  readonly clearings: number;
  /** How long turns had to wait for compactions, all together. */
  readonly stallMs: number;
  /** Calls that could read less than the call before left in the cache, although it was warm. */
  readonly cacheBreaks: number;
  /** Calls that were too long for the window whatever was done: the agent would have stopped there. */
  readonly refusedCalls: number;
  readonly peakTokens: number;
  readonly finalTokens: number;
  readonly probes: KeptProbes;
  readonly turns: readonly ReplayedTurn[];
}

export interface KeptProbes {
  /** In the context at the end. */
  readonly kept: number;
  readonly total: number;
}

export interface SessionReplay {
  readonly id: string;
  /** The session's, by which the rules of the API go. */
  readonly model: string | undefined;
  /** Whose prices these are; undefined where they are unknown. */
  readonly pricedAs: string | undefined;
  readonly calls: number;
  readonly windowTokens: number;
  readonly thresholdTokens: number;
  readonly cacheTtl: CacheTtl;
  /** System prompt and tools, in each call. */
  readonly overheadTokens: number;
  /** The same as recorded; more than a small window holds is cut for the replay. */
  readonly recordedOverheadTokens: number | undefined;
  /** The provider's tokens per token of our estimate. */
  readonly tokenRatio: number;
  readonly policies: readonly PolicyReplay[];
}

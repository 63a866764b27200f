import type { CacheTtl } from "../../cost/rates.ts";
import type { Thresholds } from "../../window/thresholds.ts";
import type { Comparison } from "./compare.ts";
import type { ReplayedTurn, TokenSums } from "./till.ts";

/**
 * `longhaul-built-in` is the engine without a model for summaries. `everything` leaves nothing out: what the whole
 * history would have cost if it had fitted.
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

/** How one session fares under each policy. The shape that `replay --json` prints for it; see docs/json.md. */
export interface Replay extends ReplayTotal {
  readonly session: { readonly id: string; readonly path: string | null; readonly model: string | null };
  /** Tokens of the window, the source of that figure, and when a compaction is due in it. */
  readonly window: Pick<Thresholds, "size" | "origin" | "autoCompact">;
  /** The model whose prices the costs are in: the session's, or a usual one where those are not known. */
  readonly pricesOf: string;
  /** The prices of the session's model are not known: those of a usual one stand in for them. */
  readonly arePricesAssumed: boolean;
  /** How long the provider keeps what nobody reads. */
  readonly cacheTtl: CacheTtl;
  /** System prompt and tools, in tokens of each call; and as recorded, which a small window could not hold. */
  readonly overhead: { readonly tokens: number; readonly recorded: number | null };
  /** The provider's tokens per token of our estimate. */
  readonly tokenRatio: number;
}

/** Of one session or of several. */
export interface ReplayTotal {
  /** Of the model, as recorded. */
  readonly calls: number;
  readonly probes: number;
  readonly policies: readonly PolicyReplay[];
  /** Null where `longhaul` or all others were left out. */
  readonly comparison: Comparison | null;
}

export interface PolicyReplay {
  readonly policy: ReplayPolicyName;
  /** In dollars. */
  readonly cost: {
    readonly total: number;
    /** What calls for summaries took of it. */
    readonly summaries: number;
  };
  /** Of all calls, those for summaries included. */
  readonly tokens: TokenSums;
  readonly summaryCalls: number;
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
  readonly lastTokens: number;
  /** Probes in the context at the end. */
  readonly probesKept: number;
  /** Each call in its order; none for a total. */
  readonly turns: readonly ReplayedTurn[];
}

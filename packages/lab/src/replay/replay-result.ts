import type { CacheTtl } from "@longhaul/core/measure";
import { type EvaluationSetting, sumOf } from "../evaluation.ts";
import type { ReplayPolicyName } from "../policy.ts";
import type { CostBreakdown } from "./cost-breakdown.ts";
import type { ReplayedTurn, TokenSums } from "./cost-tracker.ts";

/** Results of each policy for one session. `replay --json` prints this shape, see docs/json.md. */
export interface Replay extends EvaluationSetting, ReplayTotal {
  /** Time for which an unused entry stays in the provider's prompt cache. */
  readonly cacheTtl: CacheTtl;
  /**
   * Tokens of system prompt and tools. `tokens` is the figure in each replayed call. `recorded` is the figure
   * of the recorded session, which can be too large for a small window.
   */
  readonly overhead: { readonly tokens: number; readonly recorded: number | null };
  /** Provider tokens per estimated token. */
  readonly tokenRatio: number;
}

/** Results of one session or of several. */
export interface ReplayTotal {
  /** Recorded model calls. */
  readonly calls: number;
  readonly probes: number;
  readonly policies: readonly PolicyReplay[];
  /** Null if the replay did not run `longhaul` or ran no other policy. */
  readonly comparison: Comparison | null;
}

export interface PolicyReplay {
  readonly policy: ReplayPolicyName;
  /** Costs in dollars. */
  readonly cost: {
    readonly total: number;
    /** Part of the total that the summary calls cost. */
    readonly summaries: number;
  };
  /** The total cost by what it pays for. */
  readonly breakdown: CostBreakdown;
  /** Tokens of all calls, including summary calls. */
  readonly tokens: TokenSums;
  readonly summaryCalls: number;
  readonly compactions: number;
  /** Number of times tool results were cleared without a compaction. */
  readonly clearings: number;
  /** Total time that turns waited for compactions. */
  readonly stallMs: number;
  /**
   * Number of calls that broke a warm cache. Such a call read fewer tokens from the cache than the previous
   * call left in it.
   */
  readonly cacheBreaks: number;
  /**
   * Calls that exceeded the window even after the policy removed content. The agent would have stopped there.
   */
  readonly refusedCalls: number;
  readonly peakTokens: number;
  readonly lastTokens: number;
  /** Probes that the context contains at the end. */
  readonly probesKept: number;
  /** All calls in order. Empty in a total. */
  readonly turns: readonly ReplayedTurn[];
}

/**
 * Compares the cost of `longhaul` with that of other policies, and says how many probes each policy keeps.
 */
export interface Comparison {
  /**
   * The cheapest other policy within the window that keeps at least as many probes as `longhaul`. Null if
   * there is none.
   */
  readonly equal: Rival | null;
  /**
   * The other policy that keeps the most probes within the window, even if it keeps fewer than `longhaul`.
   * Null if there is none.
   */
  readonly fullest: Rival | null;
  /** The policy that keeps everything and needs a larger window. Null if it was not replayed. */
  readonly everything: Rival | null;
  /**
   * The cheapest other policy within the window, no matter how few probes it keeps. Null if there is none.
   */
  readonly cheapest: Rival | null;
}

export interface Rival {
  readonly policy: ReplayPolicyName;
  /** Cost of `longhaul` divided by the cost of this policy. */
  readonly ratio: number;
  readonly probesKept: number;
}

const OURS: ReadonlySet<ReplayPolicyName> = new Set(["longhaul", "longhaul-built-in"]);

/**
 * Compares `longhaul` with the other policies. Returns null if `longhaul` or every other policy is missing.
 */
export function compare(policies: readonly PolicyReplay[]): Comparison | null {
  const ours = policies.find(({ policy }) => policy === "longhaul");
  const others = policies.filter(({ policy }) => !OURS.has(policy));
  if (ours === undefined || others.length === 0) return null;
  const rival = ({ policy, cost, probesKept }: PolicyReplay): Rival => ({
    policy,
    ratio: cost.total === 0 ? 1 : ours.cost.total / cost.total,
    probesKept,
  });
  const cheapestOf = (some: readonly PolicyReplay[]): Rival | null => {
    const [first] = some.toSorted((one, other) => one.cost.total - other.cost.total);
    return first === undefined ? null : rival(first);
  };
  const inWindow = others.filter(({ policy }) => policy !== "everything");
  // A refused call costs nothing, but a real agent would have stopped at that call. So a policy with more
  // refused calls than `longhaul` must not count as cheap.
  const fitting = inWindow.filter(({ refusedCalls }) => refusedCalls <= ours.refusedCalls);
  const most = Math.max(...fitting.map(({ probesKept }) => probesKept));
  return {
    equal: cheapestOf(fitting.filter(({ probesKept }) => probesKept >= ours.probesKept)),
    fullest: cheapestOf(fitting.filter(({ probesKept }) => probesKept === most)),
    everything: cheapestOf(others.filter(({ policy }) => policy === "everything")),
    cheapest: cheapestOf(inWindow),
  };
}

/**
 * Combines the replays of several sessions. `peakTokens` is the maximum, and all other figures are sums. The
 * result contains no list of calls.
 */
export function totalOfReplays(replays: readonly Replay[]): ReplayTotal {
  const names = replays[0]?.policies.map(({ policy }) => policy) ?? [];
  const policies = names.map((name): PolicyReplay => {
    const all = replays.flatMap((replay) => replay.policies.find(({ policy }) => policy === name) ?? []);
    return { ...sumOf(all), peakTokens: Math.max(...all.map(({ peakTokens }) => peakTokens)), turns: [] };
  });
  const sums = sumOf([{ calls: 0, probes: 0 }, ...replays]);
  return { ...sums, policies, comparison: compare(policies) };
}

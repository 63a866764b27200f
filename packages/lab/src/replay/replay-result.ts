import type { CacheTtl } from "@longhaul/core/measure";
import { type EvaluationSetting, sumOf } from "../evaluation.ts";
import type { ReplayPolicyName } from "../policy.ts";
import type { ReplayedTurn, TokenSums } from "./till.ts";

/** How one session fares under each policy. The shape that `replay --json` prints for it; see docs/json.md. */
export interface Replay extends EvaluationSetting, ReplayTotal {
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

/** What this library costs beside the others, at what is left of the session. */
export interface Comparison {
  /** The cheapest other policy that keeps as many probes within the window; null where none does. */
  readonly equal: Rival | null;
  /** The other policy that keeps the most probes within the window, be it more than ours or fewer; null where there is none. */
  readonly fullest: Rival | null;
  /** Keeping everything, which takes a larger window; null where it was not replayed. */
  readonly everything: Rival | null;
  /** The cheapest other policy, however little it keeps; null where there is none. */
  readonly cheapest: Rival | null;
}

export interface Rival {
  readonly policy: ReplayPolicyName;
  /** Cost of `longhaul` relative to it. */
  readonly ratio: number;
  readonly probesKept: number;
}

const OURS: ReadonlySet<ReplayPolicyName> = new Set(["longhaul", "longhaul-built-in"]);

/** Null where there is nothing to compare, or nothing to compare with. */
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
  // A call that is refused is not paid, and the agent would have stopped there: that is no way to be cheap.
  const fitting = inWindow.filter(({ refusedCalls }) => refusedCalls <= ours.refusedCalls);
  const most = Math.max(...fitting.map(({ probesKept }) => probesKept));
  return {
    equal: cheapestOf(fitting.filter(({ probesKept }) => probesKept >= ours.probesKept)),
    fullest: cheapestOf(fitting.filter(({ probesKept }) => probesKept === most)),
    everything: cheapestOf(others.filter(({ policy }) => policy === "everything")),
    cheapest: cheapestOf(inWindow),
  };
}

/** Several sessions as one: everything added up, but for the largest context. Calls stay with their session. */
export function totalOfReplays(replays: readonly Replay[]): ReplayTotal {
  const names = replays[0]?.policies.map(({ policy }) => policy) ?? [];
  const policies = names.map((name): PolicyReplay => {
    const all = replays.flatMap((replay) => replay.policies.find(({ policy }) => policy === name) ?? []);
    return { ...sumOf(all), peakTokens: Math.max(...all.map(({ peakTokens }) => peakTokens)), turns: [] };
  });
  const sums = sumOf([{ calls: 0, probes: 0 }, ...replays]);
  return { ...sums, policies, comparison: compare(policies) };
}

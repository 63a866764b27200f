import { sumOf } from "../sum.ts";
import { compare } from "./compare.ts";
import type { PolicyReplay, Replay, ReplayTotal } from "./result.ts";
import type { TokenSums } from "./till.ts";

/** Several sessions as one: everything added up, but for the largest context. Calls stay with their session. */
export function totalOfReplays(replays: readonly Replay[]): ReplayTotal {
  const [first] = replays;
  const policies = (first?.policies ?? []).map(({ policy }) =>
    policyTotal(
      policy,
      replays.flatMap((replay) => replay.policies.find((one) => one.policy === policy) ?? []),
    ),
  );
  return {
    calls: sumOf(replays, ({ calls }) => calls),
    probes: sumOf(replays, ({ probes }) => probes),
    policies,
    comparison: compare(policies),
  };
}

function policyTotal(policy: PolicyReplay["policy"], all: readonly PolicyReplay[]): PolicyReplay {
  return {
    policy,
    cost: {
      total: sumOf(all, ({ cost }) => cost.total),
      summaries: sumOf(all, ({ cost }) => cost.summaries),
    },
    tokens: tokensTotal(all.map(({ tokens }) => tokens)),
    summaryCalls: sumOf(all, ({ summaryCalls }) => summaryCalls),
    compactions: sumOf(all, ({ compactions }) => compactions),
    clearings: sumOf(all, ({ clearings }) => clearings),
    stallMs: sumOf(all, ({ stallMs }) => stallMs),
    cacheBreaks: sumOf(all, ({ cacheBreaks }) => cacheBreaks),
    refusedCalls: sumOf(all, ({ refusedCalls }) => refusedCalls),
    peakTokens: Math.max(0, ...all.map(({ peakTokens }) => peakTokens)),
    lastTokens: sumOf(all, ({ lastTokens }) => lastTokens),
    probesKept: sumOf(all, ({ probesKept }) => probesKept),
    turns: [],
  };
}

const tokensTotal = (all: readonly TokenSums[]): TokenSums => ({
  plain: sumOf(all, ({ plain }) => plain),
  written: sumOf(all, ({ written }) => written),
  read: sumOf(all, ({ read }) => read),
  output: sumOf(all, ({ output }) => output),
});

import { PROBE_KINDS, type ProbeKind } from "./probes/probe.ts";
import type { ChainEvaluation, Evaluation, PolicyEvaluation, Tally } from "./result.ts";
import { sumOf } from "./sum.ts";

/** Several sessions as one: probes and costs added up, sizes on average. What is missing stays with its session. */
export function totalOf(evaluations: readonly Evaluation[]): readonly ChainEvaluation[] {
  const [first] = evaluations;
  return (first?.chains ?? []).map((chain, index): ChainEvaluation => {
    const chains = evaluations.flatMap(({ chains }) => chains[index] ?? []);
    return {
      compactions: chain.compactions,
      messages: sumOf(chains, ({ messages }) => messages),
      tokens: sumOf(chains, ({ tokens }) => tokens),
      probes: sumOf(chains, ({ probes }) => probes),
      policies: chain.policies.map((_, place) =>
        policyTotal(chains.flatMap(({ policies }) => policies[place] ?? [])),
      ),
    };
  });
}

function policyTotal(policies: readonly PolicyEvaluation[]): PolicyEvaluation {
  const mean = (figure: (policy: PolicyEvaluation) => number): number =>
    Math.round(sumOf(policies, figure) / Math.max(1, policies.length));
  const byKind = PROBE_KINDS.map((kind) => [kind, tallyTotal(policies.map(({ kinds }) => kinds[kind]))]);
  return {
    policy: policies[0]?.policy ?? "",
    compactions: sumOf(policies, ({ compactions }) => compactions),
    probes: tallyTotal(policies.map(({ probes }) => probes)),
    activeDirectives: tallyTotal(policies.map(({ activeDirectives }) => activeDirectives)),
    kinds: Object.fromEntries(byKind) as Record<ProbeKind, Tally>,
    tokens: { mean: mean(({ tokens }) => tokens.mean), last: mean(({ tokens }) => tokens.last) },
    cost: {
      total: sumOf(policies, ({ cost }) => cost.total),
      calls: sumOf(policies, ({ cost }) => cost.calls),
      rewrites: sumOf(policies, ({ cost }) => cost.rewrites),
    },
    missing: [],
  };
}

const tallyTotal = (tallies: readonly Tally[]): Tally => ({
  total: sumOf(tallies, ({ total }) => total),
  inContext: sumOf(tallies, ({ inContext }) => inContext),
  recoverable: sumOf(tallies, ({ recoverable }) => recoverable),
  lost: sumOf(tallies, ({ lost }) => lost),
});

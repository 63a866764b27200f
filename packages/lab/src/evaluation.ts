import { field, isRecord } from "@longhaul/core/internal/messages";
import type { Thresholds } from "@longhaul/core/measure";
import type { Session } from "@longhaul/sessions";
import { PROBE_KINDS, type Probe, type ProbeKind } from "./probes.ts";

export type EvaluatedSession = Pick<Session, "id" | "model"> & { readonly path?: string | undefined };

/** A session, its window and its prices. */
export interface EvaluationSetting {
  readonly session: { readonly id: string; readonly path: string | null; readonly model: string | null };
  /** Tokens of the window, the source of that figure, and when a compaction is due in it. */
  readonly window: Pick<Thresholds, "size" | "origin" | "autoCompact">;
  /** The model whose prices the costs are in: the session's, or a usual one where those are not known. */
  readonly pricesOf: string;
  /** The prices of the session's model are not known: those of a usual one stand in for them. */
  readonly arePricesAssumed: boolean;
}

export function settingOf(
  { id, path, model }: EvaluatedSession,
  { size, origin, autoCompact }: Thresholds,
  pricesOf: string,
  pricesWanted: string | undefined = model,
): EvaluationSetting {
  return {
    session: { id, path: path ?? null, model: model ?? null },
    window: { size, origin, autoCompact },
    pricesOf,
    arePricesAssumed: pricesOf !== pricesWanted,
  };
}

/** How one session fares under each policy. The shape that `eval --json` prints for it; see docs/json.md. */
export interface Evaluation extends EvaluationSetting {
  readonly chains: readonly ChainEvaluation[];
}

/** A part of the session, compacted so many times in a row. */
export interface ChainEvaluation {
  readonly compactions: number;
  /** What was said in that part. */
  readonly messages: number;
  readonly tokens: number;
  readonly probes: number;
  readonly policies: readonly PolicyEvaluation[];
}

export interface PolicyEvaluation {
  readonly policy: string;
  /** How many took place; more than wished for where a policy leaves so much that the window fills up sooner. */
  readonly compactions: number;
  readonly probes: Tally;
  readonly activeDirectives: Tally;
  readonly kinds: Readonly<Record<ProbeKind, Tally>>;
  readonly tokens: {
    /** What each compaction left, on average. */
    readonly mean: number;
    readonly last: number;
  };
  /** In dollars. */
  readonly cost: {
    readonly total: number;
    /** Calls that wrote a summary. */
    readonly calls: number;
    /** What had to be written to the provider's cache anew. */
    readonly rewrites: number;
  };
  readonly missing: readonly MissingProbe[];
}

export interface Tally {
  readonly total: number;
  readonly inContext: number;
  /** Not in the context, but found by searching the transcript with `recall`. */
  readonly recoverable: number;
  readonly lost: number;
}

export interface MissingProbe extends Probe {
  readonly fate: "recoverable" | "lost";
}

/** Where the probes are: in the context, unless they are among the missing. */
export function tallyProbes(
  probes: readonly Probe[],
  missing: readonly MissingProbe[],
): Pick<PolicyEvaluation, "probes" | "activeDirectives" | "kinds" | "missing"> {
  const tally = (isMeant: (probe: Probe) => boolean): Tally => {
    const total = probes.filter(isMeant).length;
    const out = missing.filter(isMeant);
    const lost = out.filter(({ fate }) => fate === "lost").length;
    return { total, inContext: total - out.length, recoverable: out.length - lost, lost };
  };
  const byKind = PROBE_KINDS.map((kind) => [kind, tally((probe) => probe.kind === kind)] as const);
  return {
    probes: tally(() => true),
    activeDirectives: tally(({ isActive }) => isActive === true),
    kinds: Object.fromEntries(byKind) as Record<ProbeKind, Tally>,
    missing,
  };
}

/** Several sessions as one: probes and costs added up, sizes on average. What is missing stays with its session. */
export function totalOf(evaluations: readonly Evaluation[]): readonly ChainEvaluation[] {
  const [first] = evaluations;
  return (first?.chains ?? []).map((chain, index): ChainEvaluation => {
    const chains = evaluations.flatMap(({ chains }) => chains[index] ?? []);
    const { messages, tokens, probes } = sumOf(chains);
    const policies = chain.policies.map((_, place) =>
      policyTotal(chains.flatMap(({ policies }) => policies[place] ?? [])),
    );
    return { compactions: chain.compactions, messages, tokens, probes, policies };
  });
}

function policyTotal(policies: readonly PolicyEvaluation[]): PolicyEvaluation {
  const sums = sumOf(policies);
  const mean = (sum: number): number => Math.round(sum / policies.length);
  const { policy, compactions, probes, activeDirectives, kinds, tokens, cost } = sums;
  return {
    ...{ policy, compactions, probes, activeDirectives, kinds },
    tokens: { mean: mean(tokens.mean), last: mean(tokens.last) },
    cost,
    missing: [],
  };
}

/** Adds up one or more of the same shape, figure by figure. Of everything that is no figure, the first is taken. */
export function sumOf<T>(items: readonly T[]): T {
  const first = items[0] as T;
  if (typeof first === "number") return items.reduce((sum, item) => sum + Number(item), 0) as T;
  if (!isRecord(first)) return first;
  const sums = Object.keys(first).map((key) => [key, sumOf(items.map((item) => field(item, key)))]);
  return Object.fromEntries(sums) as T;
}

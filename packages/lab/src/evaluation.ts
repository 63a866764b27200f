import { field, isRecord } from "@longhaul/core/internal/messages";
import type { Thresholds } from "@longhaul/core/measure";
import type { Session } from "@longhaul/sessions";
import { PROBE_KINDS, type Probe, type ProbeKind } from "./probes.ts";

export type EvaluatedSession = Pick<Session, "id" | "model"> & { readonly path?: string | undefined };

/** A session, its window and its prices. */
export interface EvaluationSetting {
  readonly session: { readonly id: string; readonly path: string | null; readonly model: string | null };
  /** Size of the window in tokens, the source of that figure, and the threshold for automatic compaction. */
  readonly window: Pick<Thresholds, "size" | "origin" | "autoCompact">;
  /**
   * Model whose prices apply. This is the session's model. If its prices are unknown, this is a common model.
   */
  readonly pricesOf: string;
  /** True if the prices of the session's model are unknown and those of a common model apply instead. */
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

/** Results of each policy for one session. `eval --json` prints this shape, see docs/json.md. */
export interface Evaluation extends EvaluationSetting {
  readonly chains: readonly ChainEvaluation[];
}

/** Results for a part of a session that is compacted a given number of times in a row. */
export interface ChainEvaluation {
  readonly compactions: number;
  /** Number of messages in this part. */
  readonly messages: number;
  readonly tokens: number;
  readonly probes: number;
  readonly policies: readonly PolicyEvaluation[];
}

export interface PolicyEvaluation {
  readonly policy: string;
  /**
   * Number of compactions that ran. If a policy keeps many tokens, the window fills up more often, and this
   * number exceeds the requested number.
   */
  readonly compactions: number;
  readonly probes: Tally;
  readonly activeDirectives: Tally;
  readonly kinds: Readonly<Record<ProbeKind, Tally>>;
  readonly tokens: {
    /** Average number of tokens after a compaction. */
    readonly mean: number;
    readonly last: number;
  };
  /** Costs in dollars. */
  readonly cost: {
    readonly total: number;
    /** Cost of the summary calls. */
    readonly calls: number;
    /** Cost of the prompt tokens that the provider's cache had to store again. */
    readonly rewrites: number;
  };
  readonly missing: readonly MissingProbe[];
}

export interface Tally {
  readonly total: number;
  readonly inContext: number;
  /** Probes that are not in the context, but that a `recall` search of the transcript finds. */
  readonly recoverable: number;
  readonly lost: number;
}

export interface MissingProbe extends Probe {
  readonly fate: "recoverable" | "lost";
}

/**
 * Counts the probes in the context, the recoverable probes and the lost probes. A probe is in the context
 * unless `missing` contains it.
 */
export function tallyProbes(
  probes: readonly Probe[],
  missing: readonly MissingProbe[],
): Pick<PolicyEvaluation, "probes" | "activeDirectives" | "kinds" | "missing"> {
  const tally = (isSelected: (probe: Probe) => boolean): Tally => {
    const total = probes.filter(isSelected).length;
    const out = missing.filter(isSelected);
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

/**
 * Combines the evaluations of several sessions: adds up probes and costs, and averages sizes. The result
 * contains no lists of missing probes.
 */
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

/**
 * Adds up the numbers of objects that have the same shape. Copies all values that are not numbers from the
 * first object.
 */
export function sumOf<T>(items: readonly T[]): T {
  const first = items[0] as T;
  if (typeof first === "number") return items.reduce((sum, item) => sum + Number(item), 0) as T;
  if (!isRecord(first)) return first;
  const sums = Object.keys(first).map((key) => [key, sumOf(items.map((item) => field(item, key)))]);
  return Object.fromEntries(sums) as T;
}

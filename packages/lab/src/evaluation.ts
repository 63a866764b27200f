import { field, isRecord } from "@longhaul/core/internal/messages";
import type { Thresholds } from "@longhaul/core/measure";
import type { Session } from "@longhaul/sessions";
import type { Judgement } from "./judge.ts";
import { type FalseStatement, PROBE_KINDS, type Probe, type ProbeKind } from "./probes/exam.ts";

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
  /** Summaries that the session's own program wrote, each beside ours. Empty if the session has none. */
  readonly recorded: readonly RecordedEvaluation[];
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

/** Results at a place where the session's own program compacted the conversation. */
export interface RecordedEvaluation extends ChainEvaluation {
  /** Version of the program that wrote the recorded summary. */
  readonly version: string | null;
}

export interface PolicyEvaluation {
  readonly policy: string;
  /**
   * Number of compactions that ran. If a policy keeps many tokens, the window fills up more often, and this
   * number exceeds the requested number.
   */
  readonly compactions: number;
  readonly probes: Tally;
  readonly kinds: Readonly<Record<ProbeKind, Tally>>;
  readonly scores: Scores;
  readonly falseStatements: readonly FalseStatement[];
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
  /** Answers of the judge, if there was one. */
  readonly judge?: Judgement;
}

/** Points of a text: probes that it answers, minus its false statements. */
export interface Points {
  readonly held: number;
  readonly false: number;
  /** Probes that the text could answer. 0 if there is no such text. */
  readonly asked: number;
}

/**
 * Points at three stages. The summary is asked only for the probes that the rest of the context does not
 * answer. So the points of the summary show what only the summary carries.
 */
export interface Scores {
  /** The summary as its author wrote it. */
  readonly summary: Points;
  /** The summary with the facts that longhaul quoted after it. */
  readonly withFacts: Points;
  /** The whole context. */
  readonly context: Points;
}

/** Returns the score, at most 1. It is negative if a text has more false statements than answers. */
export const scoreOf = ({ held, false: lies, asked }: Points): number | undefined =>
  asked === 0 ? undefined : (held - lies) / asked;

export interface Tally {
  readonly total: number;
  readonly inContext: number;
  /**
   * Probes that are not in the context, but that recall answers: the first page of results for the probe's
   * question contains the answer.
   */
  readonly recoverable: number;
  readonly lost: number;
}

/** A probe that is not in the context. Its words to look for are omitted, because `--json` prints it. */
export interface MissingProbe extends Omit<Probe, "answer"> {
  readonly fate: "recoverable" | "lost";
}

/**
 * Counts the probes in the context, the recoverable probes and the lost probes. A probe is in the context
 * unless `missing` contains it.
 */
export function tallyProbes(
  probes: readonly Probe[],
  missing: readonly MissingProbe[],
): Pick<PolicyEvaluation, "probes" | "kinds" | "missing"> {
  const tally = (isSelected: (probe: Pick<Probe, "kind">) => boolean): Tally => {
    const total = probes.filter(isSelected).length;
    const out = missing.filter(isSelected);
    const lost = out.filter(({ fate }) => fate === "lost").length;
    return { total, inContext: total - out.length, recoverable: out.length - lost, lost };
  };
  const byKind = PROBE_KINDS.map((kind) => [kind, tally((probe) => probe.kind === kind)] as const);
  return {
    probes: tally(() => true),
    kinds: Object.fromEntries(byKind) as Record<ProbeKind, Tally>,
    missing,
  };
}

/**
 * Combines the evaluations of several sessions: adds up probes and costs, and averages sizes. The result
 * contains no lists of missing probes and of false statements.
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
  const { policy, compactions, probes, kinds, scores, tokens, cost } = sumOf(policies);
  const mean = (sum: number): number => Math.round(sum / policies.length);
  return {
    ...{ policy, compactions, probes, kinds, scores },
    falseStatements: [],
    tokens: { mean: mean(tokens.mean), last: mean(tokens.last) },
    cost,
    missing: [],
    ...judgeTotal(policies.flatMap(({ judge }) => judge ?? [])),
  };
}

function judgeTotal(judges: readonly Judgement[]): Pick<PolicyEvaluation, "judge"> {
  return judges.length === 0 ? {} : { judge: { ...sumOf(judges), missed: [] } };
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

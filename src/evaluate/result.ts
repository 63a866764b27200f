import type { Thresholds } from "../window/thresholds.ts";
import type { Probe, ProbeKind } from "./probes/probe.ts";

/** How one session fares under each policy. The shape that `eval --json` prints for it; see docs/json.md. */
export interface Evaluation {
  readonly session: { readonly id: string; readonly path: string | null; readonly model: string | null };
  /** Tokens of the window, the source of that figure, and when a compaction is due in it. */
  readonly window: Pick<Thresholds, "size" | "origin" | "autoCompact">;
  /** The model whose prices the costs are in: the session's, or a usual one where those are not known. */
  readonly pricesOf: string;
  /** The prices of the session's model are not known: those of a usual one stand in for them. */
  readonly arePricesAssumed: boolean;
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
  /** Probes that are not in the context. */
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

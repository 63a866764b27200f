import type { Fact } from "./facts.ts";

/**
 * Where a fact is after a compaction: in the summary as it was written, in the messages that were kept, quoted
 * because the summary lacked it, in what was put back, only in the transcript, or nowhere.
 */
export type Fate = "summary" | "kept" | "quoted" | "restored" | "recoverable" | "gone";

export interface LedgerFact extends Fact {
  readonly fate: Fate;
}

/** A tool result that no model had seen, and that did not fit whole beside the summary. */
export interface ShortenedResult {
  readonly toolUseId: string;
  /** Uuid of the entry that holds it whole in the transcript. */
  readonly entryId?: string;
  readonly tokens: number;
  readonly keptTokens: number;
}

/** What a compaction did with what there was: on its boundary in the transcript. */
export interface Ledger {
  readonly facts: readonly LedgerFact[];
  /** The messages that the summary stands for; in the transcript they are whole. */
  readonly summarised: {
    readonly messages: number;
    readonly tokens: number;
    /** Uuids of the first and the last of them. */
    readonly from?: string;
    readonly to?: string;
  };
  readonly kept: { readonly messages: number; readonly tokens: number };
  readonly restored: readonly { readonly kind: string; readonly name: string; readonly tokens: number }[];
  /** Results among the kept messages of which a part was left out. */
  readonly shortened?: readonly ShortenedResult[];
  /** What could not be put back, and why. */
  readonly skipped: readonly { readonly kind: string; readonly name: string; readonly reason: string }[];
  /** Tokens that quoting cost. */
  readonly quotedTokens: number;
  /** Facts of this compaction that were too many to be told here; the transcript has them. */
  readonly untold?: number;
  /** Facts of earlier compactions that are told by their ledgers alone: the boundary to look at, and how many. */
  readonly earlier?: { readonly boundary: string; readonly facts: number };
}

/** The part of a ledger that the next compaction continues from. */
export interface KnownFacts {
  readonly facts: readonly Fact[];
  readonly earlier?: Ledger["earlier"] | undefined;
}

/** How many facts are where. */
export function countFates(facts: readonly LedgerFact[]): Readonly<Record<Fate, number>> {
  const counts = { summary: 0, kept: 0, quoted: 0, restored: 0, recoverable: 0, gone: 0 };
  for (const { fate } of facts) counts[fate]++;
  return counts;
}

/** Whether the agent has it before its eyes. */
export const isInContext = ({ fate }: Pick<LedgerFact, "fate">): boolean =>
  fate !== "recoverable" && fate !== "gone";

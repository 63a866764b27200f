import type { ChainRecord } from "./events.ts";

export interface CompactionFacts {
  readonly turnId: string;
  /** As counted by `Health.turn`. */
  readonly turn: number;
  readonly threshold: number;
  readonly caller: string;
}

/** Remembers the compactions of one conversation, each by the one before it. */
export class CompactionChain {
  #previous: Pick<CompactionFacts, "turnId" | "turn"> | undefined;
  #hasEarlier: boolean;

  /** `hasEarlier`: the conversation came with a boundary that somebody else has written. */
  constructor({ hasEarlier = false }: { readonly hasEarlier?: boolean } = {}) {
    this.#hasEarlier = hasEarlier;
  }

  /** The record of a compaction that has come about; the next one is linked to it. */
  record({ turnId, turn, threshold, caller }: CompactionFacts): ChainRecord {
    const previous = this.#previous;
    const record: ChainRecord = {
      isInChain: this.#hasEarlier,
      turnsSincePrevious: previous === undefined ? undefined : Math.max(0, turn - previous.turn),
      previousTurnId: previous?.turnId,
      threshold,
      caller,
    };
    this.#previous = { turnId, turn };
    this.#hasEarlier = true;
    return record;
  }

  /** A boundary was found in what the host sent. */
  foundEarlier(): void {
    this.#hasEarlier = true;
  }
}

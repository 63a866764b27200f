import type { Trigger } from "./events.ts";

export type Verdict = "effective" | "ineffective";

export interface CompactionMoment {
  readonly trigger: Trigger;
  /** As counted by `Breaker.turn`. */
  readonly turn: number;
}

export interface ReportedSize {
  /** The turn whose call this is the answer to. */
  readonly turn: number;
  /** What the model read, by the provider's own figures. Undefined where there are none that can be trusted. */
  readonly tokens: number | undefined;
  readonly threshold: number;
}

/**
 * Whether a compaction has helped. The provider decides, by the first usage that it reports for what was
 * compacted: our own estimate is what asked for the compaction, and cannot be its judge.
 */
export class Judgement {
  #firstTurn: number | undefined;
  #trigger: Trigger | undefined;

  /** Of the newest compaction. */
  get trigger(): Trigger | undefined {
    return this.#trigger;
  }

  get isPending(): boolean {
    return this.#firstTurn !== undefined;
  }

  compacted({ trigger, turn }: CompactionMoment): void {
    // By hand is between two turns: the answer that is still under way is one to the old conversation.
    this.#firstTurn = trigger === "manual" ? turn + 1 : turn;
    this.#trigger = trigger;
  }

  /** It was undone: what is reported next is about another conversation. */
  undone(): void {
    this.#firstTurn = undefined;
  }

  /** Undefined where there is nothing to judge, or nothing to judge it by as yet. */
  reported({ turn, tokens, threshold }: ReportedSize): Verdict | undefined {
    if (this.#firstTurn === undefined || turn < this.#firstTurn) return undefined;
    if (tokens === undefined || !Number.isFinite(tokens) || !Number.isFinite(threshold)) return undefined;
    this.#firstTurn = undefined;
    return tokens >= threshold ? "ineffective" : "effective";
  }
}

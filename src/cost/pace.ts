import { expectedTurns } from "./expected-turns.ts";

/** How far back the growth is averaged, in turns: work changes its pace. */
const AVERAGED_TURNS = 20;

export interface PaceTurn {
  /** In the context of the call to come. */
  readonly tokens: number;
  /** How many of them could be cleared. */
  readonly clearableTokens: number;
}

/** What one conversation's turns have taught about the next ones. A turn costs a few additions. */
export class Pace {
  #turns = 0;
  #steps = 0;
  #growth = 0;
  #tokens: number | undefined;
  #carriedTokens = 0;
  #compactedTo: number | undefined;

  /** A call is about to be made. */
  turn({ tokens, clearableTokens }: PaceTurn): void {
    this.#turns += 1;
    const growth = this.#tokens === undefined ? 0 : tokens - this.#tokens;
    // A context that shrank was rewritten: that is not how it grows.
    if (growth > 0) {
      this.#steps += 1;
      this.#growth += (growth - this.#growth) / Math.min(this.#steps, AVERAGED_TURNS);
    }
    this.#tokens = tokens;
    this.#carriedTokens += Math.max(0, clearableTokens);
  }

  /** History was rewritten: it is another context, and what was carried along in the old one is settled. */
  rewritten(): void {
    this.#tokens = undefined;
    this.#carriedTokens = 0;
  }

  /** A compaction has left so much. */
  compacted(tokens: number): void {
    this.rewritten();
    this.#compactedTo = tokens;
  }

  /** What the newest compaction left, in tokens. */
  get compactedTo(): number | undefined {
    return this.#compactedTo;
  }

  get turns(): number {
    return this.#turns;
  }

  /** In tokens, usually. */
  get growthPerTurn(): number {
    return this.#growth;
  }

  get expectedTurns(): number {
    return expectedTurns(this.#turns);
  }

  /** What could have been cleared, summed over the turns that read it since the last rewrite. */
  get carriedTokens(): number {
    return this.#carriedTokens;
  }
}

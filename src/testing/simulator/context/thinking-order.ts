import type { Mismatch } from "./mismatch.ts";
import type { SentThinking } from "./sent-thinking.ts";
import { type ThinkingSignature, thinkingDigest } from "./signature.ts";

/**
 * Thinking may be taken away from the beginning, the end, or altogether. A gap in the middle, or a block
 * that was absent when a later one was written, makes all those later ones invalid.
 */
export class ThinkingOrder {
  readonly #thinking: readonly SentThinking[];
  readonly #disorders: Mismatch["disorder"][] = [];

  constructor(thinking: readonly SentThinking[]) {
    this.#thinking = thinking;
  }

  /** To be asked for every index in turn. */
  disorderAt(index: number): Mismatch["disorder"] {
    const disorder = this.#find(index);
    this.#disorders[index] = disorder;
    return disorder;
  }

  #find(index: number): Mismatch["disorder"] {
    const signature = this.#thinking[index]?.signature;
    if (index === 0 || signature === undefined) return undefined;
    const isNext = signature.previousId === this.#thinking[index - 1]?.id;
    const hasMore = index > signature.thinkingBefore;
    const inherited = this.#disorders[index - 1];
    if (isNext && !hasMore && inherited === undefined) return undefined;
    if (this.#hasSameBefore(index, signature)) return undefined;
    if (hasMore) return "put-back";
    return isNext ? inherited : "missing";
  }

  /** The number is compared first: digests for every block of a long run would take time with its square. */
  #hasSameBefore(index: number, { thinkingBefore, thinkingDigest: known }: ThinkingSignature): boolean {
    if (thinkingBefore !== index) return false;
    return known === thinkingDigest(this.#thinking.slice(0, index).map(({ id }) => id));
  }
}

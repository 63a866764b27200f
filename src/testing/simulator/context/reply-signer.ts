import { type ContentBlock, isThinking } from "../../../conversation/message.ts";
import type { PrefixWalk } from "./bound-prefix.ts";
import { asCompaction, hasSummary } from "./conversation.ts";
import type { Sealer } from "./seal.ts";
import { addBlock } from "./sent-thinking.ts";
import { type SignatureReader, signThinking } from "./signature.ts";

/** Where the reply begins. Found only when there is something to sign. */
export interface ReplyPlace {
  readonly walk: PrefixWalk;
  readonly thinkingIds: readonly string[];
}

/** Signs the thinking of one reply, block by block. */
export class ReplySigner {
  readonly #sealer: Sealer;
  readonly #reader: SignatureReader;
  readonly #model: string;
  readonly #findPlace: () => ReplyPlace;
  #place: ReplyPlace | undefined;

  constructor(sealer: Sealer, reader: SignatureReader, model: string, findPlace: () => ReplyPlace) {
    this.#sealer = sealer;
    this.#reader = reader;
    this.#model = model;
    this.#findPlace = findPlace;
  }

  /** `before`: the blocks of the reply that come before this one, complete, a compaction block included. */
  sign(thinking: string, before: readonly ContentBlock[]): string {
    this.#place ??= this.#findPlace();
    const walk = this.#place.walk.copy();
    let thinkingIds = this.#place.thinkingIds;
    for (const block of before) {
      if (isThinking(block)) {
        thinkingIds = [...thinkingIds, this.#reader.read(block).id];
        continue;
      }
      addBlock(walk, "assistant", block, () => undefined);
      const summary = asCompaction(block);
      if (summary !== undefined && hasSummary(summary)) thinkingIds = [];
    }
    return signThinking(this.#sealer, thinking, { model: this.#model, walk, thinkingIds });
  }
}

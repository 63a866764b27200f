import {
  type AssistantEntry,
  type Entry,
  entryBlocks,
  isEntry,
  isSynthetic,
  type UserEntry,
} from "../conversation/entry.ts";
import type { ContentBlock } from "../conversation/message.ts";
import { leastImageTokens } from "../tokens/image-size.ts";
import { type CountText, measureBlock, measureEntry } from "../tokens/measure.ts";

/**
 * Estimates, each made once: the meter, the index of results and a plan all ask for the same blocks. Keyed by
 * identity, which holds because messages are never changed in place; what leaves the conversation is forgotten.
 */
export class Measures {
  readonly #countText: CountText;
  readonly #blocks = new WeakMap<ContentBlock, number>();
  readonly #entries = new WeakMap<Entry, number>();
  readonly #images = new WeakMap<ContentBlock, number>();

  constructor(countText: CountText) {
    this.#countText = countText;
  }

  readonly ofBlock = (block: ContentBlock): number => {
    const known = this.#blocks.get(block);
    if (known !== undefined) return known;
    const tokens = measureBlock(block, this.#countText);
    this.#blocks.set(block, tokens);
    return tokens;
  };

  readonly ofEntry = (entry: Entry): number => {
    if (!isEntry(entry)) return 0;
    const known = this.#entries.get(entry);
    if (known !== undefined) return known;
    const tokens = this.#measure(entry);
    this.#entries.set(entry, tokens);
    return tokens;
  };

  /** See {@link leastImageTokens}. */
  readonly leastOfImage = (block: ContentBlock): number => {
    const known = this.#images.get(block);
    if (known !== undefined) return known;
    const tokens = leastImageTokens(block);
    this.#images.set(block, tokens);
    return tokens;
  };

  #measure(entry: Entry): number {
    if (!holdsBlocks(entry)) return measureEntry(entry, this.#countText);
    let tokens = 0;
    for (const block of entryBlocks(entry)) tokens += this.ofBlock(block);
    return tokens;
  }
}

/** Only these hold blocks that anybody asks for one by one. */
function holdsBlocks(entry: Entry): entry is UserEntry | AssistantEntry {
  if (entry.type !== "user" && (entry.type !== "assistant" || isSynthetic(entry))) return false;
  return typeof entry.message?.content !== "string";
}

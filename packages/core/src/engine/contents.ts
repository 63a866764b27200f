import type { Clearing } from "../compaction/clear/stale-results.ts";
import { ResultIndex, type ResultIndexOptions } from "../compaction/clear/stale-results.ts";
import { mediaOf } from "../compaction/plan/shrink-messages.ts";
import { leastImageTokens } from "../measure/tokens/image-size.ts";
import { type CountText, measureBlock, measureEntry } from "../measure/tokens/measure.ts";
import {
  type AssistantEntry,
  type Entry,
  entryBlocks,
  isEntry,
  isSynthetic,
  type UserEntry,
} from "../messages/entry.ts";
import type { ContentBlock } from "../messages/message.ts";
import { mostJsonBytes } from "../request/check/media-rules.ts";

/** What a conversation holds, kept up as it grows: what an entry costs is what it holds. */
export class Contents {
  readonly results: ResultIndex;
  readonly #measures: Measures;
  readonly #toolNames = new Set<string>();
  #media = { count: 0, bytes: 0, leastTokens: 0 };
  #estimatedTokens = 0;
  /** All that was ever added: what is cleared later does not lower it. */
  #addedTokens = 0;

  constructor(measures: Measures, tools: ResultIndexOptions) {
    this.#measures = measures;
    this.results = new ResultIndex(tools);
  }

  /** Of all calls in it. */
  get toolNames(): ReadonlySet<string> {
    return this.#toolNames;
  }

  /** Pictures and documents: their size at most, and the tokens that they take at least. */
  get media(): { readonly count: number; readonly bytes: number; readonly leastTokens: number } {
    return this.#media;
  }

  /** All of it by our estimate, before any calibration. */
  get estimatedTokens(): number {
    return this.#estimatedTokens;
  }

  /** From the oldest result that could be cleared on, by the same estimate; 0 where there is none. */
  get tokensFromOldestResult(): number {
    const [oldest] = this.results.results();
    return oldest === undefined ? 0 : this.#addedTokens - oldest.tokensBefore;
  }

  add(entry: Entry, index: number): void {
    const tokens = this.#measures.ofEntry(entry);
    const before = this.#addedTokens;
    this.#estimatedTokens += tokens;
    this.#addedTokens += tokens;
    if (entry.type === "assistant") {
      for (const block of entryBlocks(entry)) if (block.type === "tool_use") this.#toolNames.add(block.name);
    }
    this.#addMedia(entry);
    this.results.add(entry, index, this.#measures.ofBlock, before);
  }

  /** Results of it were emptied; these are the entries now. */
  cleared(clearing: Clearing, entries: readonly Entry[]): void {
    this.results.applied(clearing);
    this.#estimatedTokens = entries.reduce((sum, entry) => sum + this.#measures.ofEntry(entry), 0);
    this.#media = { count: 0, bytes: 0, leastTokens: 0 };
    for (const entry of entries) this.#addMedia(entry);
  }

  #addMedia(entry: Entry): void {
    for (const block of mediaOf(entry)) {
      this.#media.count += 1;
      this.#media.bytes += mostJsonBytes(block);
      this.#media.leastTokens += this.#measures.leastOfImage(block);
    }
  }
}

/**
 * Estimates, each made once: the meter, the index of results and a plan all ask for the same blocks. Keyed by
 * identity, which holds because messages are never changed in place; what leaves the conversation is forgotten.
 */
export class Measures {
  readonly ofBlock: (block: ContentBlock) => number;
  readonly ofEntry: (entry: Entry) => number;
  /** See {@link leastImageTokens}. */
  readonly leastOfImage: (block: ContentBlock) => number = onceEach(leastImageTokens);

  constructor(countText: CountText) {
    this.ofBlock = onceEach((block) => measureBlock(block, countText));
    const measured = onceEach<Entry>((entry) => {
      if (!holdsBlocks(entry)) return measureEntry(entry, countText);
      let tokens = 0;
      for (const block of entryBlocks(entry)) tokens += this.ofBlock(block);
      return tokens;
    });
    this.ofEntry = (entry) => (isEntry(entry) ? measured(entry) : 0);
  }
}

/** Remembers the figure of each object as long as the object is there. */
function onceEach<T extends object>(measure: (object: T) => number): (object: T) => number {
  const known = new WeakMap<T, number>();
  return (object) => {
    const before = known.get(object);
    if (before !== undefined) return before;
    const figure = measure(object);
    known.set(object, figure);
    return figure;
  };
}

/** Only these hold blocks that anybody asks for one by one. */
function holdsBlocks(entry: Entry): entry is UserEntry | AssistantEntry {
  if (entry.type !== "user" && (entry.type !== "assistant" || isSynthetic(entry))) return false;
  return typeof entry.message?.content !== "string";
}

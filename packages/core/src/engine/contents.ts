import type { Clearing } from "../compaction/clear/stale-results.ts";
import { ResultIndex, type ResultIndexOptions } from "../compaction/clear/stale-results.ts";
import { mediaOf } from "../compaction/plan/shrink-messages.ts";
import { minImageTokens } from "../measure/tokens/image-size.ts";
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
import { maxJsonBytes } from "../request/check/media-rules.ts";

/**
 * Index of a conversation's contents, updated as the conversation grows. The cost of adding an entry depends
 * only on the size of that entry.
 */
export class Contents {
  readonly results: ResultIndex;
  readonly #measures: Measures;
  readonly #toolNames = new Set<string>();
  #media = { count: 0, bytes: 0, minTokens: 0 };
  #estimatedTokens = 0;
  /** Tokens of everything that was ever added. Clearing does not reduce this number. */
  #addedTokens = 0;

  constructor(measures: Measures, tools: ResultIndexOptions) {
    this.#measures = measures;
    this.results = new ResultIndex(tools);
  }

  /** Names of all called tools. */
  get toolNames(): ReadonlySet<string> {
    return this.#toolNames;
  }

  /** Number of images and documents, their maximum size in bytes, and their minimum number of tokens. */
  get media(): { readonly count: number; readonly bytes: number; readonly minTokens: number } {
    return this.#media;
  }

  /** Estimated tokens of everything, without calibration. */
  get estimatedTokens(): number {
    return this.#estimatedTokens;
  }

  /** Estimated tokens from the oldest clearable result to the end. 0 if there is no such result. */
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

  /** Updates the index after results were cleared. `entries` is the new list. */
  recordClearing(clearing: Clearing, entries: readonly Entry[]): void {
    this.results.applied(clearing);
    this.#estimatedTokens = entries.reduce((sum, entry) => sum + this.#measures.ofEntry(entry), 0);
    this.#media = { count: 0, bytes: 0, minTokens: 0 };
    for (const entry of entries) this.#addMedia(entry);
  }

  #addMedia(entry: Entry): void {
    for (const block of mediaOf(entry)) {
      this.#media.count += 1;
      this.#media.bytes += maxJsonBytes(block);
      this.#media.minTokens += this.#measures.minImageTokens(block);
    }
  }
}

/**
 * Caches estimates, because the meter, the index of results and a plan measure the same blocks. The key is
 * the object, which is safe because messages are never changed in place. Removed messages are garbage
 * collected.
 */
export class Measures {
  readonly ofBlock: (block: ContentBlock) => number;
  readonly ofEntry: (entry: Entry) => number;
  /** See {@link minImageTokens}. */
  readonly minImageTokens: (block: ContentBlock) => number = memoizeByObject(minImageTokens);

  constructor(countText: CountText) {
    this.ofBlock = memoizeByObject((block) => measureBlock(block, countText));
    const measured = memoizeByObject<Entry>((entry) => {
      if (!holdsBlocks(entry)) return measureEntry(entry, countText);
      let tokens = 0;
      for (const block of entryBlocks(entry)) tokens += this.ofBlock(block);
      return tokens;
    });
    this.ofEntry = (entry) => (isEntry(entry) ? measured(entry) : 0);
  }
}

/** Caches the figure of each object in a WeakMap. */
function memoizeByObject<T extends object>(measure: (object: T) => number): (object: T) => number {
  const known = new WeakMap<T, number>();
  return (object) => {
    const before = known.get(object);
    if (before !== undefined) return before;
    const figure = measure(object);
    known.set(object, figure);
    return figure;
  };
}

/** Returns true for entries whose blocks are measured one by one. */
function holdsBlocks(entry: Entry): entry is UserEntry | AssistantEntry {
  if (entry.type !== "user" && (entry.type !== "assistant" || isSynthetic(entry))) return false;
  return typeof entry.message?.content !== "string";
}

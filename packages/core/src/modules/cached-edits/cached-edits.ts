import type { Clearing, IndexedResult, ResultIndex } from "../../compaction/clear/stale-results.ts";
import { sum } from "../../compaction/plan/sized.ts";
import { whyNotToClear } from "../../engine/clear-stale.ts";
import type { AttachedModule, EngineModule, EngineParts } from "../../engine/parts.ts";
import { isCacheDrop } from "../../engine/provider-cache.ts";
import type { CacheEdit } from "../../models/port.ts";

const ACTIVE_RESULTS_TO_START = 12;
const KEPT_NEWEST_CACHED = 5;
/** What an edit names is written to the cache by the first call that carries it, if it was not there yet. */
const CALLS_UNTIL_EFFECTIVE = 2;

/** Of a response's usage; null and undefined where the provider did not say. */
export interface CacheFigures {
  readonly cacheReadTokens: number | null | undefined;
  /** All that edits left out of the prefix of this call, not only the new ones. */
  readonly deletedTokens: number | null | undefined;
}

export interface CacheReport {
  /** Pinned edits that were dropped because the cache has gone. */
  readonly droppedEdits: number;
  /** By how much our own edits lowered what this response read from the cache. */
  readonly expectedDrop: number;
}

/**
 * Clearing without touching the messages: the request tells the server which results to leave out of the
 * cached prefix. An edit stays with every later call, since without it the edited prefix is not found any
 * more. When the cache is lost the edits are void; from then on nothing is edited until {@link reset}.
 */
export class CachedEdits {
  #index: ResultIndex | undefined;
  #seenUpTo = 0;
  /** Seen, not deleted, in no order. Never many: a batch leaves only the newest. */
  #waiting: readonly IndexedResult[] = [];
  readonly #deleted = new Set<string>();
  #edits: readonly CacheEdit[] = [];
  #deletedEstimate = 0;
  #unreported: readonly { readonly tokens: number; readonly calls: number }[] = [];
  #readTokens: number | undefined;
  #deletedTokens = 0;
  #isSuspended = false;

  /** To be sent with every call; the very list as long as it stays the same. */
  edits(): readonly CacheEdit[] {
    return this.#edits;
  }

  /** The cache was lost under pinned edits. Other forms must do the clearing until {@link reset}. */
  get isSuspended(): boolean {
    return this.#isSuspended;
  }

  /** What the last response said that edits left out. */
  get deletedTokens(): number {
    return this.#deletedTokens;
  }

  /** All that the edits leave out, by our count. */
  get deletedEstimate(): number {
    return this.#deletedEstimate;
  }

  /** Tokens that the coming call leaves out, by our count, and that the last usage still includes. */
  get deletedLocally(): number {
    return sum(this.#unreported.map(({ tokens }) => tokens));
  }

  /**
   * Takes up what is new in the conversation, and gives what it adds to the edits, if anything. Before a
   * response has read from the cache there is nothing to edit.
   */
  register(index: ResultIndex): Clearing | undefined {
    if (this.#isSuspended || !this.#readTokens) return undefined;
    this.#takeUp(index);
    if (this.#waiting.length < ACTIVE_RESULTS_TO_START) return undefined;
    const active = this.#waiting.filter(({ isActive }) => isActive).sort((a, b) => a.sequence - b.sequence);
    this.#waiting = active;
    if (active.length < ACTIVE_RESULTS_TO_START) return undefined;
    const kept = index.keptCount(KEPT_NEWEST_CACHED);
    if (active.length <= kept) return undefined;
    this.#waiting = active.slice(-kept);
    return this.#pin(index, active.slice(0, -kept));
  }

  /** The response to a call that carried {@link edits}. */
  report({ cacheReadTokens, deletedTokens }: CacheFigures): CacheReport {
    const before = this.#readTokens;
    const read = asFigure(cacheReadTokens);
    const deleted = asFigure(deletedTokens);
    // What the provider says was deleted is in its own tokens; ours are an estimate.
    const expectedDrop =
      deleted === undefined ? this.deletedLocally : Math.max(0, deleted - this.#deletedTokens);
    if (read === undefined) return { droppedEdits: 0, expectedDrop };
    this.#readTokens = read;
    const isLost = read === 0 || (before !== undefined && isCacheDrop(before - expectedDrop, read));
    if (isLost && this.#edits.length > 0) {
      const droppedEdits = this.#edits.length;
      this.reset();
      this.#readTokens = read;
      this.#isSuspended = true;
      return { droppedEdits, expectedDrop: 0 };
    }
    this.#settle(deleted);
    return { droppedEdits: 0, expectedDrop };
  }

  /** After a compaction, after clearing by time, and after whatever else has rewritten the conversation. */
  reset(): void {
    this.#index = undefined;
    this.#seenUpTo = 0;
    this.#waiting = [];
    this.#deleted.clear();
    this.#deletedEstimate = 0;
    this.#edits = [];
    this.#unreported = [];
    this.#readTokens = undefined;
    this.#deletedTokens = 0;
    this.#isSuspended = false;
  }

  #pin(index: ResultIndex, stale: readonly IndexedResult[]): Clearing {
    const { tokensBefore, tokensAfter, ...rest } = index.describe("cached", stale);
    // The messages keep what was deleted before, and so does the index.
    const gone = this.#deletedEstimate;
    const edits = stale.map(({ id }): CacheEdit => ({ type: "delete_tool_result", tool_use_id: id }));
    this.#edits = [...this.#edits, ...edits];
    for (const { id } of stale) this.#deleted.add(id);
    const unreported = { tokens: sum(stale.map(({ tokens }) => tokens)), calls: 0 };
    this.#unreported = [...this.#unreported, unreported];
    this.#deletedEstimate += unreported.tokens;
    return { ...rest, tokensBefore: tokensBefore - gone, tokensAfter: tokensAfter - gone };
  }

  #takeUp(index: ResultIndex): void {
    if (index !== this.#index) {
      this.#index = index;
      this.#seenUpTo = 0;
      this.#waiting = [];
    }
    const results = index.results();
    const fresh: IndexedResult[] = [];
    for (let at = results.length - 1; at >= 0; at--) {
      const result = results[at] as IndexedResult;
      if (result.sequence <= this.#seenUpTo) break;
      if (!this.#deleted.has(result.id) && !this.#waiting.includes(result)) fresh.push(result);
    }
    this.#seenUpTo = results.at(-1)?.sequence ?? this.#seenUpTo;
    this.#waiting = [...this.#waiting, ...fresh];
  }

  /** From the usage on that includes them, edits need not be told apart from it any more. */
  #settle(deleted: number | undefined): void {
    const isIncluded = deleted === undefined || deleted > this.#deletedTokens;
    this.#deletedTokens = deleted ?? 0;
    this.#unreported = isIncluded
      ? []
      : this.#unreported
          .map(({ tokens, calls }) => ({ tokens, calls: calls + 1 }))
          .filter(({ calls }) => calls < CALLS_UNTIL_EFFECTIVE);
  }
}

function asFigure(tokens: number | null | undefined): number | undefined {
  return typeof tokens === "number" && Number.isFinite(tokens) && tokens >= 0 ? tokens : undefined;
}

/**
 * Clears stale results by edits of the cached prefix, where the provider takes them. No public provider does; a proxy or
 * a provider of your own may. Only the main conversation edits.
 */
export function cachedEdits(): EngineModule {
  return {
    name: "cached",
    attach: (parts) =>
      parts.options.capabilities.cacheEdits && parts.agentId === undefined ? attachEdits(parts) : undefined,
  };
}

function attachEdits({ options, thread, reporter, cache }: EngineParts): AttachedModule {
  const pinned = new CachedEdits();
  const isActive = (): boolean => {
    const { form } = options.clearing;
    if (whyNotToClear(options) !== undefined || (form !== "auto" && form !== "cached")) return false;
    return !pinned.isSuspended;
  };
  return {
    clearing: { isActive, clear: () => pinned.register(thread.contents.results) },
    leftOut: () => ({ hiddenTokens: pinned.deletedEstimate, hiddenSinceReport: pinned.deletedLocally }),
    hiddenToolUseIds: () => pinned.edits().map(({ tool_use_id }) => tool_use_id),
    changed: ({ kind }) => {
      if (kind === "rewritten") pinned.reset();
    },
    completeFrame: (frame) => {
      const edits = isActive() ? pinned.edits() : [];
      return edits.length === 0 ? frame : { ...frame, cache_edits: edits };
    },
    usageReported: (usage) => {
      const { droppedEdits, expectedDrop } = pinned.report({
        cacheReadTokens: usage.cache_read_input_tokens,
        deletedTokens: usage.cache_deleted_input_tokens,
      });
      if (droppedEdits > 0) {
        reporter.emit({ type: "pinned-edits-dropped", edits: droppedEdits, reason: "cache-lost" });
      }
      cache.expectDrop(expectedDrop);
    },
  };
}

import type { Clearing, IndexedResult, ResultIndex } from "../../compaction/clear/stale-results.ts";
import { sum } from "../../compaction/plan/sized.ts";
import { clearingDisabledReason } from "../../engine/clear-stale.ts";
import type { AttachedModule, EngineModule, EngineParts } from "../../engine/parts.ts";
import { isCacheDrop } from "../../engine/provider-cache.ts";
import type { CacheEdit } from "../../models/port.ts";

const ACTIVE_RESULTS_TO_START = 12;
const KEPT_NEWEST_CACHED = 5;
/**
 * Number of calls until the usage shows an edit. If the edited result was not cached yet, the first call with
 * the edit writes the result to the cache.
 */
const CALLS_UNTIL_EFFECTIVE = 2;

/** Cache figures of a response's usage. Null or undefined if the provider does not report them. */
export interface CacheFigures {
  readonly cacheReadTokens: number | null | undefined;
  /** Tokens that all edits together removed from the prefix of this call, not only the new edits. */
  readonly deletedTokens: number | null | undefined;
}

export interface CacheReport {
  /** Number of cache edits that were dropped because the cache is lost. */
  readonly droppedEdits: number;
  /** Number of tokens by which our own edits lowered this response's cache reads. */
  readonly expectedDrop: number;
}

/**
 * Clears results without changing the messages. The request tells the server which results to leave out of
 * the cached prefix. An edit is part of every later call, because without it the server does not find the
 * edited prefix. When the cache is lost, all edits are dropped. After that nothing is edited until {@link
 * reset}.
 */
export class CachedEdits {
  #index: ResultIndex | undefined;
  #seenUpTo = 0;
  /**
   * Results that were seen and not deleted, in no particular order. There are never many, because each batch
   * of edits leaves only the newest results.
   */
  #waiting: readonly IndexedResult[] = [];
  readonly #deleted = new Set<string>();
  #edits: readonly CacheEdit[] = [];
  #deletedEstimate = 0;
  #unreported: readonly { readonly tokens: number; readonly calls: number }[] = [];
  #readTokens: number | undefined;
  #deletedTokens = 0;
  #isSuspended = false;

  /** Returns the edits to send with every call. The method returns the same list until the edits change. */
  edits(): readonly CacheEdit[] {
    return this.#edits;
  }

  /**
   * True if the cache was lost while there were cache edits. Until {@link reset}, results must be cleared in
   * another way.
   */
  get isSuspended(): boolean {
    return this.#isSuspended;
  }

  /** Tokens that edits left out, according to the last response. */
  get deletedTokens(): number {
    return this.#deletedTokens;
  }

  /** Tokens that all edits leave out, by our estimate. */
  get deletedEstimate(): number {
    return this.#deletedEstimate;
  }

  /** Tokens that the next call leaves out but the last usage still includes, by our estimate. */
  get deletedLocally(): number {
    return sum(this.#unreported.map(({ tokens }) => tokens));
  }

  /**
   * Registers new results of the conversation and returns the new clearing, if there is one. Nothing can be
   * edited before a response has read from the cache.
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

  /** Records the response to a call that carried {@link edits}. */
  report({ cacheReadTokens, deletedTokens }: CacheFigures): CacheReport {
    const before = this.#readTokens;
    const read = asFigure(cacheReadTokens);
    const deleted = asFigure(deletedTokens);
    // Prefer the provider's figure, because our own figure is an estimate.
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

  /** Starts over after a compaction, a time-based clearing, or any other rewrite of the conversation. */
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
    // The messages and the index still contain the results that were deleted earlier.
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

  /** Stops tracking edits separately once a usage includes them. */
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
 * Clears stale results by editing the cached prefix, if the provider supports cache edits. No public provider
 * supports them, but a proxy or your own provider may. Applies to the main conversation only.
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
    if (clearingDisabledReason(options) !== undefined || (form !== "auto" && form !== "cached")) return false;
    return !pinned.isSuspended;
  };
  return {
    clearing: { isActive, clear: () => pinned.register(thread.contents.results) },
    omittedTokens: () => ({ hiddenTokens: pinned.deletedEstimate, hiddenSinceReport: pinned.deletedLocally }),
    hiddenToolUseIds: () => pinned.edits().map(({ tool_use_id }) => tool_use_id),
    onChange: ({ kind }) => {
      if (kind === "rewritten") pinned.reset();
    },
    completeFrame: (frame) => {
      const edits = isActive() ? pinned.edits() : [];
      return edits.length === 0 ? frame : { ...frame, cache_edits: edits };
    },
    onUsage: (usage) => {
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

import { CACHE_TTL_MS } from "../measure/cost/rewrite-cost.ts";
import type { CacheTtl } from "../measure/window/prices.ts";
import { isSameJson } from "./compare-messages.ts";
import type { EventDetail } from "./events.ts";

interface Call {
  readonly system: unknown;
  readonly tools: unknown;
  readonly model: string | undefined;
  readonly caller: string;
  /** Number of messages in the request. */
  readonly messages: number;
}

/** State of the provider's prompt cache for one conversation: its content, its age, and cache breaks. */
export class ProviderCache {
  readonly #now: () => number;
  readonly #ttlMs: number;
  readonly #watch: CacheWatch;
  #cachedMessages = 0;
  /** Messages of the running call. They are in the cache after the response to that call. */
  #sentMessages = 0;
  #request: SentRequest | undefined;
  #lastCallAt: number | undefined;
  /**
   * The longest pause since the last compaction. Results that the provider clears after a pause stay cleared.
   */
  #longestIdleMs = 0;

  constructor({ now, ttl = "5m" }: { readonly now: () => number; readonly ttl?: CacheTtl | undefined }) {
    this.#now = now;
    this.#ttlMs = CACHE_TTL_MS[ttl];
    this.#watch = new CacheWatch({ ttlMs: this.#ttlMs });
  }

  /** Number of messages of the last call that are still in the cache. */
  get warmMessages(): number {
    return this.idleMs() < this.#ttlMs ? this.#cachedMessages : 0;
  }

  /**
   * True if the cache has expired, so that the next call writes everything again. False before the first
   * call.
   */
  get isCold(): boolean {
    return this.#lastCallAt !== undefined && this.idleMs() >= this.#ttlMs;
  }

  get longestIdleMs(): number {
    return this.#longestIdleMs;
  }

  /** Returns the time since the last use of the cache. Returns 0 if the clock went back. */
  idleMs(): number {
    return this.#lastCallAt === undefined ? 0 : Math.max(0, this.#now() - this.#lastCallAt);
  }

  /** Records that a call starts. */
  recordCall({ messages, caller, ...fingerprint }: Call): void {
    this.#sentMessages = messages;
    this.#request = this.#watch.recordRequest({ ...fingerprint, at: this.#now() }, caller);
  }

  /** Records the time of a call. The default is now. */
  recordCallTime(at: number = this.#now()): void {
    this.#lastCallAt = at;
  }

  /** Records the response to the newest call. */
  recordAnswer(): void {
    this.#cachedMessages = this.#sentMessages;
  }

  /**
   * Records the tokens that a response read from the cache. Returns the cache break that they reveal, if any.
   */
  recordCacheRead(readTokens: number | null | undefined): CacheBreak | undefined {
    return this.#watch.recordResponse(readTokens, this.#request);
  }

  /**
   * Announces that edits of the cached prefix removed tokens, so that the next response reads fewer cached
   * tokens.
   */
  expectDrop(tokens: number): void {
    this.#watch.expectDrop(tokens);
  }

  /** Records that the provider changed the prefix itself. The next response sets a new baseline. */
  dropBaseline(): void {
    this.#watch.dropBaseline();
  }

  /**
   * Records that the engine changed messages that were already sent. No message then counts as cached. The
   * lost cache is not reported as a cache break.
   */
  invalidate(): void {
    this.#cachedMessages = 0;
    this.#sentMessages = 0;
    this.#watch.dropBaseline();
  }

  /** Records the pause before a new turn. */
  recordPause(): void {
    this.#longestIdleMs = Math.max(this.#longestIdleMs, this.idleMs());
  }

  /** Forgets the old conversation after it was replaced. */
  reset(): void {
    this.#longestIdleMs = 0;
  }
}

/** Everything besides messages that determines the cached prefix. The objects are not copied. */
export interface CacheFingerprint {
  readonly system: unknown;
  readonly tools: unknown;
  readonly model: string | undefined;
  readonly betas?: unknown;
  /** Time of sending in milliseconds. */
  readonly at: number;
}

type CacheBreakCause = "system prompt" | "tools" | "model" | "betas" | "time gap" | "unknown";

export type CacheBreak = Omit<Extract<EventDetail, { readonly type: "cache-break" }>, "type">;

/** A request that was sent, for {@link CacheWatch.recordResponse}. */
interface SentRequest {
  readonly caller: string;
  readonly number: number;
  readonly epoch: number;
  readonly fingerprint: CacheFingerprint;
}

interface Baseline {
  readonly readTokens: number;
  readonly request: SentRequest;
}

/**
 * Detects a lost prompt cache from the figures of one conversation's responses. The engine announces its own
 * changes, so that they are not reported as cache breaks.
 */
export class CacheWatch {
  readonly #ttlMs: number;
  readonly #baselines: Map<string, Baseline> = new Map();
  readonly #newest: Map<string, SentRequest> = new Map();
  #sent = 0;
  #epoch = 0;
  /** Announced drop of cache reads that no response has shown yet, in tokens. */
  #expectedDrop = 0;

  constructor({ ttlMs = CACHE_TTL_MS["5m"] }: { readonly ttlMs?: number } = {}) {
    this.#ttlMs = ttlMs;
  }

  /** Records a request. Pass the returned request to {@link recordResponse} when its response arrives. */
  recordRequest(fingerprint: CacheFingerprint, caller = "main"): SentRequest {
    this.#sent += 1;
    const request: SentRequest = { caller, number: this.#sent, epoch: this.#epoch, fingerprint };
    this.#newest.set(caller, request);
    return request;
  }

  /** Records a response to the given request, by default the newest request of the main conversation. */
  recordResponse(
    readTokens: number | null | undefined,
    request: SentRequest | undefined = this.#newest.get("main"),
  ): CacheBreak | undefined {
    if (request === undefined || typeof readTokens !== "number" || !(readTokens >= 0)) return undefined;
    // The conversation was rewritten after this request, so the cache reads of this response do not apply to
    // the new history.
    if (request.epoch !== this.#epoch) return undefined;
    const before = this.#baselines.get(request.caller);
    // Responses may arrive out of order, and a host may report a response twice.
    if (before !== undefined && before.request.number >= request.number) return undefined;
    this.#baselines.set(request.caller, { readTokens, request });
    const announced = this.#expectedDrop;
    this.#expectedDrop = 0;
    return before === undefined ? undefined : this.#breakBetween(before, { readTokens, request }, announced);
  }

  /**
   * Records that a compaction, a clearing or a snip rewrote the history. The next response sets a new
   * baseline.
   */
  dropBaseline(): void {
    this.#epoch += 1;
    this.#baselines.clear();
  }

  /**
   * Announces that edits of the cached prefix removed tokens, so that the next response reads fewer cached
   * tokens.
   */
  expectDrop(tokens: number): void {
    if (Number.isFinite(tokens) && tokens > 0) this.#expectedDrop += tokens;
  }

  #breakBetween(before: Baseline, after: Baseline, announced: number): CacheBreak | undefined {
    const expected = Math.max(0, before.readTokens - announced);
    if (!isCacheDrop(expected, after.readTokens)) return undefined;
    const causes = this.#causes(before.request.fingerprint, after.request.fingerprint);
    return { before: before.readTokens, after: after.readTokens, expected, causes };
  }

  #causes(before: CacheFingerprint, after: CacheFingerprint): readonly CacheBreakCause[] {
    const causes: CacheBreakCause[] = [];
    if (!isSameJson(before.system, after.system)) causes.push("system prompt");
    if (!isSameJson(before.tools, after.tools)) causes.push("tools");
    if (before.model !== after.model) causes.push("model");
    if (!isSameJson(before.betas, after.betas)) causes.push("betas");
    if (after.at - before.at >= this.#ttlMs) causes.push("time gap");
    return causes.length === 0 ? ["unknown"] : causes;
  }
}

/** Cache reads vary slightly between calls. A drop must be large both as a share and in tokens. */
const DROP_SHARE = 0.05;
const DROP_TOKENS = 2_000;

/**
 * Compares the cache reads of a response with the expected reads. Returns true if the difference is so large
 * that the cache must have been lost.
 */
export function isCacheDrop(expectedTokens: number, readTokens: number): boolean {
  const missing = expectedTokens - readTokens;
  return missing > expectedTokens * DROP_SHARE && missing > DROP_TOKENS;
}

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

/** The provider's prompt cache, as far as one conversation can know it: what is in it, how old it is, when it broke. */
export class ProviderCache {
  readonly #now: () => number;
  readonly #ttlMs: number;
  readonly #watch: CacheWatch;
  #cachedMessages = 0;
  /** Messages of the call under way; they are in the cache once its response has come. */
  #sentMessages = 0;
  #request: SentRequest | undefined;
  #lastCallAt: number | undefined;
  /** The longest pause since the last compaction: what the provider clears after it stays cleared. */
  #longestIdleMs = 0;

  constructor({ now, ttl = "5m" }: { readonly now: () => number; readonly ttl?: CacheTtl | undefined }) {
    this.#now = now;
    this.#ttlMs = CACHE_TTL_MS[ttl];
    this.#watch = new CacheWatch({ ttlMs: this.#ttlMs });
  }

  /** Messages that the last call sent and that are still in the cache. */
  get warmMessages(): number {
    return this.idleMs() < this.#ttlMs ? this.#cachedMessages : 0;
  }

  /** The cache's life is over: the next call writes everything anew. Not known before the first call. */
  get isCold(): boolean {
    return this.#lastCallAt !== undefined && this.idleMs() >= this.#ttlMs;
  }

  get longestIdleMs(): number {
    return this.#longestIdleMs;
  }

  /** How long the cache has not been used. A clock that went back says nothing. */
  idleMs(): number {
    return this.#lastCallAt === undefined ? 0 : Math.max(0, this.#now() - this.#lastCallAt);
  }

  /** A call goes out. */
  sent({ messages, caller, ...fingerprint }: Call): void {
    this.#sentMessages = messages;
    this.#request = this.#watch.sent({ ...fingerprint, at: this.#now() }, caller);
  }

  /** A call was made at this time, or just now. */
  called(at: number = this.#now()): void {
    this.#lastCallAt = at;
  }

  /** The response to the newest call has come. */
  answered(): void {
    this.#cachedMessages = this.#sentMessages;
  }

  /** The response read so much from the cache. Returns the break that this shows, if any. */
  received(readTokens: number | null | undefined): CacheBreak | undefined {
    return this.#watch.received(readTokens, this.#request);
  }

  /** Edits of the cached prefix took out so much: the next response reads that much less. */
  expectDrop(tokens: number): void {
    this.#watch.expectDrop(tokens);
  }

  /** The provider changed the prefix by itself: the next response sets a new baseline. */
  dropBaseline(): void {
    this.#watch.dropBaseline();
  }

  /** We changed what was sent before: the cache ends there, and that is no alarm. */
  invalidate(): void {
    this.#cachedMessages = 0;
    this.#sentMessages = 0;
    this.#watch.dropBaseline();
  }

  /** A turn begins: the pause before it counts. */
  notePause(): void {
    this.#longestIdleMs = Math.max(this.#longestIdleMs, this.idleMs());
  }

  /** The conversation was replaced. */
  restart(): void {
    this.#longestIdleMs = 0;
  }
}

/** Everything besides messages that the cached prefix depends on. Held by reference until the next response. */
export interface CacheFingerprint {
  readonly system: unknown;
  readonly tools: unknown;
  readonly model: string | undefined;
  readonly betas?: unknown;
  /** When it was sent, in milliseconds. */
  readonly at: number;
}

type CacheBreakCause = "system prompt" | "tools" | "model" | "betas" | "time gap" | "unknown";

export type CacheBreak = Omit<Extract<EventDetail, { readonly type: "cache-break" }>, "type">;

/** A request under way, for `received`. */
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
 * Notices when the provider's prompt cache was lost, by the figures of one conversation's responses. What we
 * do to the cache ourselves is told in advance and raises no alarm.
 */
export class CacheWatch {
  readonly #ttlMs: number;
  readonly #baselines: Map<string, Baseline> = new Map();
  readonly #newest: Map<string, SentRequest> = new Map();
  #sent = 0;
  #epoch = 0;
  /** Announced, and not yet seen, in tokens. */
  #expectedDrop = 0;

  constructor({ ttlMs = CACHE_TTL_MS["5m"] }: { readonly ttlMs?: number } = {}) {
    this.#ttlMs = ttlMs;
  }

  /** A request goes out. Keep what comes back, and give it to {@link received} with its response. */
  sent(fingerprint: CacheFingerprint, caller = "main"): SentRequest {
    this.#sent += 1;
    const request: SentRequest = { caller, number: this.#sent, epoch: this.#epoch, fingerprint };
    this.#newest.set(caller, request);
    return request;
  }

  /** A response has come: for the request given, or else for the caller's newest. */
  received(
    readTokens: number | null | undefined,
    request: SentRequest | undefined = this.#newest.get("main"),
  ): CacheBreak | undefined {
    if (request === undefined || typeof readTokens !== "number" || !(readTokens >= 0)) return undefined;
    // An answer to a conversation that has been rewritten meanwhile says nothing about the new one.
    if (request.epoch !== this.#epoch) return undefined;
    const before = this.#baselines.get(request.caller);
    // Answers may overtake each other, and one may be reported twice.
    if (before !== undefined && before.request.number >= request.number) return undefined;
    this.#baselines.set(request.caller, { readTokens, request });
    const announced = this.#expectedDrop;
    this.#expectedDrop = 0;
    return before === undefined ? undefined : this.#breakBetween(before, { readTokens, request }, announced);
  }

  /** History was rewritten (compaction of any tier, clearing, snip): the next response sets a new baseline. */
  dropBaseline(): void {
    this.#epoch += 1;
    this.#baselines.clear();
  }

  /** Edits of the cached prefix took out so much: the next response to be received reads that much less. */
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

/** Cache reads vary a little from call to call; a drop is one that is large both in share and in tokens. */
const DROP_SHARE = 0.05;
const DROP_TOKENS = 2_000;

/** Whether so much less was read from the cache than expected that it must have been broken or lost. */
export function isCacheDrop(expectedTokens: number, readTokens: number): boolean {
  const missing = expectedTokens - readTokens;
  return missing > expectedTokens * DROP_SHARE && missing > DROP_TOKENS;
}

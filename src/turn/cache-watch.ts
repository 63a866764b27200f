import { isCacheDrop } from "../clear/cache-drop.ts";
import { CACHE_TTL_MS } from "../cost/rates.ts";
import type { EventDetail } from "./events.ts";
import { isSameJson } from "./same-json.ts";

/** What the cached prefix depends on, besides messages. Held by reference until the next response. */
export interface CacheFingerprint {
  readonly system: unknown;
  readonly tools: unknown;
  readonly model: string | undefined;
  readonly betas?: unknown;
  /** When it was sent, in milliseconds. */
  readonly at: number;
}

export type CacheBreakCause = "system prompt" | "tools" | "model" | "betas" | "time gap" | "unknown";

export type CacheBreak = Omit<Extract<EventDetail, { readonly type: "cache-break" }>, "type">;

/** A request under way, for `received`. */
export interface SentRequest {
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

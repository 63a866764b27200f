import { field, type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import type { PrefixNode } from "../../prompt/prefix-tree.ts";
import type { OpenAiPrompt, PromptPosition } from "./prompt-parts.ts";

/** Way in which the prompt cache of a model works. */
export type CachingKind =
  /** Prefixes of at least 1,024 tokens, in steps of 128, cached automatically. */
  | "automatic"
  /** As `automatic`, but always with the lifetime of a day. */
  | "extended"
  /** Prefixes up to a breakpoint. The API reports how many tokens it wrote. */
  | "breakpoints"
  | "none";

/** Facts about a call that decide which cached prefixes it can read. */
export interface CacheCall {
  /** Each project has a separate cache. */
  readonly workspace: string;
  readonly model: { readonly id: string; readonly caching: CachingKind };
  /** The body. Its fields `prompt_cache_key`, `prompt_cache_retention` and `prompt_cache_options` count. */
  readonly body: JsonRecord;
  /** Start of the call in milliseconds. */
  readonly startedAt: number;
}

export interface CacheLookup {
  readonly cachedTokens: number;
  /** Tokens that the call writes into the cache. Undefined for models that do not report them. */
  readonly writtenTokens: number | undefined;
  /** Call this when the answer starts. Later calls can read the prefix of this call only after that. */
  commit(): void;
}

/** Minimum tokens of a cached prefix. Source: the guide on prompt caching. */
const MIN_CACHED_TOKENS = 1_024;
/** Steps in which automatic caching counts. Source: the guide on prompt caching. */
const STEP_TOKENS = 128;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/**
 * Idle time after which an automatic entry is lost. The guide names 5 to 10 minutes. The simulator uses the
 * shorter time, so that a client does not rely on luck.
 */
const IDLE_MS = 5 * MINUTE_MS;
/** Lifetime with `prompt_cache_retention: "24h"`. */
const EXTENDED_MS = 24 * HOUR_MS;
/** Values of `prompt_cache_options.ttl`. The SDK's types name both. */
const TTL_MS: Readonly<Record<string, number>> = { "30m": 30 * MINUTE_MS, "12h": 12 * HOUR_MS };
const DEFAULT_TTL = "30m";
/** Breakpoints that one request can write, and newest breakpoints that it can match. Source: the SDK's types. */
const MAX_WRITTEN = 4;
const MAX_MATCHED = 80;
/** Limit for entries of all prefixes. The oldest ones are lost, as in a real cache under load. */
const MAX_ENTRIES = 50_000;
/** Limit for entries of one prefix. Each cache key has its own entry, and a client may use one per session. */
const MAX_SCOPES = 1_000;
const SWEEP_EVERY_MS = MINUTE_MS;
/** Newest cached parts that a changed part is compared with. */
const MAX_COMPARED = 32;
/** Minimum characters that a changed part must share. Shorter starts are mostly markup, as in `{"role":`. */
const MIN_SHARED_CHARACTERS = 256;

/** The prompt cache of OpenAI. It needs no marks in the request. */
export class PrefixCache {
  readonly #entries = new Map<PrefixNode, Map<string, number>>();
  readonly #now: () => number;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(clock: { now(): number }) {
    this.#now = () => clock.now();
  }

  /** Number of cached prefixes, for tests that watch the memory. */
  get size(): number {
    return this.#entries.size;
  }

  /** Drops the entries of the older half of the prefixes. Returns false if there are none. */
  dropOlderHalf(): boolean {
    const nodes = [...this.#entries.keys()];
    for (const node of nodes.slice(0, Math.ceil(nodes.length / 2))) this.#drop(node);
    return nodes.length > 0;
  }

  lookup(prompt: OpenAiPrompt, call: CacheCall): CacheLookup {
    this.#sweep();
    const { caching } = call.model;
    if (caching === "none") return { cachedTokens: 0, writtenTokens: undefined, commit: () => undefined };
    return caching === "breakpoints" ? this.#byBreakpoints(prompt, call) : this.#automatic(prompt, call);
  }

  #automatic(prompt: OpenAiPrompt, call: CacheCall): CacheLookup {
    const scope = scopeOf(call);
    const { startedAt, body, model } = call;
    const { positions, tokens } = prompt;
    const index = this.#newestHit(positions, scope, startedAt, Number.POSITIVE_INFINITY);
    const found = positions[index]?.tokens ?? 0;
    const more = this.#partlyCached(prompt, index + 1, scope, startedAt);
    // At least one token of the prompt is always computed.
    const reusable = Math.min(found + more, tokens - 1);
    const isExtended = model.caching === "extended" || body.prompt_cache_retention === "24h";
    return {
      cachedTokens: reusable < MIN_CACHED_TOKENS ? 0 : reusable - (reusable % STEP_TOKENS),
      writtenTokens: undefined,
      commit: () => this.#write(positions, scope, startedAt + (isExtended ? EXTENDED_MS : IDLE_MS)),
    };
  }

  /**
   * Estimates the cached tokens at the start of a part that differs from all cached ones. The real cache
   * compares tokens, so a changed end of a long text costs only the end. The estimate assumes that the tokens
   * are spread evenly over the characters.
   */
  #partlyCached({ root, positions }: OpenAiPrompt, index: number, scope: string, at: number): number {
    const part = positions[index];
    if (part === undefined) return 0;
    const before = positions[index - 1];
    const { key } = part.node;
    let shared = 0;
    for (const other of (before?.node ?? root).children.slice(-MAX_COMPARED)) {
      if (other.head !== part.node.head || (this.#entries.get(other)?.get(scope) ?? 0) <= at) continue;
      shared = Math.max(shared, sharedStart(key, other.key));
    }
    const partTokens = part.tokens - (before?.tokens ?? 0);
    return shared < MIN_SHARED_CHARACTERS ? 0 : Math.floor((partTokens * shared) / key.length);
  }

  #byBreakpoints({ positions }: OpenAiPrompt, call: CacheCall): CacheLookup {
    const options = call.body.prompt_cache_options;
    const isExplicit = stringField(options, "mode") === "explicit";
    const explicit = longEnough(positions).filter(({ isBreakpoint }) => isBreakpoint);
    if (isExplicit && explicit.length === 0)
      return { cachedTokens: 0, writtenTokens: 0, commit: () => undefined };
    const scope = scopeOf(call);
    const implicit = isExplicit ? [] : longEnough(positions).slice(-1);
    const marks = [...explicit.slice(implicit.length - MAX_WRITTEN), ...implicit];
    const hit = positions[this.#newestHit(positions, scope, call.startedAt, MAX_MATCHED)];
    const ttl = TTL_MS[String(field(options, "ttl") ?? DEFAULT_TTL)] ?? TTL_MS[DEFAULT_TTL] ?? 0;
    const cachedTokens = hit?.tokens ?? 0;
    const reached = marks.reduce((most, mark) => Math.max(most, mark.tokens), 0);
    return {
      cachedTokens,
      writtenTokens: Math.max(0, reached - cachedTokens),
      commit: () => this.#write([...(hit === undefined ? [] : [hit]), ...marks], scope, call.startedAt + ttl),
    };
  }

  /** Finds the end of the longest cached prefix. Reads at most this number of the newest entries. */
  #newestHit(positions: readonly PromptPosition[], scope: string, at: number, maxEntries: number): number {
    let seen = 0;
    for (let index = positions.length - 1; index >= 0 && seen < maxEntries; index--) {
      const position = positions[index];
      const expiresAt = position && this.#entries.get(position.node)?.get(scope);
      if (expiresAt === undefined) continue;
      if (expiresAt > at) return index;
      seen++;
    }
    return -1;
  }

  #write(positions: readonly PromptPosition[], scope: string, expiresAt: number): void {
    for (const { node } of positions) {
      const entries = this.#entries.get(node) ?? new Map<string, number>();
      if (!entries.has(scope)) node.held++;
      const latest = Math.max(expiresAt, entries.get(scope) ?? 0);
      entries.delete(scope);
      entries.set(scope, latest);
      const [oldest] = entries.keys();
      if (entries.size > MAX_SCOPES && oldest !== undefined && entries.delete(oldest)) node.held--;
      // Moves the node to the end, so that the first nodes are the ones that nobody has used for longest.
      this.#entries.delete(node);
      this.#entries.set(node, entries);
    }
    for (const node of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES) return;
      this.#drop(node);
    }
  }

  #drop(node: PrefixNode): void {
    node.held -= this.#entries.get(node)?.size ?? 0;
    this.#entries.delete(node);
  }

  #sweep(): void {
    const now = this.#now();
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    for (const [node, entries] of this.#entries) {
      for (const [scope, expiresAt] of entries) {
        if (expiresAt > now) continue;
        entries.delete(scope);
        node.held--;
      }
      if (entries.size === 0) this.#entries.delete(node);
    }
  }
}

/** Returns the number of characters at the start that two texts share. */
function sharedStart(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  let at = 0;
  while (at < length && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  return at;
}

const longEnough = (positions: readonly PromptPosition[]): readonly PromptPosition[] =>
  positions.filter(({ tokens }) => tokens >= MIN_CACHED_TOKENS);

/** Requests with different cache keys reach different machines, so they share no cache. */
const scopeOf = ({ workspace, model, body }: CacheCall): string =>
  [workspace, model.id, stringField(body, "prompt_cache_key") ?? ""].join("\0");

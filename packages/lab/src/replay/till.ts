import { CACHE_TTL_MS } from "@longhaul/core/internal/measure";
import { inputTokens } from "@longhaul/core/internal/messages";
import { type CacheTtl, costOf, type PricedUsage, type PriceTable } from "@longhaul/core/measure";
import type { Usage } from "@longhaul/core/messages";
import type { ModelRequest } from "@longhaul/core/models";
import { type PrefixCache, type ReplayUsage, usageOf } from "./prefix-cache.ts";

/** Tokens by what is paid for them. */
export interface TokenSums {
  readonly plain: number;
  readonly written: number;
  readonly read: number;
  readonly output: number;
}

/** One call of the conversation, as it went under a policy. */
export interface ReplayedTurn {
  /** What the model read. */
  readonly tokens: number;
  /** Dollars up to and with this call, those of summaries included. */
  readonly cost: number;
  /** The history was rewritten for it: compacted, trimmed or cleared. */
  readonly isRewritten: boolean;
}

export interface TillOptions {
  /** Whose prices hold; they are known. */
  readonly model: string;
  /** Go before the published ones. */
  readonly prices: PriceTable | undefined;
  readonly ttl: CacheTtl;
  readonly cache: PrefixCache;
}

const NOTHING: TokenSums = { plain: 0, written: 0, read: 0, output: 0 };

/** Adds up what a policy's calls cost. */
export class Till {
  readonly turns: ReplayedTurn[] = [];
  tokens: TokenSums = NOTHING;
  summaryCalls = 0;
  cacheBreaks = 0;
  refusedCalls = 0;
  cost = 0;
  summaryCost = 0;
  #last = { cached: 0, at: Number.NEGATIVE_INFINITY };
  readonly #options: TillOptions;

  constructor(options: TillOptions) {
    this.#options = options;
  }

  /** A call of the conversation itself. */
  call(
    request: ModelRequest,
    {
      at,
      outputTokens,
      isRewritten,
    }: { readonly at: number; readonly outputTokens: number; readonly isRewritten: boolean },
  ): ReplayUsage {
    const parts = this.#options.cache.call(request, at);
    const usage = usageOf(parts, outputTokens);
    if (parts.read < this.cachedAt(at)) this.cacheBreaks++;
    this.#last = { cached: parts.read + parts.written, at };
    this.#pay(usage);
    this.turns.push({ tokens: inputTokens(usage), cost: this.cost, isRewritten });
    return usage;
  }

  /** A call that the provider refused as too long: nothing is paid. */
  refused(tokens: number, isRewritten: boolean): void {
    this.refusedCalls++;
    this.turns.push({ tokens, cost: this.cost, isRewritten });
  }

  /** Tokens of the last call that are in the provider's cache at this time. */
  cachedAt(time: number): number {
    return time - this.#last.at < CACHE_TTL_MS[this.#options.ttl] ? this.#last.cached : 0;
  }

  /** A call for a summary, whoever made it. */
  summary(usage: PricedUsage): void {
    this.summaryCalls++;
    this.summaryCost += this.#pay(usage);
  }

  #pay(usage: PricedUsage): number {
    const dollars = costOf(usage, this.#options.model, this.#options.prices) ?? 0;
    this.tokens = plus(this.tokens, usage);
    this.cost += dollars;
    return dollars;
  }
}

function plus(sums: TokenSums, usage: Usage): TokenSums {
  return {
    plain: sums.plain + usage.input_tokens,
    written: sums.written + (usage.cache_creation_input_tokens ?? 0),
    read: sums.read + (usage.cache_read_input_tokens ?? 0),
    output: sums.output + usage.output_tokens,
  };
}

import { CACHE_TTL_MS } from "@longhaul/core/internal/measure";
import { inputTokens } from "@longhaul/core/internal/messages";
import { type CacheTtl, costOf, type PricedUsage, type PriceTable } from "@longhaul/core/measure";
import type { Usage } from "@longhaul/core/messages";
import type { ModelRequest } from "@longhaul/core/models";
import { type PrefixCache, type ReplayUsage, usageOf } from "./prefix-cache.ts";

/** Sums of tokens, one for each price. */
export interface TokenSums {
  readonly plain: number;
  readonly written: number;
  readonly read: number;
  readonly output: number;
}

/** One call of the conversation under a policy. */
export interface ReplayedTurn {
  /** Input tokens of the call. */
  readonly tokens: number;
  /** Dollars spent up to and including this call. The sum includes the cost of summary calls. */
  readonly cost: number;
  /** True if the policy rewrote the history for this call: compacted, trimmed or cleared it. */
  readonly isRewritten: boolean;
}

export interface CostTrackerOptions {
  /** Model whose prices apply. Its prices must be known. */
  readonly model: string;
  /** The user's own prices. They override the published prices. */
  readonly prices: PriceTable | undefined;
  readonly ttl: CacheTtl;
  readonly cache: PrefixCache;
}

const NOTHING: TokenSums = { plain: 0, written: 0, read: 0, output: 0 };

/** Adds up the cost of a policy's calls. */
export class CostTracker {
  readonly turns: ReplayedTurn[] = [];
  tokens: TokenSums = NOTHING;
  summaryCalls = 0;
  cacheBreaks = 0;
  refusedCalls = 0;
  cost = 0;
  summaryCost = 0;
  #last = { cached: 0, at: Number.NEGATIVE_INFINITY };
  readonly #options: CostTrackerOptions;

  constructor(options: CostTrackerOptions) {
    this.#options = options;
  }

  /** Charges a call of the conversation itself. */
  recordCall(
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

  /** Records a call that the provider refused as too long. It costs nothing. */
  recordRefusedCall(tokens: number, isRewritten: boolean): void {
    this.refusedCalls++;
    this.turns.push({ tokens, cost: this.cost, isRewritten });
  }

  /** Returns the tokens of the last call that are still in the provider's cache at this time. */
  cachedAt(time: number): number {
    return time - this.#last.at < CACHE_TTL_MS[this.#options.ttl] ? this.#last.cached : 0;
  }

  /** Charges a summary call. */
  recordSummaryCall(usage: PricedUsage): void {
    this.summaryCalls++;
    this.summaryCost += this.#pay(usage);
  }

  #pay(usage: PricedUsage): number {
    const dollars = costOf(usage, this.#options.model, this.#options.prices) ?? 0;
    this.tokens = addUsage(this.tokens, usage);
    this.cost += dollars;
    return dollars;
  }
}

function addUsage(sums: TokenSums, usage: Usage): TokenSums {
  return {
    plain: sums.plain + usage.input_tokens,
    written: sums.written + (usage.cache_creation_input_tokens ?? 0),
    read: sums.read + (usage.cache_read_input_tokens ?? 0),
    output: sums.output + usage.output_tokens,
  };
}

import { CACHE_TTL_MS } from "@longhaul/core/internal/measure";
import { inputTokens } from "@longhaul/core/internal/messages";
import {
  type CacheTtl,
  type CountText,
  costOf,
  type PricedUsage,
  type PriceTable,
  pricesOf,
} from "@longhaul/core/measure";
import type { Entry, Usage } from "@longhaul/core/messages";
import type { ModelRequest } from "@longhaul/core/models";
import {
  BreakdownTracker,
  type CallDollars,
  type CostBreakdown,
  type RewriteKind,
} from "./cost-breakdown.ts";
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
  /** Counts the tokens of a text as the provider would. */
  readonly countText: CountText;
}

const NO_USAGE: PricedUsage = { input_tokens: 0, output_tokens: 0 };
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
  readonly #breakdown: BreakdownTracker;

  constructor(options: CostTrackerOptions) {
    this.#options = options;
    this.#breakdown = new BreakdownTracker(options.countText);
  }

  get breakdown(): CostBreakdown {
    return this.#breakdown.sums;
  }

  /** Records content that a compaction restored, so that the breakdown shows what it costs. */
  recordRestored(entries: readonly Entry[]): void {
    this.#breakdown.addRestored(entries);
  }

  /** Charges a call of the conversation itself. */
  recordCall(
    request: ModelRequest,
    {
      at,
      outputTokens,
      rewrite,
    }: { readonly at: number; readonly outputTokens: number; readonly rewrite: RewriteKind | undefined },
  ): ReplayUsage {
    const parts = this.#options.cache.call(request, at);
    const usage = usageOf(parts, outputTokens);
    this.#breakdown.addCall({ pieces: parts.pieces, dollars: this.#dollarsOf(usage), rewrite });
    if (parts.read < this.cachedAt(at)) this.cacheBreaks++;
    this.#last = { cached: parts.read + parts.written, at };
    this.#pay(usage);
    this.turns.push({ tokens: inputTokens(usage), cost: this.cost, isRewritten: rewrite !== undefined });
    return usage;
  }

  /** Records a call that the provider refused as too long. It costs nothing. */
  recordRefusedCall(tokens: number, rewrite: RewriteKind | undefined): void {
    this.refusedCalls++;
    this.turns.push({ tokens, cost: this.cost, isRewritten: rewrite !== undefined });
  }

  /** Returns the tokens of the last call that are still in the provider's cache at this time. */
  cachedAt(time: number): number {
    return time - this.#last.at < CACHE_TTL_MS[this.#options.ttl] ? this.#last.cached : 0;
  }

  /** Charges a summary call. */
  recordSummaryCall(usage: PricedUsage): void {
    this.summaryCalls++;
    this.summaryCost += this.#pay(usage);
    this.#breakdown.addSummaryCall(this.#dollarsOf(usage));
  }

  #pay(usage: PricedUsage): number {
    const { read, written, plain, output } = this.#dollarsOf(usage);
    const dollars = read + written + plain + output;
    this.tokens = addUsage(this.tokens, usage);
    this.cost += dollars;
    return dollars;
  }

  /** Returns the dollars of a call by price. The size of the whole prompt decides the prices. */
  #dollarsOf(usage: PricedUsage): CallDollars {
    const { model, prices } = this.#options;
    const tier = pricesOf(model, inputTokens(usage), prices);
    const only = (part: Partial<PricedUsage>): number =>
      (tier && costOf({ ...NO_USAGE, ...part }, model, { [model]: tier })) ?? 0;
    const { cache_creation_input_tokens = 0, cache_creation = null } = usage;
    return {
      read: only({ cache_read_input_tokens: usage.cache_read_input_tokens ?? 0 }),
      written: only({ cache_creation_input_tokens, cache_creation }),
      plain: only({ input_tokens: usage.input_tokens }),
      output: only({ output_tokens: usage.output_tokens }),
    };
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

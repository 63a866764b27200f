import type { Prices, PriceTable } from "../window/prices.ts";

/** How long what is written to the cache stays, which sets what writing it costs. */
export type CacheTtl = "5m" | "1h";

/** A conversation whose tokens have prices. */
export interface Priced {
  readonly model: string;
  /** Goes before the table of published prices. */
  readonly prices?: PriceTable | undefined;
  readonly cacheTtl?: CacheTtl | undefined;
}

/** How long providers keep a prefix that nobody reads: by default, and where the longer time was paid for. */
export const CACHE_TTL_MS: Readonly<Record<CacheTtl, number>> = { "5m": 300_000, "1h": 3_600_000 };

export const PER_MILLION = 1_000_000;

export const writePrice = (prices: Prices, ttl: CacheTtl | undefined): number =>
  ttl === "1h" ? prices.cacheWrite1h : prices.cacheWrite5m;

/** A prompt of so many tokens, of which the first are in the cache and the rest is written to it. Dollars. */
export function promptCost(
  { tokens, cachedTokens }: { readonly tokens: number; readonly cachedTokens: number },
  prices: Prices,
  ttl: CacheTtl | undefined,
): number {
  const read = Math.min(Math.max(0, cachedTokens), tokens);
  return (read * prices.cacheRead + (tokens - read) * writePrice(prices, ttl)) / PER_MILLION;
}

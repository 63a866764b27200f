import type { ClaudeFeatures } from "@longhaul/core/measure";
import type { ProviderName } from "./exchange.ts";

/** Prices in dollars per million tokens. */
export interface TokenPrices {
  readonly input: number;
  /** Price of tokens that are read from the cache. */
  readonly cached: number;
  readonly output: number;
  /** Price of tokens that a call writes into the cache. Default: the input price. */
  readonly written?: number;
}

/**
 * A model that a test adds, or a known model with other sizes. The defaults are those of the known model with
 * this name.
 */
export interface ModelOptions {
  readonly id: string;
  readonly windowTokens: number;
  readonly maxOutputTokens?: number;
  /**
   * Provider that serves the model. By default, only Anthropic serves names that begin with `claude`, and both
   * providers serve all other names.
   */
  readonly provider?: ProviderName;
  /** Only at Anthropic: ties thinking to the history before it. */
  readonly bindsThinking?: boolean;
  /** Only at Anthropic. */
  readonly features?: Partial<ClaudeFeatures>;
  /** Only at OpenAI: efforts that the model accepts. A model with efforts reasons. */
  readonly efforts?: readonly string[];
  /** Only at OpenAI: prices for the cost in the log. */
  readonly prices?: TokenPrices;
}

/** True if the provider serves this added model. */
export function serves(provider: ProviderName, { id, provider: own }: ModelOptions): boolean {
  if (own !== undefined) return own === provider;
  return provider === "anthropic" || !id.startsWith("claude");
}

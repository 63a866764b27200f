import { estimateClaude } from "./claude.ts";
import { estimateO200k } from "./o200k.ts";

/** The vocabulary to estimate for: OpenAI's current one, or the one Anthropic last published. */
export type TokenProfile = "o200k" | "claude";

/**
 * Estimates the tokens of a text without a vocabulary, at a few nanoseconds per character. The estimate is
 * within 10% of the exact count for prose, code, data, logs, base64 and the larger scripts. It is never below
 * 1, except for the empty text.
 */
export function estimateTokens(text: string, profile: TokenProfile = "o200k"): number {
  return profile === "claude" ? estimateClaude(text) : estimateO200k(text);
}

import { type Model, unpackSet, unpackWeights } from "./model.ts";
import { sampleCost } from "./sample.ts";
import { CLAUDE_CJK, CLAUDE_WEIGHTS, CLAUDE_WORDS } from "./tables-claude.ts";
import { O200K_CJK, O200K_WEIGHTS, O200K_WORDS } from "./tables-o200k.ts";

/** The vocabulary to estimate for: OpenAI's current one, or the one Anthropic last published. */
export type TokenProfile = "o200k" | "claude";

/** Unpacked when first asked for, since most programs ask for one profile only; never changed after that. */
const unpacked: Partial<Record<TokenProfile, Model>> = {};

function modelFor(profile: TokenProfile): Model {
  unpacked[profile] ??= PACKED[profile]();
  return unpacked[profile];
}

const PACKED: Readonly<Record<TokenProfile, () => Model>> = {
  o200k: () => unpack(O200K_WEIGHTS, O200K_WORDS, O200K_CJK),
  claude: () => unpack(CLAUDE_WEIGHTS, CLAUDE_WORDS, CLAUDE_CJK),
};

const unpack = (weights: string, words: string, cjk: string): Model => ({
  weights: unpackWeights(weights),
  words: unpackSet(words),
  cjk: unpackSet(cjk),
});

/**
 * How many tokens a text is likely to be, at a few nanoseconds per character and without a vocabulary:
 * within 10% of the exact count for prose, code, data, logs, base64 and the larger scripts. Never below 1,
 * except for the empty text.
 */
export function estimateTokens(text: string, profile: TokenProfile = "o200k"): number {
  if (text.length === 0) return 0;
  return Math.max(1, Math.round(sampleCost(text, modelFor(profile))));
}

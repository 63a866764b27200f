// Token counters: `{ name, version, ours, isExact, vocabulary, isRival, load }`. `load` returns `(text) =>
// tokens`.
import { estimateTokens } from "@longhaul/core";
import { versionOf } from "./version.mjs";

const QUARTER = 4;

/**
 * Counts with gemini-cli's heuristic, from its description. An ASCII character counts 0.25 tokens, and any
 * other character 1.5 tokens. For very long texts, the count is a quarter of the length.
 */
function countLikeGemini(text) {
  if (text.length > 100_000) return text.length / QUARTER;
  let tokens = 0;
  for (let index = 0; index < text.length; index++)
    tokens += text.charCodeAt(index) < 128 ? 1 / QUARTER : 1.5;
  return tokens;
}

const charsByFour = { name: "chars/4", load: () => (text) => text.length / QUARTER };

/** Published counters that ours must outperform. */
const tokenx = {
  name: "tokenx",
  packageName: "tokenx",
  isRival: true,
  load: async () => (await import("tokenx")).estimateTokenCount,
};

const aiTokenizer = (encoding) => ({
  name: "ai-tokenizer",
  packageName: "ai-tokenizer",
  isRival: true,
  isExact: true,
  load: async () => {
    const { default: Tokenizer } = await import("ai-tokenizer");
    const tokenizer = new Tokenizer(await import(`ai-tokenizer/encoding/${encoding}`));
    return (text) => tokenizer.count(text);
  },
});

const bpeLite = (provider) => ({
  name: "bpe-lite",
  packageName: "bpe-lite",
  isRival: true,
  load: async () => {
    const { countTokens } = await import("bpe-lite");
    return (text) => countTokens(text, provider);
  },
});

const gptTokenizer = {
  name: "gpt-tokenizer",
  packageName: "gpt-tokenizer",
  isRival: true,
  load: async () => (await import("gpt-tokenizer/encoding/o200k_base")).countTokens,
};

const longhaul = (profile) => ({
  name: `longhaul ${profile}`,
  ours: true,
  load: () => (text) => estimateTokens(text, profile),
});

export const COUNTERS = {
  o200k: [
    longhaul("o200k"),
    charsByFour,
    { name: "gemini-cli's rule", load: () => countLikeGemini },
    tokenx,
    aiTokenizer("o200k_base"),
    gptTokenizer,
    bpeLite("openai-o200k"),
  ],
  claude: [longhaul("claude"), charsByFour, tokenx, aiTokenizer("claude"), bpeLite("anthropic")],
};

/** Returns the loaded counters. A counter that failed to load has no `count`. */
export async function loadCounters(vocabulary) {
  const loaded = [];
  for (const counter of COUNTERS[vocabulary]) {
    try {
      const version = counter.packageName ? ` ${versionOf(counter.packageName)}` : "";
      loaded.push({ ...counter, name: counter.name + version, count: await counter.load() });
    } catch {
      loaded.push({ ...counter, name: `${counter.name}: not installed` });
    }
  }
  return loaded;
}

import { TokenLimiterProcessor } from "@mastra/core/processors";
import { modelMessageOf } from "./ai-sdk.mjs";
import { versionOf } from "./version.mjs";

const limit = {
  name: "Mastra TokenLimiter",
  version: versionOf("@mastra/core"),
  open({ turns, keepTokens }) {
    const prompt = turns.map(modelMessageOf);
    const limitTo = async (tokens) =>
      (await new TokenLimiterProcessor(tokens).processLLMRequest({ prompt })) ?? null;
    return {
      check: { run: () => limitTo(Number.MAX_SAFE_INTEGER) },
      keep: { run: () => limitTo(keepTokens) },
    };
  },
};

export const peers = [limit];

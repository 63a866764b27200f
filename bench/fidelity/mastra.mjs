import { RESULT_SHARE } from "@longhaul/core/internal/compaction";
import { TokenLimiterProcessor } from "@mastra/core/processors";
import { versionOf } from "../peers/version.mjs";
import { peerPolicy } from "./peer-policy.ts";
import { toPrompt } from "./prompt-messages.mjs";

export const policies = [
  () =>
    peerPolicy({
      name: "Mastra TokenLimiter",
      version: versionOf("@mastra/core"),
      description: `drops old messages down to ${RESULT_SHARE * 100}% of the threshold`,
      shorten: async ({ messages, thresholds }) => {
        const { messages: given, piecesOf } = toPrompt(messages);
        // A limit has no default. At the threshold itself, the limiter would run again on every turn.
        const limiter = new TokenLimiterProcessor(Math.floor(thresholds.autoCompact * RESULT_SHARE));
        const limited = await limiter.processLLMRequest({ prompt: given });
        return limited === undefined ? undefined : piecesOf(limited.prompt);
      },
    }),
];

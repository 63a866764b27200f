import { pruneMessages } from "ai";
import { versionOf } from "../peers/version.mjs";
import { peerPolicy } from "./peer-policy.ts";
import { toPrompt } from "./prompt-messages.mjs";

export const policies = [
  () =>
    peerPolicy({
      name: "AI SDK pruneMessages",
      version: versionOf("ai"),
      description: "removes tool calls and results before the last 2 messages, as in the documentation",
      shorten: async ({ messages }) => {
        const { messages: given, piecesOf } = toPrompt(messages);
        return piecesOf(
          pruneMessages({
            messages: given,
            reasoning: "before-last-message",
            toolCalls: "before-last-2-messages",
            emptyMessages: "remove",
          }),
        );
      },
    }),
];

import { pruneMessages } from "ai";
import { versionOf } from "./version.mjs";

/** Returns the messages of a turn in the form of the AI SDK. Mastra passes the same form to a model. */
export function modelMessageOf(turn) {
  if (turn.kind === "user") return { role: "user", content: [{ type: "text", text: turn.text }] };
  if (turn.kind === "result") {
    const output = { type: "text", value: turn.text };
    return {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: turn.id, toolName: turn.name, output }],
    };
  }
  return {
    role: "assistant",
    content: [
      ...(turn.thinking ? [{ type: "reasoning", text: turn.thinking }] : []),
      ...(turn.text ? [{ type: "text", text: turn.text }] : []),
      ...turn.calls.map(({ id, name, input }) => ({
        type: "tool-call",
        toolCallId: id,
        toolName: name,
        input,
      })),
    ],
  };
}

const prune = {
  name: "AI SDK pruneMessages",
  version: versionOf("ai"),
  open({ turns }) {
    const messages = turns.map(modelMessageOf);
    const run = () =>
      pruneMessages({ messages, reasoning: "before-last-message", toolCalls: "before-last-6-messages" });
    return { clear: { run } };
  },
};

export const peers = [prune];

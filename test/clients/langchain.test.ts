import { ChatAnthropic } from "@langchain/anthropic";
import { type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { coder, type Simulator, startSimulator } from "@longhaul/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LIST_FILES, READ_FILE, REQUEST, runTool } from "./workspace.ts";

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator({ behaviors: [coder({ turns: 6, inventsPaths: true })] });
});
afterEach(() => simulator.close());

describe("LangChain with @langchain/anthropic", () => {
  it.each([false, true])(
    "LangChain runs a conversation with tools against the simulator (streaming: %s)",
    async (streaming) => {
      const model = new ChatAnthropic({
        model: "claude-sonnet-4-5-20250929",
        anthropicApiUrl: simulator.url,
        apiKey: "any",
        maxTokens: 4_000,
        streaming,
      }).bindTools([READ_FILE, LIST_FILES] as never);
      const messages: BaseMessage[] = [new HumanMessage(REQUEST)];
      for (;;) {
        const reply = await model.invoke(messages);
        messages.push(reply);
        const calls = reply.tool_calls ?? [];
        if (calls.length === 0) break;
        for (const call of calls) {
          messages.push(
            new ToolMessage({ content: runTool(call.name, call.args), tool_call_id: call.id ?? "" }),
          );
        }
      }
      expect(simulator.requests.invalid).toEqual([]);
      expect(simulator.requests.messages.length).toBeGreaterThan(3);
      expect(simulator.requests.messages.at(-1)?.stopReason).toBe("end_turn");
    },
  );
});

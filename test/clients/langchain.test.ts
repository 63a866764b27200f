import { ChatAnthropic } from "@langchain/anthropic";
import {
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { coder, type Simulator, startSimulator } from "@longhaul/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LIST_FILES, READ_FILE, REQUEST, runTool } from "./workspace.ts";

const TURNS = 10;

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator({ behaviors: [coder({ turns: TURNS, inventsPaths: true })] });
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

/**
 * Reads a stream to its end. The option `streaming` is not used here, because `invoke` then counts tokens with
 * an encoding that LangChain downloads.
 */
async function readStream(chunks: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  let whole: AIMessageChunk | undefined;
  for await (const chunk of chunks) whole = whole === undefined ? chunk : whole.concat(chunk);
  if (whole === undefined) throw new Error("The stream is empty.");
  return whole;
}

describe("LangChain with @langchain/openai", () => {
  it.each([false, true])(
    "LangChain runs a conversation with tools through chat completions (streaming: %s)",
    async (streaming) => {
      const model = new ChatOpenAI({
        model: "gpt-4.1",
        apiKey: "any",
        useResponsesApi: false,
        configuration: { baseURL: simulator.openAiUrl },
      }).bindTools(
        [READ_FILE, LIST_FILES].map(({ name, description, input_schema }) => ({
          type: "function",
          function: { name, description, parameters: input_schema },
        })) as never,
      );
      const messages: BaseMessage[] = [
        new SystemMessage("You answer questions about a project."),
        new HumanMessage(REQUEST),
      ];
      for (;;) {
        const reply = streaming
          ? await readStream(await model.stream(messages))
          : await model.invoke(messages);
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
      expect(simulator.requests.messages.length).toBeGreaterThan(TURNS);
      expect(simulator.requests.messages.at(-1)).toMatchObject({ stopReason: "stop", isStream: streaming });
    },
  );

  it.each([false, true])(
    "LangChain runs a conversation with tools through Responses (streaming: %s)",
    async (streaming) => {
      const model = new ChatOpenAI({
        model: "gpt-5.4",
        apiKey: "any",
        useResponsesApi: true,
        configuration: { baseURL: simulator.openAiUrl },
      }).bindTools(
        [READ_FILE, LIST_FILES].map(({ name, description, input_schema }) => ({
          type: "function",
          function: { name, description, parameters: input_schema },
        })) as never,
      );
      const messages: BaseMessage[] = [
        new SystemMessage("You answer questions about a project."),
        new HumanMessage(REQUEST),
      ];
      for (;;) {
        const reply = streaming
          ? await readStream(await model.stream(messages))
          : await model.invoke(messages);
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
      expect(simulator.requests.messages.length).toBeGreaterThan(TURNS);
      expect(simulator.requests.messages.at(-1)).toMatchObject({
        stopReason: "completed",
        isStream: streaming,
      });
    },
  );
});

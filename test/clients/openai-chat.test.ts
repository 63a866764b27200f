import { coder, type Simulator, startSimulator } from "@longhaul/simulator";
import OpenAI from "openai";
import type { ChatCompletionMessageParam, ChatCompletionTool } from "openai/resources/chat/completions";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LIST_FILES, READ_FILE, REQUEST, runTool } from "./workspace.ts";

const TURNS = 10;

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator({ behaviors: [coder({ turns: TURNS, inventsPaths: true })] });
});
afterEach(() => simulator.close());

const client = () => new OpenAI({ baseURL: simulator.openAiUrl, apiKey: "any", maxRetries: 0 });

const tools: ChatCompletionTool[] = [READ_FILE, LIST_FILES].map(({ name, description, input_schema }) => ({
  type: "function",
  function: { name, description, parameters: input_schema },
}));

/** Answers every call of the model until the model calls no more tools. Returns the number of answers. */
async function converse(
  answer: (messages: ChatCompletionMessageParam[]) => Promise<OpenAI.Chat.ChatCompletion>,
): Promise<number> {
  const messages: ChatCompletionMessageParam[] = [
    { role: "developer", content: "You answer questions about a project." },
    { role: "user", content: REQUEST },
  ];
  for (let answers = 1; ; answers++) {
    const { choices } = await answer(messages);
    const message = choices[0]?.message;
    if (message === undefined) throw new Error("The answer has no choice.");
    messages.push(message);
    const calls = message.tool_calls ?? [];
    if (calls.length === 0) return answers;
    for (const call of calls) {
      if (call.type !== "function") throw new Error("Only functions were offered.");
      const content = runTool(call.function.name, JSON.parse(call.function.arguments));
      messages.push({ role: "tool", tool_call_id: call.id, content });
    }
  }
}

describe("the official openai SDK with chat completions", () => {
  it("the openai SDK runs a conversation with tools against the simulator", async () => {
    const answers = await converse((messages) =>
      client().chat.completions.create({ model: "gpt-5.4", messages, tools }),
    );
    expect(answers).toBeGreaterThan(TURNS);
    expect(simulator.requests.invalid).toEqual([]);
    expect(simulator.requests.messages.at(-1)?.stopReason).toBe("stop");
  });

  it("the openai SDK streams a conversation with tools against the simulator", async () => {
    const answers = await converse((messages) =>
      client()
        .chat.completions.stream({
          model: "gpt-4.1",
          messages,
          tools,
          stream_options: { include_usage: true },
        })
        .finalChatCompletion(),
    );
    expect(answers).toBeGreaterThan(TURNS);
    expect(simulator.requests.invalid).toEqual([]);
    expect(simulator.requests.messages.every(({ isStream }) => isStream)).toBe(true);
  });
});

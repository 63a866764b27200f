import Anthropic from "@anthropic-ai/sdk";
import { coder, type Simulator, startSimulator } from "@longhaul/simulator";
import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import type { ChatCompletionMessageParam, ChatCompletionTool } from "openai/resources/chat/completions";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
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
    // The helpers of the SDK add the field `parsed`, and the answer goes back as it is.
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

  it.each([false, true])(
    "the tool runner of the openai SDK runs a conversation to its end (stream: %s)",
    async (stream) => {
      const runnable = [READ_FILE, LIST_FILES].map(({ name, description, input_schema }) => ({
        type: "function" as const,
        function: {
          name,
          description,
          parameters: input_schema as unknown as Record<string, unknown>,
          parse: (text: string): unknown => JSON.parse(text),
          function: async (input: unknown) => runTool(name, input),
        },
      }));
      const messages: ChatCompletionMessageParam[] = [{ role: "user", content: REQUEST }];
      const request = { model: "gpt-4o", messages, tools: runnable };
      const options = { maxChatCompletions: 2 * TURNS };
      const { chat } = client();
      const runner = stream
        ? chat.completions.runTools({ ...request, stream: true }, options)
        : chat.completions.runTools(request, options);
      expect(await runner.finalContent()).not.toBe("");
      expect(simulator.requests.messages.length).toBeGreaterThan(TURNS);
      expect(simulator.requests.invalid).toEqual([]);
    },
  );

  it("the openai SDK parses an answer that fits the requested schema, plain and as a stream", async () => {
    const shape = z.object({ title: z.string(), lines: z.array(z.number()), isUrgent: z.boolean() });
    const request = {
      model: "gpt-5.4",
      messages: [{ role: "user" as const, content: "Describe the bug." }],
      response_format: zodResponseFormat(shape, "bug"),
    };
    const { chat } = client();
    const plain = await chat.completions.parse(request);
    const streamed = await chat.completions.stream(request).finalChatCompletion();
    for (const { choices } of [plain, streamed]) {
      expect(shape.safeParse(choices[0]?.message.parsed).success).toBe(true);
    }
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("the openai SDK reports the errors of the API as its own error classes", async () => {
    const ask = (model: string) =>
      client().chat.completions.create({ model, messages: [{ role: "user", content: "Hello." }] });
    await expect(ask("gpt-none")).rejects.toMatchObject({ status: 404, code: "model_not_found" });
    await expect(ask("o1-mini")).rejects.toThrow(/deprecated/);
    simulator.fail({ kind: "status", status: 429, spendLimit: true });
    await expect(ask("gpt-5.4")).rejects.toMatchObject({ status: 429, code: "insufficient_quota" });
    simulator.fail(429);
    await expect(ask("gpt-5.4")).rejects.toBeInstanceOf(OpenAI.RateLimitError);
  });

  it("a stream of the openai SDK ends with an error after a fault in the stream", async () => {
    const read = async (): Promise<void> => {
      const stream = await client().chat.completions.create({
        model: "gpt-5.4",
        messages: [{ role: "user", content: REQUEST }],
        tools,
        stream: true,
      });
      for await (const _ of stream);
    };
    simulator.fail({ kind: "overload-in-stream", afterEvents: 1 });
    await expect(read()).rejects.toBeInstanceOf(OpenAI.APIError);
    simulator.fail({ kind: "malformed-stream", afterEvents: 1 });
    await expect(read()).rejects.toThrow(SyntaxError);
    simulator.fail({ kind: "cut", afterBytes: 300 });
    await expect(read()).rejects.toThrow();
    await read();
  });

  it("the openai SDK lists the models, and both SDKs can share the address", async () => {
    const names: string[] = [];
    for await (const { id } of client().models.list()) names.push(id);
    expect(names).toContain("gpt-5.4");
    expect(await client().models.retrieve("gpt-4o")).toMatchObject({ object: "model", id: "gpt-4o" });
    const anthropic = new Anthropic({ baseURL: simulator.url, apiKey: "any" });
    const claude = await anthropic.models.list();
    expect(claude.data[0]).toMatchObject({ type: "model", id: expect.stringContaining("claude") });
  });
});

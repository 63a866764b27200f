import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { coder, type Simulator, startSimulator } from "@longhaul/simulator";
import {
  generateObject,
  generateText,
  jsonSchema,
  type LanguageModel,
  stepCountIs,
  streamText,
  tool,
} from "ai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { LIST_FILES, READ_FILE, REQUEST, runTool } from "./workspace.ts";

const TURNS = 10;

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator({ behaviors: [coder({ turns: TURNS, inventsPaths: true })] });
});
afterEach(() => simulator.close());

const model = () =>
  createAnthropic({ baseURL: `${simulator.url}/v1`, apiKey: "any" })("claude-sonnet-4-5-20250929");

const tools = () =>
  Object.fromEntries(
    [READ_FILE, LIST_FILES].map(({ name, description, input_schema }) => [
      name,
      tool({
        description,
        inputSchema: jsonSchema(input_schema as never),
        execute: async (input: unknown) => runTool(name, input),
      }),
    ]),
  );

const OPENAI_MODELS: Readonly<Record<string, () => LanguageModel>> = {
  "@ai-sdk/openai with chat completions": () =>
    createOpenAI({ baseURL: simulator.openAiUrl, apiKey: "any" }).chat("gpt-5.4"),
  "@ai-sdk/openai with Responses": () =>
    createOpenAI({ baseURL: simulator.openAiUrl, apiKey: "any" })("gpt-5.4"),
  "@ai-sdk/openai-compatible": () =>
    createOpenAICompatible({
      name: "simulated",
      baseURL: simulator.openAiUrl,
      apiKey: "any",
      supportsStructuredOutputs: true,
    })("gpt-4.1"),
};

describe.each(Object.entries(OPENAI_MODELS))("the AI SDK with %s", (name, openAiModel) => {
  it(`generateText with ${name} runs a conversation with tools against the simulator`, async () => {
    const { steps, finishReason, totalUsage } = await generateText({
      model: openAiModel(),
      tools: tools(),
      system: "You answer questions about a project.",
      prompt: REQUEST,
      stopWhen: stepCountIs(20),
    });
    expect(steps.length).toBeGreaterThan(TURNS);
    expect(finishReason).toBe("stop");
    expect(totalUsage.inputTokens).toBe(simulator.requests.totals.inputTokens);
    expect(simulator.requests.invalid).toEqual([]);
  });

  it(`streamText with ${name} runs a conversation with tools against the simulator`, async () => {
    const result = streamText({
      model: openAiModel(),
      tools: tools(),
      prompt: REQUEST,
      stopWhen: stepCountIs(20),
    });
    let text = "";
    for await (const piece of result.textStream) text += piece;
    expect(text).not.toBe("");
    expect(await result.finishReason).toBe("stop");
    expect(simulator.requests.invalid).toEqual([]);
    expect(simulator.requests.messages.length).toBeGreaterThan(TURNS);
  });

  it(`generateObject with ${name} gets an object that fits the schema`, async () => {
    const { object } = await generateObject({
      model: openAiModel(),
      schema: z.object({ title: z.string(), lines: z.array(z.number()) }),
      prompt: "Describe the bug.",
    });
    expect(object).toEqual({ title: expect.any(String), lines: expect.any(Array) });
    expect(simulator.requests.invalid).toEqual([]);
  });
});

describe("the AI SDK with @ai-sdk/openai and nothing stored", () => {
  it("streamText sends reasoning back with its encrypted content", async () => {
    const result = streamText({
      model: createOpenAI({ baseURL: simulator.openAiUrl, apiKey: "any" })("gpt-5.4"),
      tools: tools(),
      prompt: REQUEST,
      stopWhen: stepCountIs(20),
      providerOptions: {
        openai: { store: false, include: ["reasoning.encrypted_content"], reasoningSummary: "auto" },
      },
    });
    await result.consumeStream();
    expect((await result.steps).some(({ reasoningText }) => (reasoningText ?? "") !== "")).toBe(true);
    const { body } = simulator.requests.messages.at(-1) ?? {};
    const sent = Array.isArray(body?.input) ? body.input.filter(({ type }) => type === "reasoning") : [];
    expect(sent.length).toBeGreaterThan(2);
    expect(simulator.requests.invalid).toEqual([]);
  });
});

describe("the AI SDK with @ai-sdk/anthropic", () => {
  it("generateText runs a conversation with tools against the simulator, step by step", async () => {
    const { steps, finishReason } = await generateText({
      model: model(),
      tools: tools(),
      prompt: REQUEST,
      stopWhen: stepCountIs(20),
    });
    expect(steps.length).toBeGreaterThan(3);
    expect(finishReason).toBe("stop");
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("streamText runs a conversation with tools against the simulator", async () => {
    const result = streamText({
      model: model(),
      tools: tools(),
      prompt: REQUEST,
      stopWhen: stepCountIs(20),
    });
    let text = "";
    for await (const piece of result.textStream) text += piece;
    expect(text).not.toBe("");
    expect(await result.finishReason).toBe("stop");
    expect(simulator.requests.invalid).toEqual([]);
    expect(simulator.requests.messages.length).toBeGreaterThan(3);
  });
});

import { createAnthropic } from "@ai-sdk/anthropic";
import { coder, type Simulator, startSimulator } from "@longhaul/simulator";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LIST_FILES, READ_FILE, REQUEST, runTool } from "./workspace.ts";

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator({ behaviors: [coder({ turns: 6, inventsPaths: true })] });
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

import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { coder, type Simulator, startSimulator } from "@longhaul/simulator";
import Anthropic0 from "anthropic-sdk-0";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LIST_FILES, READ_FILE, REQUEST, runTool } from "./workspace.ts";

const MODEL = "claude-sonnet-5-5";
const TURNS = 6;
let simulator: Simulator;

beforeEach(async () => {
  simulator = await startSimulator({ behaviors: [coder({ turns: TURNS, inventsPaths: true })] });
});
afterEach(() => simulator.close());

const options = (): { baseURL: string; apiKey: string } => ({ baseURL: simulator.url, apiKey: "any" });
const tools = [READ_FILE, LIST_FILES] as unknown as Anthropic.Tool[];

/** Checks every conversation: it has tools, each request is valid, and it ends. */
function expectSoundConversation(): void {
  const { messages, invalid } = simulator.requests;
  expect(invalid).toEqual([]);
  expect(messages.length).toBeGreaterThan(3);
  expect(messages.some(({ stopReason }) => stopReason === "tool_use")).toBe(true);
  expect(messages.at(-1)?.stopReason).toBe("end_turn");
}

const results = (content: readonly { type: string }[]): Anthropic.ToolResultBlockParam[] =>
  (content as readonly Anthropic.ContentBlock[]).flatMap((block) =>
    block.type === "tool_use"
      ? [{ type: "tool_result", tool_use_id: block.id, content: runTool(block.name, block.input) }]
      : [],
  );

describe.each([
  ["1.x, API of 2026-10-21", () => new Anthropic(options()), "2026-10-21"],
  ["0.x, API of 2023-06-01", () => new Anthropic0(options()) as unknown as Anthropic, "2023-06-01"],
] as const)("the package @anthropic-ai/sdk in version %s", (_, connect, version) => {
  it("the Anthropic SDK runs a conversation with tools without streaming", async () => {
    const client = connect();
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: REQUEST }];
    for (;;) {
      const reply = await client.messages.create({ model: MODEL, max_tokens: 4_000, tools, messages });
      messages.push({ role: "assistant", content: reply.content });
      if (reply.stop_reason !== "tool_use") break;
      messages.push({ role: "user", content: results(reply.content) });
    }
    expectSoundConversation();
    expect(simulator.requests.last?.version).toBe(version);
  });

  it("the Anthropic SDK streams a conversation with tools, and its collected messages can be sent back", async () => {
    const client = connect();
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: REQUEST }];
    const streamed: string[] = [];
    for (;;) {
      const stream = client.messages.stream({ model: MODEL, max_tokens: 4_000, tools, messages });
      stream.on("text", (text) => streamed.push(text));
      const reply = await stream.finalMessage();
      messages.push({ role: "assistant", content: reply.content });
      if (reply.stop_reason !== "tool_use") break;
      messages.push({ role: "user", content: results(reply.content) });
    }
    expectSoundConversation();
    expect(streamed.join("")).not.toBe("");
    expect(simulator.requests.messages.every(({ isStream }) => isStream)).toBe(true);
  });

  it("the Anthropic SDK runs a conversation with its tool runner", async () => {
    const client = connect();
    const runner = client.beta.messages.toolRunner({
      model: MODEL,
      max_tokens: 4_000,
      messages: [{ role: "user", content: REQUEST }],
      tools: [READ_FILE, LIST_FILES].map((tool) =>
        betaTool({
          name: tool.name,
          description: tool.description,
          inputSchema: tool.input_schema as never,
          run: (input: unknown) => runTool(tool.name, input),
        }),
      ),
    });
    const last = await runner;
    expect(last.stop_reason).toBe("end_turn");
    expectSoundConversation();
  });

  it("the Anthropic SDK counts tokens and lists models of the simulator", async () => {
    const client = connect();
    const request = { model: MODEL, messages: [{ role: "user" as const, content: REQUEST }] };
    const { input_tokens } = await client.messages.countTokens(request);
    const { usage } = await client.messages.create({ ...request, max_tokens: 100 });
    expect(input_tokens).toBe(usage.input_tokens);
    const names: string[] = [];
    for await (const model of client.models.list()) names.push(model.id);
    expect(names).toContain(MODEL);
  });

  it("the Anthropic SDK throws its own error classes for errors of the simulator", async () => {
    const client = connect();
    const refused = client.messages.create({ model: "claude-none-9", max_tokens: 10, messages: [] });
    await expect(refused).rejects.toMatchObject({ status: 404 });
    const empty = client.messages.create({ model: MODEL, max_tokens: 10, messages: [] });
    await expect(empty).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("messages: at least one message is required"),
    });
  });
});

import { coder, type Simulator, startSimulator } from "@longhaul/simulator";
import {
  Agent,
  handoff,
  MemorySession,
  OpenAIConversationsSession,
  OpenAIProvider,
  OpenAIResponsesCompactionSession,
  Runner,
  type Tool,
  tool,
} from "@openai/agents";
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LIST_FILES, READ_FILE, REQUEST, runTool } from "./workspace.ts";

const MODEL = "gpt-5.4";
const TURNS = 10;
const MAX_TURNS = 2 * TURNS;

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator({ behaviors: [coder({ turns: TURNS, inventsPaths: true })] });
});
afterEach(() => simulator.close());

const client = () => new OpenAI({ baseURL: simulator.openAiUrl, apiKey: "any", maxRetries: 0 });

const runner = (useResponses = true) =>
  new Runner({
    tracingDisabled: true,
    modelProvider: new OpenAIProvider({ openAIClient: client() as never, useResponses }),
  });

const tools: Tool[] = [READ_FILE, LIST_FILES].map(({ name, description, input_schema }) =>
  tool({
    name,
    description,
    parameters: { ...input_schema, additionalProperties: false } as never,
    strict: false,
    execute: (input: unknown) => runTool(name, input),
  }),
);

const agent = () => new Agent({ name: "Reader", instructions: "You read the project.", model: MODEL, tools });

describe("@openai/agents with Responses", () => {
  it("the Agents SDK runs an agent with tools against the simulator", async () => {
    const { finalOutput } = await runner().run(agent(), REQUEST, { maxTurns: MAX_TURNS });
    expect(finalOutput).not.toBe("");
    expect(simulator.requests.invalid).toEqual([]);
    expect(simulator.requests.messages.length).toBeGreaterThan(TURNS);
  });

  it("the Agents SDK streams a run with tools against the simulator", async () => {
    const result = await runner().run(agent(), REQUEST, { stream: true, maxTurns: MAX_TURNS });
    let text = "";
    for await (const piece of result.toTextStream()) text += piece;
    await result.completed;
    expect(text).not.toBe("");
    expect(simulator.requests.invalid).toEqual([]);
    expect(simulator.requests.messages.every(({ isStream }) => isStream)).toBe(true);
    expect(simulator.requests.messages.length).toBeGreaterThan(TURNS);
  });

  it("the Agents SDK hands a conversation off to another agent", async () => {
    const triage = new Agent({
      name: "Triage",
      instructions: "You choose the right agent.",
      model: MODEL,
      handoffs: [handoff(agent())],
    });
    simulator.reply({ blocks: [{ type: "tool_use", name: "transfer_to_Reader", input: {} }] });
    const result = await runner().run(triage, REQUEST, { maxTurns: MAX_TURNS });
    expect(result.lastAgent?.name).toBe("Reader");
    expect(simulator.requests.invalid).toEqual([]);
    expect(simulator.requests.messages.length).toBeGreaterThan(TURNS);
  });

  it("the Agents SDK compacts a session with the compact endpoint and continues", async () => {
    const session = new OpenAIResponsesCompactionSession({
      client: client() as never,
      model: MODEL,
      underlyingSession: new MemorySession(),
    });
    await runner().run(agent(), REQUEST, { session, maxTurns: MAX_TURNS });
    const compacted = simulator.requests.all.filter(({ path }) => path === "/v1/responses/compact");
    expect(compacted.length).toBeGreaterThan(0);
    await runner().run(agent(), "Now look at the test.", { session, maxTurns: MAX_TURNS });
    expect(simulator.requests.invalid).toEqual([]);
    expect(simulator.requests.all.every(({ status }) => status === 200)).toBe(true);
  });

  it.each([
    ["in memory", () => new MemorySession()],
    ["on the server", () => new OpenAIConversationsSession({ client: client() as never })],
  ] as const)("the Agents SDK continues a session %s", async (_, newSession) => {
    const session = newSession();
    await runner().run(agent(), REQUEST, { session, maxTurns: MAX_TURNS });
    await runner().run(agent(), "Now look at the test.", { session, maxTurns: MAX_TURNS });
    expect(simulator.requests.invalid).toEqual([]);
    expect((await session.getItems()).length).toBeGreaterThan(TURNS);
    expect(simulator.requests.messages.length).toBeGreaterThan(2 * TURNS);
  });
});

describe("@openai/agents with chat completions", () => {
  it.each([false, true])(
    "the Agents SDK continues a session with chat completions, stream: %s",
    async (stream) => {
      const session = new MemorySession();
      for (const request of [REQUEST, "Now look at the test."]) {
        simulator.reply({
          blocks: [
            { type: "text", text: "Let me look." },
            { type: "tool_use", name: READ_FILE.name, input: { path: "a.ts" } },
          ],
        });
        const options = { session, maxTurns: MAX_TURNS };
        if (stream) await (await runner(false).run(agent(), request, { ...options, stream: true })).completed;
        else await runner(false).run(agent(), request, options);
      }
      expect(simulator.requests.invalid).toEqual([]);
      expect(simulator.requests.all.every(({ endpoint }) => endpoint === "chat_completions")).toBe(true);
      expect(simulator.requests.messages.length).toBeGreaterThan(TURNS);
    },
  );
});

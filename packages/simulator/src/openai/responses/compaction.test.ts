import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SeenRequest } from "../../exchange.ts";
import { type Simulator, type SimulatorOptions, startSimulator } from "../../simulator.ts";
import { call, MODEL, refused, respond } from "./client.case.ts";

let simulator: Simulator;
let seen: SeenRequest[];
const start = async (options: SimulatorOptions = {}): Promise<void> => {
  seen = [];
  simulator = await startSimulator({
    summarize: (messages) => `Summary of ${messages.length} messages.`,
    behaviors: [
      (request) => {
        seen.push(request);
        return { blocks: [{ type: "text", text: "Answer." }] };
      },
    ],
    ...options,
  });
};
beforeEach(() => start());
afterEach(() => simulator.close());

const user = (content: string) => ({ role: "user", content });
const HISTORY = [user("One"), { role: "assistant", content: "Answer." }, user("Two")];
const shownText = (): string => JSON.stringify(seen.at(-1)?.messages);

describe("compaction in the Responses API", () => {
  it("the compact endpoint returns all messages of the user and one compaction item", async () => {
    const { status, body } = await call(simulator, "responses/compact", {
      method: "POST",
      body: { model: MODEL, input: HISTORY },
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^resp_/),
      object: "response.compaction",
      created_at: expect.any(Number),
      output: [
        {
          id: expect.stringMatching(/^msg_/),
          type: "message",
          role: "user",
          status: "completed",
          content: [{ type: "input_text", text: "One" }],
        },
        expect.objectContaining({ role: "user", content: [{ type: "input_text", text: "Two" }] }),
        { id: expect.stringMatching(/^cmp_/), type: "compaction", encrypted_content: expect.any(String) },
      ],
      usage: expect.objectContaining({ total_tokens: expect.any(Number) }),
    });
  });

  it("the model sees the summary instead of its own work when the output comes back", async () => {
    const input = [user("One"), { role: "assistant", content: "My old work." }];
    const { body } = await call(simulator, "responses/compact", {
      method: "POST",
      body: { model: MODEL, input },
    });
    const again = [...input, ...(body.output as object[]), user("Next")];
    await respond(simulator, { input: again });
    expect(shownText()).toContain("Summary of 2 messages.");
    expect(shownText()).not.toContain("My old work.");
    expect(shownText()).toContain("Next");
  });

  it("the compact endpoint compacts a stored response with everything before it", async () => {
    const { id } = await respond(simulator, { input: "One" });
    const { body } = await call(simulator, "responses/compact", {
      method: "POST",
      body: { model: MODEL, previous_response_id: id },
    });
    expect((body.output as { type: string }[]).map(({ type }) => type)).toEqual(["message", "compaction"]);
  });

  it("a trigger as the last item compacts instead of answering", async () => {
    const { output, status } = await respond(simulator, {
      input: [...HISTORY, { type: "compaction_trigger" }],
    });
    expect(status).toBe("completed");
    expect(output.map(({ type }) => type)).toEqual(["compaction"]);
    expect(seen).toEqual([]);
    expect(simulator.requests.last?.purpose).toBe("summary");
  });

  it("above the threshold, the output begins with a compaction, and the model answers from its summary", async () => {
    const context_management = [{ type: "compaction", compact_threshold: 1_000 }];
    const long = [user("Start"), { role: "assistant", content: "sheep ".repeat(1_500) }, user("Next")];
    const { output } = await respond(simulator, { input: long, context_management });
    expect(output.map(({ type }) => type)).toEqual(["compaction", "message"]);
    expect(shownText()).toContain("Summary of 3 messages.");
    expect(shownText()).not.toContain("sheep");
    const short = await respond(simulator, { input: HISTORY, context_management });
    expect(short.output.map(({ type }) => type)).toEqual(["message"]);
  });

  it.each([undefined, " "])(
    "a model that writes the summary %j makes the compaction fail",
    async (summary) => {
      await simulator.close();
      await start({ summarize: () => summary });
      const error = await refused(simulator, "responses/compact", {
        method: "POST",
        body: { model: MODEL, input: HISTORY },
      });
      expect(error).toMatchObject({ status: 500, code: "server_error" });
    },
  );
});

describe("encrypted reasoning", () => {
  const thinking = {
    blocks: [
      { type: "thinking" as const, thinking: "Secret plan." },
      { type: "text" as const, text: "Hi." },
    ],
  };

  it("reasoning that comes back unchanged is shown to the model again", async () => {
    simulator.reply(thinking);
    const { output } = await respond(simulator, { input: "One", store: false });
    await respond(simulator, { input: [user("One"), ...output, user("Two")], store: false });
    expect(shownText()).toContain("Secret plan.");
    expect(simulator.requests.invalid).toEqual([]);
  });

  it.each([
    ["refused", 400],
    ["accepted", 200],
  ] as const)("changed reasoning is %s as the switch says", async (foreignReasoning, status) => {
    await simulator.close();
    await start({ switches: { foreignReasoning } });
    const item = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAAother" };
    const answer = await call(simulator, "responses", {
      method: "POST",
      body: {
        model: MODEL,
        input: [user("One"), item, { role: "assistant", content: "Hi." }, user("Two")],
        store: false,
      },
    });
    expect(answer.status).toBe(status);
  });
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TurnBlock } from "../../exchange.ts";
import { type Simulator, startSimulator } from "../../simulator.ts";
import { call, eventsOf, MODEL, refused, respond } from "./client.case.ts";

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator();
});
afterEach(() => simulator.close());

const thought = (thinking: string): TurnBlock => ({ type: "thinking", thinking });
const use = (name: string, input: Record<string, unknown>): TurnBlock => ({ type: "tool_use", name, input });

const READ = {
  type: "function",
  name: "read_file",
  parameters: { type: "object", properties: {} },
  strict: false,
};
const PATCH = { type: "custom", name: "apply_patch" };

describe("answers of the Responses API", () => {
  it("a response repeats the settings of its request and has the API's defaults for the others", async () => {
    simulator.reply("Hello.");
    const response = await respond(simulator, {
      input: "Hi",
      instructions: "Be brief.",
      tools: [READ],
      metadata: { topic: "a" },
      max_output_tokens: 100,
      reasoning: { effort: "low" },
    });
    expect(response).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      object: "response",
      status: "completed",
      error: null,
      incomplete_details: null,
      instructions: "Be brief.",
      tools: [READ],
      tool_choice: "auto",
      metadata: { topic: "a" },
      max_output_tokens: 100,
      reasoning: { effort: "low", summary: null },
      text: { format: { type: "text" }, verbosity: "medium" },
      truncation: "disabled",
      store: true,
      previous_response_id: null,
      service_tier: "default",
    });
    const { input_tokens, output_tokens, total_tokens } = response.usage;
    expect(input_tokens + output_tokens).toBe(total_tokens);
  });

  it("each block of a turn becomes an output item with an id of its type", async () => {
    simulator.reply({
      blocks: [
        thought("Think."),
        { type: "text", text: "Look." },
        use("read_file", { path: "a" }),
        use("apply_patch", { input: "*** Begin" }),
      ],
    });
    const { output } = await respond(simulator, {
      input: "Hi",
      tools: [READ, PATCH],
      reasoning: { summary: "auto" },
    });
    expect(output).toMatchObject([
      {
        type: "reasoning",
        id: expect.stringMatching(/^rs_/),
        summary: [{ type: "summary_text", text: "Think." }],
        encrypted_content: expect.any(String),
      },
      {
        type: "message",
        id: expect.stringMatching(/^msg_/),
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "Look.", annotations: [] }],
      },
      {
        type: "function_call",
        id: expect.stringMatching(/^fc_/),
        call_id: expect.stringMatching(/^call_/),
        name: "read_file",
        arguments: '{"path":"a"}',
      },
      {
        type: "custom_tool_call",
        id: expect.stringMatching(/^ctc_/),
        name: "apply_patch",
        input: "*** Begin",
      },
    ]);
  });

  it("calls of built-in tools and of tools in a namespace have the form of their tool", async () => {
    const inner = {
      type: "function",
      name: "find",
      parameters: { type: "object", properties: {} },
      strict: false,
    };
    const crm = { type: "namespace", name: "crm", description: "", tools: [inner] };
    simulator.reply({
      blocks: [use("shell", { commands: ["ls"] }), use("crm.find", { id: 1 }), use("find", { id: 2 })],
    });
    const { output } = await respond(simulator, {
      input: "Hi",
      tools: [{ type: "shell", environment: { type: "local" } }, crm],
    });
    expect(output).toMatchObject([
      { type: "shell_call", action: { commands: ["ls"], timeout_ms: null, max_output_length: null } },
      { type: "function_call", namespace: "crm", name: "find", arguments: '{"id":1}' },
      { type: "function_call", namespace: "crm", name: "find", arguments: '{"id":2}' },
    ]);
  });

  it("a model that does not reason writes no reasoning item", async () => {
    simulator.reply({ blocks: [thought("Think."), { type: "text", text: "Done." }] });
    const { output, usage } = await respond(simulator, { model: "gpt-4.1", input: "Hi" });
    expect(output.map(({ type }) => type)).toEqual(["message"]);
    expect(usage.output_tokens_details.reasoning_tokens).toBe(0);
  });

  it.each([
    [
      "max_tokens",
      { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
      "incomplete",
    ],
    [
      "content_filter",
      { status: "incomplete", incomplete_details: { reason: "content_filter" } },
      "incomplete",
    ],
    ["end_turn", { status: "completed", incomplete_details: null }, "completed"],
  ])(
    "a turn that stops with %s ends the response and its last item alike",
    async (stopReason, ended, status) => {
      simulator.reply({ blocks: [{ type: "text", text: "Half." }], stopReason });
      const response = await respond(simulator, { input: "Hi" });
      expect(response).toMatchObject(ended);
      expect(response.output.at(-1)).toMatchObject({ status });
    },
  );

  it("a refusal is a content part of a completed response", async () => {
    simulator.reply({ blocks: [], stopReason: "refusal", stopDetails: { explanation: "No." } });
    const { status, output } = await respond(simulator, { input: "Hi" });
    expect(status).toBe("completed");
    expect(output).toMatchObject([{ type: "message", content: [{ type: "refusal", refusal: "No." }] }]);
  });
  it("the text of a turn that refuses becomes the refusal, as in chat completions", async () => {
    simulator.reply({ blocks: [{ type: "text", text: "I will not." }], stopReason: "refusal" });
    const { output } = await respond(simulator, { input: "Hi" });
    expect(output).toMatchObject([
      { type: "message", content: [{ type: "refusal", refusal: "I will not." }] },
    ]);
    const input = [{ role: "user", content: "Hi" }, ...output, { role: "user", content: "Why?" }];
    expect((await respond(simulator, { input })).status).toBe("completed");
  });

  it("max_output_tokens cuts the arguments of a call in the middle", async () => {
    simulator.reply({ blocks: [use("read_file", { path: "a long path ".repeat(100) })] });
    const response = await respond(simulator, { input: "Hi", tools: [READ], max_output_tokens: 40 });
    expect(response).toMatchObject({
      status: "incomplete",
      output: [{ type: "function_call", status: "incomplete" }],
    });
    expect(() => JSON.parse(String(response.output[0]?.arguments))).toThrow();
    expect(response.usage.output_tokens).toBeLessThanOrEqual(40);
  });

  it("a long prefix is read from the cache by the next call", async () => {
    simulator.reply("One.", "Two.");
    const input = [{ role: "user", content: "A long text about sheep. ".repeat(400) }];
    const first = await respond(simulator, { input });
    const more = [...input, ...first.output, { role: "user", content: "And then?" }];
    const second = await respond(simulator, { input: more });
    expect(first.usage.input_tokens_details.cached_tokens).toBe(0);
    expect(second.usage.input_tokens_details.cached_tokens).toBeGreaterThan(1_024);
  });

  it("an input above the window is refused with status 400 if the client asks for no stream", async () => {
    const small = await startSimulator({ windowTokens: 1_000 });
    const error = await refused(small, "responses", {
      method: "POST",
      body: { model: MODEL, input: "sheep ".repeat(2_000) },
    });
    await small.close();
    expect(error).toEqual({
      status: 400,
      message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
      type: "invalid_request_error",
      param: "input",
      code: "context_length_exceeded",
    });
  });

  it("an input above the window is refused inside the stream, and the log has the error", async () => {
    const small = await startSimulator({ windowTokens: 1_000 });
    const events = await eventsOf(small, { input: "sheep ".repeat(2_000) });
    const logged = small.requests.last?.error;
    await small.close();
    expect(events).toMatchObject([
      { type: "response.created", sequence_number: 0 },
      { type: "response.in_progress", sequence_number: 1 },
      { type: "error", sequence_number: 2, error: { code: "context_length_exceeded", param: "input" } },
      { type: "response.failed", response: { status: "failed", error: { code: "context_length_exceeded" } } },
    ]);
    expect(logged).toMatchObject({ status: 400, rule: "inputTooLong" });
  });

  it("truncation drops the oldest items that do not fit, and the outputs of dropped calls", async () => {
    const shown: unknown[] = [];
    const small = await startSimulator({
      windowTokens: 1_000,
      behaviors: [
        ({ messages }) => {
          shown.push(...messages.map(({ content }) => content));
          return { blocks: [{ type: "text", text: "Done." }] };
        },
      ],
    });
    const history = [
      { role: "user", content: "sheep ".repeat(800) },
      { type: "function_call", call_id: "call_1", name: "read_file", arguments: '{"path":"long"}' },
      { role: "user", content: "sheep ".repeat(925) },
      { type: "function_call_output", call_id: "call_1", output: "ok" },
      { role: "user", content: "Kept." },
      { role: "user", content: "Now?" },
    ];
    await respond(small, { input: history, truncation: "auto", tools: [READ] });
    await small.close();
    expect(shown).toEqual([
      [
        { type: "text", text: "sheep ".repeat(925) },
        { type: "text", text: "Kept." },
        { type: "text", text: "Now?" },
      ],
    ]);
  });

  it("messages of newer models say whether they are commentary or the final answer", async () => {
    const talk: TurnBlock[] = [{ type: "text", text: "Look." }, use("read_file", { path: "a" })];
    simulator.reply({ blocks: talk }, "Done.", "Done.", "Done.");
    const phases = async (model: string): Promise<unknown> =>
      (await respond(simulator, { model, input: "Hi", tools: [READ] })).output.find(
        ({ type }) => type === "message",
      )?.phase;
    expect(await phases("gpt-5.4")).toBe("commentary");
    expect(await phases("gpt-6-sol")).toBe("final_answer");
    expect(await phases("gpt-5.3-codex")).toBe("final_answer");
    expect(await phases("gpt-5.2")).toBeUndefined();
  });

  it("reasoning has a summary only if the client asks for one", async () => {
    simulator.reply({ blocks: [thought("Think."), { type: "text", text: "Done." }] });
    const { output } = await respond(simulator, { input: "Hi" });
    expect(output[0]).toMatchObject({
      type: "reasoning",
      summary: [],
      encrypted_content: expect.any(String),
    });
  });

  it("input_tokens reports the tokens that the response itself reports", async () => {
    simulator.reply("Done.");
    const fields = { model: MODEL, input: "How many?", instructions: "Count.", tools: [READ] };
    const { body } = await call(simulator, "responses/input_tokens", { method: "POST", body: fields });
    const { usage } = await respond(simulator, fields);
    expect(body).toEqual({ object: "response.input_tokens", input_tokens: usage.input_tokens });
  });
});

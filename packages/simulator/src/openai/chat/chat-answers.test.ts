import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TurnBlock } from "../../exchange.ts";
import { type Simulator, startSimulator } from "../../simulator.ts";
import { BODY, chunksOf, complete, TOOL, user } from "./client.case.ts";

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator();
});
afterEach(() => simulator.close());

const text = (words: string): TurnBlock => ({ type: "text", text: words });
const thought = (words: string): TurnBlock => ({ type: "thinking", thinking: words });
const call = (name: string, input: Record<string, unknown>): TurnBlock => ({ type: "tool_use", name, input });

const LIST = {
  type: "function",
  function: { name: "list_files", parameters: { type: "object", properties: {} } },
};
const CUSTOM = { type: "custom", custom: { name: "apply_patch" } };

describe("answers of chat completions", () => {
  it("an answer has the shape of the API, and its figures add up", async () => {
    simulator.reply("Hello to you.");
    const answer = await complete(simulator, BODY);
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: "chat.completion",
      model: "gpt-4.1-2025-04-14",
      service_tier: "default",
      system_fingerprint: expect.stringMatching(/^fp_/),
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Hello to you.", refusal: null },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
    });
    const { prompt_tokens, completion_tokens, total_tokens } = answer.usage;
    expect(Number(prompt_tokens) + Number(completion_tokens)).toBe(total_tokens);
    // 3 tokens of markup for the message, 2 for its text, 3 for the start of the answer.
    expect(prompt_tokens).toBe(8);
  });

  it("calls of functions and custom tools have ids, and their inputs are text", async () => {
    simulator.reply({
      blocks: [
        text("Look."),
        call("read_file", { path: "a.ts" }),
        call("apply_patch", { input: "*** Begin" }),
      ],
    });
    const [choice] = (await complete(simulator, { ...BODY, tools: [TOOL, CUSTOM] })).choices;
    expect(choice?.finish_reason).toBe("tool_calls");
    expect(choice?.message.content).toBe("Look.");
    expect(choice?.message.tool_calls).toEqual([
      {
        id: expect.stringMatching(/^call_/),
        type: "function",
        function: { name: "read_file", arguments: '{"path":"a.ts"}' },
      },
      {
        id: expect.stringMatching(/^call_/),
        type: "custom",
        custom: { name: "apply_patch", input: "*** Begin" },
      },
    ]);
  });

  it("a request with the deprecated functions gets an answer in the deprecated form", async () => {
    const turn = { blocks: [call("read_file", { path: "a.ts" })] };
    const body = { ...BODY, functions: [TOOL.function] };
    simulator.reply(turn, turn);
    const { choices } = await complete(simulator, body);
    expect(choices[0]).toMatchObject({
      finish_reason: "function_call",
      message: { content: null, function_call: { name: "read_file", arguments: '{"path":"a.ts"}' } },
    });
    expect(choices[0]?.message.tool_calls).toBeUndefined();
    const chunks = (await chunksOf(simulator, body)).slice(0, -1) as readonly Chunk[];
    const deltas = chunks.map((chunk) => chunk.choices[0]?.delta.function_call as { arguments?: string });
    expect(deltas.map((delta) => delta?.arguments ?? "").join("")).toBe('{"path":"a.ts"}');
  });

  it("an answer with calls alone has no content", async () => {
    simulator.reply({ blocks: [call("read_file", { path: "a.ts" })] });
    const { choices } = await complete(simulator, { ...BODY, tools: [TOOL] });
    expect(choices[0]?.message.content).toBeNull();
  });

  it("thinking becomes reasoning tokens, and only for a model and an effort that reason", async () => {
    const ask = async (more: object): Promise<unknown> => {
      simulator.reply({ blocks: [thought("A long thought about sheep."), text("Done.")] });
      const { usage, choices } = await complete(simulator, { ...BODY, ...more });
      expect(choices[0]?.message.content).toBe("Done.");
      return (usage.completion_tokens_details as { reasoning_tokens: number }).reasoning_tokens;
    };
    expect(await ask({ model: "gpt-5.4" })).toBe(6);
    expect(await ask({ model: "gpt-5.4", reasoning_effort: "none" })).toBe(0);
    expect(await ask({ model: "gpt-4.1" })).toBe(0);
  });

  it("max_completion_tokens also limits the reasoning", async () => {
    simulator.reply({ blocks: [thought("word ".repeat(100)), text("Done.")] });
    const { choices, usage } = await complete(simulator, {
      ...BODY,
      model: "gpt-5.4",
      max_completion_tokens: 20,
    });
    expect(choices[0]).toMatchObject({ finish_reason: "length", message: { content: "" } });
    expect(usage).toMatchObject({
      completion_tokens: 20,
      completion_tokens_details: { reasoning_tokens: 20 },
    });
  });

  it("a call that is cut has incomplete arguments, like those of the API", async () => {
    simulator.reply({ blocks: [call("read_file", { path: "word ".repeat(100) })] });
    const { choices } = await complete(simulator, { ...BODY, tools: [TOOL], max_tokens: 40 });
    const [made] = choices[0]?.message.tool_calls ?? [];
    expect(choices[0]?.finish_reason).toBe("length");
    expect(() => JSON.parse(made?.type === "function" ? made.function.arguments : "{}")).toThrow(SyntaxError);
  });

  it("a stop sequence ends the text before it", async () => {
    simulator.reply({ blocks: [text("one END two"), call("read_file", { path: "a.ts" })] });
    const { choices } = await complete(simulator, { ...BODY, tools: [TOOL], stop: ["END"] });
    expect(choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "one " } });
    expect(choices[0]?.message.tool_calls).toBeUndefined();
  });

  it("a refusal is not content, and content_filter is a reason of its own", async () => {
    simulator.reply(
      { blocks: [text("I cannot help with that.")], stopReason: "refusal" },
      { blocks: [text("half")], stopReason: "content_filter" },
    );
    expect((await complete(simulator, BODY)).choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: null, refusal: "I cannot help with that." },
    });
    expect((await complete(simulator, BODY)).choices[0]?.finish_reason).toBe("content_filter");
  });

  it("n asks for several choices, and all of them count", async () => {
    simulator.reply({ blocks: [text("one two three"), call("read_file", { path: "a.ts" })] });
    const { choices, usage } = await complete(simulator, { ...BODY, tools: [TOOL], n: 3 });
    const ids = choices.flatMap(({ message }) => message.tool_calls?.map(({ id }) => id));
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(new Set(ids).size).toBe(3);
    simulator.reply({ blocks: [text("one two three"), call("read_file", { path: "a.ts" })] });
    const single = await complete(simulator, { ...BODY, tools: [TOOL] });
    expect(usage.completion_tokens).toBe(3 * Number(single.usage.completion_tokens));
  });

  it("a turn can report its own usage, in the form that works for both providers", async () => {
    simulator.reply({
      blocks: [text("ok")],
      usage: { input_tokens: 100, cache_read_input_tokens: 900, output_tokens: 7 },
    });
    expect((await complete(simulator, BODY)).usage).toMatchObject({
      prompt_tokens: 1_000,
      completion_tokens: 7,
      total_tokens: 1_007,
      prompt_tokens_details: { cached_tokens: 900 },
    });
  });

  it("a raw block adds its fields to the message, for tests with invalid answers", async () => {
    simulator.reply({ blocks: [{ type: "raw", block: { content: 7, extra: true } }] });
    expect((await complete(simulator, BODY)).choices[0]?.message).toMatchObject({ content: 7, extra: true });
  });

  it("the coder answers in the form that the request asks for", async () => {
    const schema = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] };
    const ask = async (response_format: object): Promise<unknown> => {
      const messages = [user("Give JSON.")];
      const { choices } = await complete(simulator, { ...BODY, messages, response_format });
      return JSON.parse(choices[0]?.message.content ?? "");
    };
    const json_schema = { name: "answer", schema: { ...schema, additionalProperties: false } };
    expect(await ask({ type: "json_schema", json_schema })).toEqual({ count: expect.any(Number) });
    expect(await ask({ type: "json_object" })).toEqual({ answer: expect.any(String) });
  });

  it.each([
    ["required", true],
    ["auto", true],
    ["none", false],
    [{ type: "function", function: { name: "list_files" } }, true],
    [{ type: "allowed_tools", allowed_tools: { mode: "required", tools: [LIST] } }, true],
    [{ type: "allowed_tools", allowed_tools: { mode: "auto", tools: [TOOL] } }, false],
  ])("the coder follows the tool choice %j", async (tool_choice, calls) => {
    const messages = [{ role: "developer", content: "Working directory: /tmp/project" }, user("Look.")];
    const { choices } = await complete(simulator, { ...BODY, messages, tools: [LIST, TOOL], tool_choice });
    const names = choices[0]?.message.tool_calls?.map((one) => one.type === "function" && one.function.name);
    expect(names).toEqual(calls ? ["list_files"] : undefined);
  });
});

interface Chunk {
  readonly choices: readonly { readonly delta: Record<string, unknown>; readonly finish_reason: unknown }[];
  readonly usage?: unknown;
}

describe("streams of chat completions", () => {
  it("a stream has the role first, then pieces, then the reason, then the end", async () => {
    simulator.reply("one two three four five six seven");
    const events = await chunksOf(simulator, BODY);
    const chunks = events.slice(0, -1) as readonly Chunk[];
    expect(events.at(-1)).toBe("[DONE]");
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: "assistant", content: "", refusal: null });
    const content = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");
    expect(content).toBe("one two three four five six seven");
    expect(chunks.map((chunk) => chunk.choices[0]?.finish_reason)).toEqual([
      ...chunks.slice(1).map(() => null),
      "stop",
    ]);
    expect(chunks.every((chunk) => !("usage" in chunk))).toBe(true);
  });

  it("the first delta of a call has its id and its name, the others have only its arguments", async () => {
    simulator.reply({
      blocks: [call("read_file", { path: "a/b/c.ts" }), call("read_file", { path: "d.ts" })],
    });
    const events = await chunksOf(simulator, { ...BODY, tools: [TOOL] });
    const deltas = (events.slice(0, -1) as readonly Chunk[]).flatMap(
      (chunk) => (chunk.choices[0]?.delta.tool_calls ?? []) as readonly Record<string, unknown>[],
    );
    for (const index of [0, 1]) {
      const [first, ...rest] = deltas.filter((delta) => delta.index === index);
      expect(first).toMatchObject({ id: expect.stringMatching(/^call_/), type: "function" });
      expect(rest.length).toBeGreaterThan(0);
      expect(rest.every((delta) => !("id" in delta))).toBe(true);
    }
  });

  it("the last chunk has the usage if the request asks for it, and no choices", async () => {
    const events = await chunksOf(simulator, { ...BODY, stream_options: { include_usage: true } });
    const chunks = events.slice(0, -1) as readonly Chunk[];
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
  });

  it("a stream and a plain answer have the same content for the same turn", async () => {
    const turn = { blocks: [text("Look."), call("read_file", { path: "a.ts" })] };
    simulator.reply(turn, turn);
    const plain = await complete(simulator, { ...BODY, tools: [TOOL] });
    const events = await chunksOf(simulator, { ...BODY, tools: [TOOL] });
    const deltas = (events.slice(0, -1) as readonly Chunk[]).map((chunk) => chunk.choices[0]?.delta ?? {});
    const calls = deltas.flatMap(({ tool_calls }) => (tool_calls ?? []) as readonly StreamedCall[]);
    const made = plain.choices[0]?.message.tool_calls?.[0];
    expect(calls.map((one) => one.function.arguments).join("")).toBe(
      made?.type === "function" ? made.function.arguments : undefined,
    );
    expect(deltas.map(({ content }) => content ?? "").join("")).toBe("Look.");
  });

  it("deltas are padded, unless the request turns the padding off", async () => {
    const paddings = async (stream_options: object): Promise<readonly unknown[]> => {
      simulator.reply("one two three");
      const events = await chunksOf(simulator, { ...BODY, stream_options });
      return (events.slice(0, -1) as readonly { obfuscation?: string }[]).map((one) => one.obfuscation);
    };
    expect(await paddings({})).toEqual([expect.any(String), expect.any(String), undefined]);
    expect(await paddings({ include_obfuscation: false })).toEqual([undefined, undefined, undefined]);
  });

  it("an overload in a stream is one event with the error, and ends the stream", async () => {
    simulator.fail({ kind: "overload-in-stream", afterEvents: 2 });
    const events = await chunksOf(simulator, BODY);
    expect(events).toHaveLength(3);
    expect(events.at(-1)).toMatchObject({ error: { type: "server_error", code: null } });
    expect(simulator.requests.last?.error?.status).toBe(503);
  });
});

interface StreamedCall {
  readonly function: { readonly arguments: string };
}

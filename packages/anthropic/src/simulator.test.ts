import Anthropic from "@anthropic-ai/sdk";
import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import type { Model, ModelReply, ModelRequest, ToolDefinition } from "@longhaul/core/models";
import { complete, withCacheMarks, withRetries } from "@longhaul/core/models";
import type { Turn } from "@longhaul/simulator";
import { type Simulator, type SimulatorOptions, startSimulator } from "@longhaul/simulator";
import AnthropicBefore1 from "anthropic-sdk-0";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toolResult } from "../../../test/support/builders.ts";
import { type AnthropicModelOptions, anthropicModel } from "./anthropic-model.ts";
import type { AnthropicClient } from "./client.ts";

const LINES: readonly (readonly [line: string, make: (baseURL: string) => AnthropicClient])[] = [
  ["1.x", (baseURL) => new Anthropic({ baseURL, apiKey: "key", logLevel: "off" })],
  ["0.x", (baseURL) => new AnthropicBefore1({ baseURL, apiKey: "key", logLevel: "off" })],
];

const tools: readonly ToolDefinition[] = [
  {
    name: "read_file",
    description: "Reads a file.",
    input_schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
];
/** A system prompt that is long enough for every model to cache. */
const system = "You keep the harbour's books, one line for each boat and tide. ".repeat(500);
const user = (content: ApiMessage["content"]): ApiMessage => ({ role: "user", content });
const assistant = ({ content }: ModelReply): ApiMessage => ({ role: "assistant", content });
const calls = (content: readonly ContentBlock[]): readonly string[] =>
  content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));

describe.each(LINES)("anthropicModel with the simulator (SDK %s)", (_, makeClient) => {
  let simulator: Simulator;
  const start = async (options: SimulatorOptions = {}): Promise<void> => {
    simulator = await startSimulator(options);
  };
  const connect = (model: string, options: Partial<AnthropicModelOptions> = {}): Model =>
    anthropicModel({ model, client: makeClient(simulator.url), ...options });

  beforeEach(() => start({ coder: { inventsPaths: true } }));
  afterEach(() => simulator.close());

  /** Continues the conversation until the model calls no more tools. Every tool result is the same line. */
  async function converse(model: Model, request: ModelRequest, most = 40): Promise<readonly ModelReply[]> {
    const replies: ModelReply[] = [];
    let messages = request.messages;
    while (replies.length < most) {
      const reply = await complete(model, withCacheMarks({ ...request, messages }));
      replies.push(reply);
      const ids = calls(reply.content);
      if (ids.length === 0) break;
      messages = [
        ...messages,
        assistant(reply),
        user(ids.map((id) => toolResult(id, "one boat, two tides"))),
      ];
    }
    return replies;
  }

  it.each(["claude-opus-4-6", "claude-opus-5-5", "claude-haiku-4-5"])(
    "completes a conversation with tool calls on the model %s, and sends only valid requests",
    async (name) => {
      const replies = await converse(connect(name), {
        system,
        tools,
        messages: [user("Bring the books in order.")],
      });
      expect(replies.length).toBeGreaterThan(3);
      expect(replies.at(-1)?.stopReason).toBe("end_turn");
      expect(replies.every(({ changes }) => changes.length === 0)).toBe(true);
      expect(simulator.requests.invalid).toEqual([]);
    },
  );

  it("each call reads the whole previous request from the prompt cache", async () => {
    const replies = await converse(connect("claude-opus-4-6"), {
      system,
      tools,
      messages: [user("Begin.")],
    });
    const size = ({ usage }: ModelReply): number =>
      usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
    expect(replies[0]?.usage.cache_creation_input_tokens).toBeGreaterThan(4_000);
    for (const [index, reply] of replies.slice(1).entries()) {
      const before = replies[index];
      if (before !== undefined) expect(reply.usage.cache_read_input_tokens).toBe(size(before));
    }
  });

  it("countTokens returns the number of input tokens that the call then reports", async () => {
    const request: ModelRequest = { system, tools, messages: [user("Begin.")], stop_sequences: ["."] };
    const model = connect("claude-opus-4-6");
    const { tokens, source } = await model.countTokens(request);
    expect(source).toBe("exact");
    expect(tokens).toBe((await complete(model, request)).usage.input_tokens);
  });

  it("lets the provider clear old tool results", async () => {
    const results = Array.from({ length: 6 }, (__, index): readonly ApiMessage[] => [
      {
        role: "assistant",
        content: [{ type: "tool_use", id: `t${index}`, name: "read_file", input: { path: "a" } }],
      },
      user([toolResult(`t${index}`, "line after line ".repeat(200))]),
    ]).flat();
    const reply = await complete(connect("claude-opus-4-6"), {
      tools,
      messages: [user("Read."), ...results],
      context_management: {
        edits: [
          {
            type: "clear_tool_uses_20250919",
            trigger: { type: "tool_uses", value: 4 },
            keep: { type: "tool_uses", value: 2 },
          },
        ],
      },
    });
    expect(reply.appliedEdits).toMatchObject([{ type: "clear_tool_uses_20250919", cleared_tool_uses: 4 }]);
  });

  it("lets the provider summarize on demand, and the API accepts thinking after the signed summary", async () => {
    const model = connect("claude-opus-5-5");
    const beginning = [user("The gate opens at six. Note it.")];
    simulator.reply({
      blocks: [
        { type: "thinking", thinking: "Six." },
        { type: "text", text: "Noted." },
      ],
    });
    const noted = await complete(model, { system, tools, messages: beginning });
    const summary = await complete(model, {
      system,
      tools,
      messages: beginning,
      compaction: { type: "summarize" },
    });
    expect(summary.stopReason).toBe("compaction");
    expect(summary.content).toMatchObject([{ type: "compaction", signature: expect.any(String) }]);
    expect(summary.usage.iterations).toMatchObject([{ type: "compaction" }]);
    simulator.reply("At six.");
    const messages = [assistant(summary), assistant(noted), user("When does it open?")];
    const after = await complete(model, { system, tools, messages });
    expect(after).toMatchObject({ content: [{ type: "text", text: "At six." }], changes: [] });
    expect(simulator.requests.last).toMatchObject({ status: 200, betas: ["compact-2026-09-04"] });
    expect(simulator.requests.messages).toHaveLength(3);
  });

  it("lets the provider summarize at a threshold and sends the compaction block back", async () => {
    const model = connect("claude-opus-4-6");
    const context_management = {
      edits: [{ type: "compact_20260112", trigger: { type: "input_tokens", value: 50_000 } }],
    };
    const long = [user("The gate opens at six and closes at nine. ".repeat(8_000))];
    simulator.reply("Noted.", "At six.");
    const first = await complete(model, { messages: long, context_management });
    expect(first.content).toMatchObject([{ type: "compaction" }, { type: "text", text: "Noted." }]);
    expect(first.usage.iterations?.map(({ type }) => type)).toEqual(["compaction", "message"]);
    const messages = [...long, assistant(first), user("When does it open?")];
    const second = await complete(model, { messages, context_management });
    expect(second.content).toEqual([{ type: "text", text: "At six." }]);
    expect(second.usage.input_tokens).toBeLessThan(50_000);
  });

  describe("thinking that is valid only after the history it was written for", () => {
    const thinkingTurn = (text: string): Turn => ({
      blocks: [
        { type: "thinking", thinking: `About ${text}` },
        { type: "text", text },
      ],
    });
    const adaptive = { thinking: { type: "adaptive" } };

    /** Returns two turns with thinking after a history whose beginning has been rewritten. */
    async function rewritten(model: Model): Promise<readonly ApiMessage[]> {
      simulator.reply(thinkingTurn("One."), thinkingTurn("Two."));
      const beginning = [user("The long beginning.")];
      const one = await complete(model, { ...adaptive, messages: beginning });
      const middle = [...beginning, assistant(one), user("Go on.")];
      const two = await complete(model, { ...adaptive, messages: middle });
      return [user("The short beginning."), assistant(one), user("Go on."), assistant(two), user("And now?")];
    }

    it("every call after a rewrite of the history leaves out the earlier thinking and keeps new thinking", async () => {
      const model = connect("claude-opus-5-5");
      const messages = await rewritten(model);
      simulator.reply(thinkingTurn("Three."), thinkingTurn("Four."));
      const three = await complete(model, { ...adaptive, messages });
      expect(three.changes).toMatchObject([{ type: "thinking-left-out", blocks: 2 }]);
      expect(simulator.requests.messages.map(({ status }) => status)).toEqual([200, 200, 400, 200]);
      const later = [...messages, assistant(three), user("And then?")];
      const four = await complete(model, { ...adaptive, messages: later });
      expect(four.changes).toMatchObject([{ type: "thinking-left-out", blocks: 2 }]);
      expect(simulator.requests.last?.status).toBe(200);
      expect(JSON.stringify(simulator.requests.last?.body)).toContain("About Three.");
      expect(JSON.stringify(simulator.requests.last?.body)).not.toContain("About Two.");
    });

    it("onThinkingMismatch drop-block lets the provider drop thinking that a rewrite of the history made invalid", async () => {
      const model = connect("claude-opus-5-5", { onThinkingMismatch: "drop-block" });
      const messages = await rewritten(model);
      const reply = await complete(model, { ...adaptive, messages });
      expect(reply.changes).toEqual([
        {
          type: "thinking-left-out",
          blocks: 2,
          reason: "dropped by the provider: prefix_binding_mismatch",
        },
      ]);
      expect(simulator.requests.messages.every(({ status }) => status === 200)).toBe(true);
    });

    it("onThinkingMismatch fail turns a thinking mismatch into an error", async () => {
      const model = connect("claude-opus-5-5", { onThinkingMismatch: "fail" });
      const messages = await rewritten(model);
      await expect(complete(model, { ...adaptive, messages })).rejects.toMatchObject({
        code: "model-thinking-mismatch",
      });
    });
  });

  it("reports the token count and the limit of a conversation that is too long", async () => {
    await simulator.close();
    await start({ windowTokens: 2_000 });
    const call = complete(connect("claude-opus-4-6"), {
      messages: [user("word ".repeat(5_000))],
      max_tokens: 100,
    });
    await expect(call).rejects.toMatchObject({
      failure: { kind: "too-long", tokens: expect.any(Number), limit: 2_000 },
    });
  });

  it("maps every simulated fault to an error code, and succeeds after retries of an overload", async () => {
    const model = connect("claude-opus-4-6");
    const request: ModelRequest = { messages: [user("Begin.")] };
    const faults = [
      [{ kind: "status", status: 529 }, "model-overloaded"],
      [{ kind: "status", status: 429, retryAfter: 0 }, "model-rate-limited"],
      [{ kind: "status", status: 429, spendLimit: true }, "model-other"],
      [{ kind: "status", status: 500 }, "model-other"],
      [{ kind: "overload-in-stream", afterEvents: 2 }, "model-overloaded"],
      [{ kind: "cut", afterBytes: 600 }, "model-cut-off"],
      [{ kind: "cut", afterBytes: 0 }, "model-unreachable"],
      [{ kind: "malformed-stream", afterEvents: 2 }, "model-cut-off"],
    ] as const;
    for (const [fault, code] of faults) {
      simulator.fail(fault);
      await expect(complete(model, request)).rejects.toMatchObject({ code });
    }
    const patient = withRetries(model, { wait: async () => undefined });
    simulator.fail(529, { times: 2 });
    expect((await complete(patient, request)).content.length).toBeGreaterThan(0);
  });

  it("recognizes a wrong API key and an unknown model name", async () => {
    await simulator.close();
    await start({ apiKeys: ["another"] });
    const request: ModelRequest = { messages: [user("Begin.")] };
    await expect(complete(connect("claude-opus-4-6"), request)).rejects.toMatchObject({
      code: "model-authentication",
    });
    await simulator.close();
    await start();
    await expect(complete(connect("claude-opus-9"), request)).rejects.toMatchObject({
      failure: { kind: "unknown-model", model: "claude-opus-9" },
    });
  });

  it("deletes a tool result from the cached prefix only if the model supports cache edits", async () => {
    await simulator.close();
    await start({ switches: { cacheEdits: true } });
    const model = connect("claude-opus-4-6", { cacheEdits: true });
    const history: readonly ApiMessage[] = [
      user("Read."),
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "t1", name: "read_file", input: { path: "a" } }],
      },
      user([toolResult("t1", "line after line ".repeat(400))]),
    ];
    const request = withCacheMarks({ system, tools, messages: history });
    await complete(model, request);
    const edited = await complete(model, {
      ...request,
      cache_edits: [{ type: "delete_tool_result", tool_use_id: "t1" }],
    });
    expect(edited.usage.cache_deleted_input_tokens).toBeGreaterThan(0);
    const plain = connect("claude-opus-4-6");
    const { changes } = await complete(plain, {
      ...request,
      cache_edits: [{ type: "delete_tool_result", tool_use_id: "t1" }],
    });
    expect(changes).toEqual([{ type: "not-supported", what: "cache_edits" }]);
  });
});

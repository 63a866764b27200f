import type { Model, ModelEvent, ModelReply, ModelRequest } from "@longhaul/core/models";
import { complete, ModelError } from "@longhaul/core/models";
import { describe, expect, it } from "vitest";
import { type AiSdkModelOptions, aiSdkModel } from "./ai-sdk-model.ts";
import type { AiSdk } from "./sdk.ts";

type Part = Readonly<Record<string, unknown>>;

const REQUEST: ModelRequest = { max_tokens: 64, messages: [{ role: "user", content: "When?" }] };

/** Fakes the `ai` module: streams the given parts and records the options of each call. */
function fakeSdk(
  parts: readonly Part[],
  version: 6 | 7 = 7,
): { readonly sdk: AiSdk; readonly calls: Record<string, unknown>[] } {
  const calls: Record<string, unknown>[] = [];
  async function* stream(): AsyncGenerator<Part> {
    yield* parts;
  }
  const sdk = {
    streamText: (options: object) => {
      calls.push({ ...options });
      return version === 7 ? { stream: stream(), fullStream: stream() } : { fullStream: stream() };
    },
    jsonSchema: (schema: object) => ({ schema }),
    ...(version === 7 ? { isStepCount: () => undefined } : {}),
  };
  return { sdk, calls };
}

const language = (provider: string, modelId = "m-1"): AiSdkModelOptions["model"] => ({
  specificationVersion: "v4",
  provider,
  modelId,
});

const modelSaying = (parts: readonly Part[], provider = "anthropic.messages"): Model =>
  aiSdkModel({ model: language(provider), sdk: fakeSdk(parts).sdk });

async function eventsOf(model: Model): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(REQUEST)) events.push(event);
  return events;
}

const finishStep = (fields: Part = {}): Part => ({
  type: "finish-step",
  response: { id: "msg_7", modelId: "claude-opus-5", timestamp: new Date(0) },
  usage: {
    inputTokens: 110,
    inputTokenDetails: { noCacheTokens: 10, cacheReadTokens: 80, cacheWriteTokens: 20 },
    outputTokens: 30,
    outputTokenDetails: { textTokens: 12, reasoningTokens: 18 },
    totalTokens: 140,
  },
  finishReason: "stop",
  rawFinishReason: "end_turn",
  providerMetadata: { anthropic: {} },
  performance: {},
  ...fields,
});

const SEVEN: readonly Part[] = [
  { type: "start" },
  { type: "start-step", request: {}, warnings: [{ type: "unsupported", feature: "topK", details: "never" }] },
  { type: "raw", rawValue: { type: "message_start", message: { id: "msg_7", model: "claude-opus-5" } } },
  { type: "ping" },
  { type: "reasoning-start", id: "0" },
  { type: "reasoning-delta", id: "0", text: "Hm" },
  { type: "reasoning-end", id: "0", providerMetadata: { anthropic: { signature: "c2ln" } } },
  { type: "reasoning-start", id: "1", providerMetadata: { anthropic: { redactedData: "aGlk" } } },
  { type: "reasoning-end", id: "1" },
  { type: "text-start", id: "2" },
  { type: "text-delta", id: "2", text: "At " },
  { type: "text-delta", id: "2", text: "six." },
  { type: "text-end", id: "2", citations: [] },
  { type: "custom", kind: "anthropic.note" },
  { type: "tool-input-start", id: "toolu_1", toolName: "read" },
  { type: "tool-input-delta", id: "toolu_1", delta: '{"path":' },
  { type: "tool-input-delta", id: "toolu_1", delta: '"a"}' },
  { type: "tool-input-end", id: "toolu_1" },
  { type: "tool-call", toolCallId: "toolu_1", toolName: "read", input: { path: "a" } },
  finishStep(),
  { type: "finish", finishReason: "stop", rawFinishReason: "end_turn", totalUsage: {} },
];

describe("stream parts of AI SDK 7", () => {
  it("turns the stream parts of AI SDK 7 into events and canonical blocks", async () => {
    const events = await eventsOf(modelSaying(SEVEN));
    expect(events.map(({ type }) => type)).toEqual([
      "start",
      "keep-alive",
      "thinking",
      "block",
      "block",
      "text",
      "text",
      "block",
      "tool-call-start",
      "tool-call-input",
      "tool-call-input",
      "block",
      "end",
    ]);
    expect(events[0]).toEqual({ type: "start", id: "msg_7", model: "claude-opus-5" });
    const end = events.at(-1) as { readonly reply: ModelReply };
    expect(end.reply).toEqual({
      id: "msg_7",
      model: "claude-opus-5",
      content: [
        { type: "thinking", thinking: "Hm", signature: "c2ln" },
        { type: "redacted_thinking", data: "aGlk" },
        { type: "text", text: "At six." },
        { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a" } },
      ],
      stopReason: "tool_use",
      usage: {
        input_tokens: 10,
        output_tokens: 30,
        cache_creation_input_tokens: 20,
        cache_read_input_tokens: 80,
      },
      appliedEdits: [],
      changes: [{ type: "not-supported", what: "topK: never" }],
    });
  });

  it("turns off the AI SDK's own retries and its error output on the console", async () => {
    const { sdk, calls } = fakeSdk(SEVEN);
    await complete(aiSdkModel({ model: "anthropic/claude-opus-5", sdk }), { ...REQUEST, system: "Rules." });
    expect(calls[0]).toMatchObject({
      model: "anthropic/claude-opus-5",
      maxRetries: 0,
      maxOutputTokens: 64,
      instructions: [{ role: "system", content: "Rules." }],
    });
    expect(calls[0]).not.toHaveProperty("system");
    expect(calls[0]?.abortSignal).toBeInstanceOf(AbortSignal);
    expect(calls[0]?.onError).toBeTypeOf("function");
  });

  it("sends an image in a tool result in the form that AI SDK 7 or 6 expects", async () => {
    const image = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: "aWNv" },
    } as const;
    const request: ModelRequest = {
      messages: [
        { role: "user", content: "Look." },
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "read", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: [image] }] },
      ],
    };
    const nested = async (version: 6 | 7): Promise<unknown> => {
      const { sdk, calls } = fakeSdk(SEVEN, version);
      await complete(aiSdkModel({ model: language("anthropic.messages"), sdk }), request);
      const messages = calls[0]?.messages as readonly { readonly content: readonly Part[] }[];
      return messages[2]?.content[0]?.output;
    };
    expect(await nested(7)).toEqual({
      type: "content",
      value: [{ type: "file", data: { type: "data", data: "aWNv" }, mediaType: "image/png" }],
    });
    expect(await nested(6)).toEqual({
      type: "content",
      value: [{ type: "image-data", data: "aWNv", mediaType: "image/png" }],
    });
  });

  it("reads a summary that the provider wrote, with its signature, the applied edits and the cost", async () => {
    const metadata = { anthropic: { type: "compaction", signature: "c2ln" } };
    const reply = await complete(
      modelSaying([
        { type: "text-start", id: "0", providerMetadata: metadata },
        { type: "text-delta", id: "0", text: "So far." },
        { type: "text-end", id: "0" },
        finishStep({
          finishReason: "other",
          rawFinishReason: "compaction",
          providerMetadata: {
            anthropic: {
              iterations: [{ type: "compaction", inputTokens: 5, outputTokens: 2 }],
              contextManagement: { appliedEdits: [{ type: "clear_x", clearedInputTokens: 9 }] },
            },
          },
        }),
      ]),
      REQUEST,
    );
    expect(reply.stopReason).toBe("compaction");
    expect(reply.content).toEqual([{ type: "compaction", content: "So far.", signature: "c2ln" }]);
    expect(reply.usage.iterations).toMatchObject([{ type: "compaction", input_tokens: 5, output_tokens: 2 }]);
    expect(reply.appliedEdits).toEqual([{ type: "clear_x", cleared_input_tokens: 9 }]);
  });
});

describe("stream parts of AI SDK 5 and of imprecise servers", () => {
  it("reads the deltas and usage of AI SDK 5 and closes blocks that the stream leaves open", async () => {
    const reply = await complete(
      modelSaying(
        [
          { type: "reasoning-delta", id: "r", delta: "Hm" },
          { type: "text-delta", id: "t", delta: "At six." },
          { type: "tool-input-start", id: "", toolName: "read" },
          { type: "tool-input-delta", id: "", delta: '{"path":"a"}' },
          finishStep({
            finishReason: "stop",
            rawFinishReason: undefined,
            usage: { inputTokens: 100, outputTokens: 7, cachedInputTokens: 60 },
          }),
        ],
        "ollama.chat",
      ),
      REQUEST,
    );
    expect(reply.content).toMatchObject([
      { type: "thinking", thinking: "Hm" },
      { type: "text", text: "At six." },
      { type: "tool_use", id: "call", input: { path: "a" } },
    ]);
    expect(reply.stopReason).toBe("tool_use");
    expect(reply.usage).toMatchObject({ input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 7 });
  });

  it("emits the same events for a tool call that arrives whole as for a streamed tool call", async () => {
    const call = { type: "tool-call", toolCallId: "c:1", toolName: "read", input: { path: "a" } };
    const events = await eventsOf(modelSaying([call, finishStep()], "kimi.chat"));
    const id = "esc-c_3a_1";
    expect(events.slice(1, 4)).toEqual([
      { type: "tool-call-start", id, name: "read" },
      { type: "tool-call-input", id, json: '{"path":"a"}' },
      { type: "block", block: { type: "tool_use", id, name: "read", input: { path: "a" } } },
    ]);
  });

  it("wraps tool input that is not valid JSON in an object with the field INVALID_JSON", async () => {
    const call = { type: "tool-call", toolCallId: "c", toolName: "read", input: '{"pa', invalid: true };
    const reply = await complete(modelSaying([call, finishStep()]), REQUEST);
    expect(reply.content).toMatchObject([{ input: { INVALID_JSON: '{"pa' } }]);
  });

  it("ignores stream parts of an unknown type", async () => {
    const reply = await complete(modelSaying([{ type: "hologram" }, ...SEVEN]), REQUEST);
    expect(reply.content).toHaveLength(4);
  });
});

describe("failures in the AI SDK's stream", () => {
  const failing = async (parts: readonly Part[]): Promise<ModelError> => {
    const error = await complete(modelSaying(parts), REQUEST).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ModelError);
    return error as ModelError;
  };

  it("an error part in the stream ends the reply, and the error contains the complete blocks", async () => {
    const error = await failing([
      ...SEVEN.slice(0, 13),
      { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    ]);
    expect(error.failure.kind).toBe("overloaded");
    expect(error.partial).toHaveLength(3);
  });

  it.each([
    ["a stream without an end", SEVEN.slice(0, 13), "cut-off"],
    [
      "an end without a finish reason",
      [finishStep({ finishReason: "other", rawFinishReason: undefined })],
      "cut-off",
    ],
    ["an interrupted stream", [finishStep({ finishReason: "interrupted", rawFinishReason: "x" })], "cut-off"],
    [
      "a content filter",
      [finishStep({ finishReason: "content-filter", rawFinishReason: "refusal" })],
      "refused",
    ],
    ["an error as the finish reason", [finishStep({ finishReason: "error" })], "other"],
  ])("reports the failure kind of %s", async (_, parts, kind) =>
    expect((await failing(parts)).failure.kind).toBe(kind),
  );

  it("keeps a complete answer when the AI SDK only complains that the model called no tool", async () => {
    const error = { name: "AI_ToolChoiceViolationError", message: "no tool", finishReason: "stop" };
    const parts = [...SEVEN.slice(0, 13), { type: "error", error }, finishStep({ finishReason: "error" })];
    const reply = await complete(modelSaying(parts), REQUEST);
    expect(reply).toMatchObject({ stopReason: "end_turn", content: [{}, {}, { text: "At six." }] });
  });

  it("maps an unknown finish reason to the stop reason other, without a failure", async () => {
    const reply = await complete(
      modelSaying([finishStep({ finishReason: "other", rawFinishReason: "bored" })]),
      REQUEST,
    );
    expect(reply.stopReason).toBe("other");
  });
});

import { APICallError } from "ai";
import { describe, expect, it } from "vitest";
import { wireOf } from "../../../test/wire/folder.ts";
import { modelErrorOf } from "../../core/src/models/ai-sdk-failure.ts";
import { OVERFLOW_TEXTS, type Overflow } from "../../core/src/models/overflow.ts";

/** One error message of each server, and the numbers in it. */
const SAMPLE_MESSAGES: Readonly<
  Record<string, readonly [text: string, tokens?: number | undefined, limit?: number, more?: Overflow]>
> = {
  Anthropic: ["prompt is too long: 208656 tokens > 200000 maximum", 208_656, 200_000],
  "Anthropic, earlier models": [
    "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
    209_573,
    200_000,
    { outputTokens: 21_333 },
  ],
  Google: [
    "The input token count (3475108) exceeds the maximum number of tokens allowed (1048576).",
    3_475_108,
    1_048_576,
  ],
  "Google, cloud platform": [
    "Unable to submit request because the input token count is 1200000 but model only supports up to 1048576. Reduce the input token count and try again.",
    1_200_000,
    1_048_576,
  ],
  "Google, without the first number": [
    "The input token count exceeds the maximum number of tokens allowed 1048576.",
  ],
  "vLLM, current": [
    "This model's maximum context length is 262144 tokens. However, you requested 128000 output tokens and your prompt contains at least 134145 input tokens, for a total of at least 262145 tokens.",
    262_145,
    262_144,
    { outputTokens: 128_000, isLowerBound: true },
  ],
  "vLLM, output limit": [
    "'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context length is 4096 tokens and your request has 3900 input tokens (1000 > 4096 - 3900).",
    4_900,
    4_096,
    { outputTokens: 1_000 },
  ],
  "vLLM, prompt alone": [
    "The decoder prompt (length 50000) is longer than the maximum model length of 40960. Make sure that `max_model_len` is no smaller than the number of text tokens.",
    50_000,
    40_960,
  ],
  "OpenAI chat completions, DeepSeek, OpenRouter, vLLM": [
    "This model's maximum context length is 65536 tokens. However, you requested 68161 tokens (68161 in the messages, 0 in the completion). Please reduce the length of the messages or completion.",
    68_161,
    65_536,
  ],
  "OpenAI Responses": [
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
  ],
  "OpenAI and Groq, per-minute token limit": [
    "Request too large for model `llama-3.3-70b-versatile` in organization `org_x` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 14810, please reduce your message size and try again.",
    14_810,
    6_000,
  ],
  xAI: [
    "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
    136_973,
    131_072,
  ],
  Cerebras: [
    "Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000",
    42_328,
    40_000,
  ],
  Groq: ["Please reduce the length of the messages or completion."],
  Mistral: [
    "Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
    140_000,
    131_072,
  ],
  "llama.cpp, current": [
    "request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it",
    14_429,
    8_192,
  ],
  "llama.cpp": ["the request exceeds the available context size, try increasing it"],
  "llama-cpp-python": ["Requested tokens (2285) exceed context window of 2048", 2_285, 2_048],
  "LM Studio": [
    "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input.",
    13_055,
    4_096,
  ],
  "LM Studio, earlier": [
    "Trying to keep the first 14538 tokens when context the overflows. However, the model is loaded with context length of only 2048 tokens, which is not enough.",
    14_538,
    2_048,
  ],
  Ollama: ["the input length exceeds the context length"],
  "Ollama, hosted": ["prompt too long; exceeded max context length by 4 tokens"],
  "MLX servers": ["Prompt too long: 41911 tokens exceeds max context window of 32768 tokens", 41_911, 32_768],
  SGLang: [
    "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
    61_709,
    40_960,
  ],
  "SGLang, memory": [
    "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens). Use a shorter input or enable --allow-auto-truncate.",
    160_062,
    59_862,
  ],
  "SGLang, with the output": [
    "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 40000 tokens: 30000 tokens from the input messages and 10000 tokens for the completion.",
    40_000,
    32_768,
    { outputTokens: 10_000 },
  ],
  "Text Generation Inference": [
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 512 `max_new_tokens`",
    4_512,
    4_096,
    { outputTokens: 512 },
  ],
  Fireworks: ["The prompt is too long: 150000, model maximum context length: 131071", 150_000, 131_071],
  Copilot: ["prompt token count of 146270 exceeds the limit of 128000", 146_270, 128_000],
  Moonshot: [
    "Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)",
    269_030,
    262_144,
  ],
  DashScope: [
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]",
    undefined,
    204_800,
  ],
  MiniMax: ["invalid params, context window exceeds limit (2013)"],
  "Z.ai": ["Prompt exceeds max length"],
  Bedrock: ["Input is too long for requested model."],
  "any other server": ["The conversation exceeds the model's maximum context length"],
};

const state = { model: "m", hasStarted: false, partial: [] };

const refusal = (body: unknown, statusCode = 400): APICallError =>
  new APICallError({
    message: "Bad Request",
    url: "http://localhost",
    requestBodyValues: {},
    statusCode,
    responseBody: typeof body === "string" ? body : JSON.stringify(body),
  });

describe("overflow messages of each server", () => {
  it("OVERFLOW_TEXTS and the sample messages name the same servers", () => {
    expect(Object.keys(SAMPLE_MESSAGES).sort()).toEqual(Object.keys(OVERFLOW_TEXTS).sort());
  });

  it.each(Object.entries(SAMPLE_MESSAGES))(
    "recognizes an overflow message and reads its numbers: %s",
    (server, sample) => {
      const [message, tokens, limit, more] = sample;
      const expected = {
        kind: "too-long",
        ...(tokens === undefined ? {} : { tokens }),
        ...(limit === undefined ? {} : { limit }),
        ...more,
      };
      expect(modelErrorOf(refusal({ error: { message } }), state).failure).toEqual(expected);
      const first = Object.keys(OVERFLOW_TEXTS).find((name) => OVERFLOW_TEXTS[name]?.test(message));
      expect(first).toBe(server);
    },
  );

  it('reads the token numbers from other variants of the "maximum context length" message', () => {
    const failure = (message: string): unknown =>
      modelErrorOf(refusal({ error: { message } }), state).failure;
    expect(
      failure(
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. Please reduce the length of the messages.",
      ),
    ).toEqual({ kind: "too-long", tokens: 204_308, limit: 128_000 });
    expect(
      failure(
        'This endpoint\'s maximum context length is 131072 tokens. However, you requested about 141607 tokens (10535 of text input, 131072 in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.',
      ),
    ).toEqual({ kind: "too-long", tokens: 141_607, limit: 131_072 });
    expect(
      failure(
        "This model's maximum context length is 4097 tokens, however you requested 4203 tokens (3703 in your prompt; 500 for the completion).",
      ),
    ).toEqual({ kind: "too-long", tokens: 4_203, limit: 4_097 });
  });
});

describe("overflow errors with a code or an unusual body", () => {
  it("recognizes an overflow from the error code in the body alone", () => {
    const failed = modelErrorOf(
      refusal({ error: { code: "context_length_exceeded", message: "No." } }),
      state,
    );
    expect(failed.failure).toEqual({ kind: "too-long" });
    expect(failed.retryHelps).toBe(false);
  });

  it("reads llama.cpp's token numbers from the fields of the error body, for any status", () => {
    const { body } = wireOf("openai-compatible", "too-long-llama-cpp");
    const expected = { kind: "too-long", tokens: 14_429, limit: 8_192 };
    expect(modelErrorOf(refusal(body), state).failure).toEqual(expected);
    expect(modelErrorOf(refusal(body, 500), state).failure).toEqual(expected);
  });

  it("recognizes an overflow in an error body that Google wraps in a list", () => {
    const error = {
      code: 400,
      message: "The input token count (5) exceeds the maximum number of tokens allowed (4).",
    };
    expect(modelErrorOf(refusal([{ error }]), state).failure).toEqual({
      kind: "too-long",
      tokens: 5,
      limit: 4,
    });
  });
});

describe("errors that only resemble an overflow", () => {
  it.each([
    [429, "Too many tokens, please wait before trying again.", "rate-limited"],
    [429, "Rate limit reached: maximum context length of the queue", "rate-limited"],
    [503, "The context window exceeds limit of the queue, overloaded", "overloaded"],
    [413, "Request Entity Too Large", "too-large"],
    [400, "max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens", "other"],
  ])('status %i with "%s" means %s, not an overflow', (status, message, kind) => {
    expect(modelErrorOf(refusal({ error: { message } }, status), state).failure.kind).toBe(kind);
  });
});

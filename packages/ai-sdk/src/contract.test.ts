import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { ContentBlock } from "@longhaul/core/messages";
import type { ContractSubject } from "@longhaul/simulator";
import { modelContract, STANDARD_FAILURES, STANDARD_REPLIES } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { ANTHROPIC_WIRES } from "../../../test/wire/anthropic/wires.ts";
import { wiresOf } from "../../../test/wire/folder.ts";
import { encodeProviderData } from "../../core/src/models/provider-memory.ts";
import { STANDARD_TEXT } from "../../simulator/src/contract/subject.ts";
import { aiSdkModel } from "./ai-sdk-model.ts";

const THOUGHT = "The table says 05:48; the gate needs twelve minutes.";
const text: ContentBlock = { type: "text", text: STANDARD_TEXT };
const firstBlock: readonly ContentBlock[] = [{ type: "text", text: "I read the table." }];

const thought = (maker: string, metadata: Readonly<Record<string, unknown>>): ContentBlock => ({
  type: "thinking",
  thinking: THOUGHT,
  signature: encodeProviderData({ maker, metadata }),
});

/**
 * Failure of a server that never marks the end of a text. Such a text counts as complete only if another part
 * follows. Here no part follows, so there is no partial reply.
 */
const overloadedInText = {
  "overloaded-mid-stream": { ...STANDARD_FAILURES["overloaded-mid-stream"], partial: [] },
};

const openai: ContractSubject = {
  name: "OpenAI, Responses",
  wires: wiresOf("openai", { "rate-limited": { status: 429, headers: { "retry-after": "7" } } }),
  connect: (baseUrl) =>
    aiSdkModel({ model: createOpenAI({ apiKey: "key", baseURL: `${baseUrl}/v1` }).responses("gpt-5.1") }),
  replies: {
    "thinking-then-text": {
      content: [
        thought("openai", {
          openai: { itemId: "rs_68harbour0", reasoningEncryptedContent: "gAAAAABharbour" },
        }),
        text,
      ],
    },
  },
};

const openaiChat: ContractSubject = {
  name: "OpenAI, chat completions",
  wires: wiresOf("openai-chat", { "rate-limited": { status: 429, headers: { "retry-after-ms": "7000" } } }),
  connect: (baseUrl) =>
    aiSdkModel({ model: createOpenAI({ apiKey: "key", baseURL: `${baseUrl}/v1` }).chat("gpt-4.1") }),
  failures: overloadedInText,
};

const compatible: ContractSubject = {
  name: "OpenAI-compatible server",
  wires: wiresOf("openai-compatible", { "rate-limited": { status: 429, headers: { "retry-after": "7" } } }),
  connect: (baseUrl) => {
    const server = createOpenAICompatible({
      name: "harbour",
      baseURL: `${baseUrl}/v1`,
      apiKey: "key",
      includeUsage: true,
    });
    return aiSdkModel({ model: server("qwen3-coder") });
  },
  replies: { "thinking-then-text": { content: [thought("harbour", {}), text] } },
  failures: {
    ...overloadedInText,
    // The message also contains the number of output tokens.
    "too-long": {
      failure: { kind: "too-long", tokens: 208_656, limit: 200_000, outputTokens: 8_192 },
      retryHelps: false,
    },
  },
};

const google: ContractSubject = {
  name: "Google",
  wires: wiresOf("google", { "too-large": { status: 400 }, authentication: { status: 400 } }),
  toolCallIds: "generated",
  connect: (baseUrl) =>
    aiSdkModel({
      model: createGoogleGenerativeAI({ apiKey: "key", baseURL: `${baseUrl}/v1beta` })("gemini-2.5-flash"),
    }),
  replies: {
    "thinking-then-text": {
      content: [
        thought("google", {}),
        {
          type: "thinking",
          thinking: "",
          signature: encodeProviderData({
            maker: "google",
            metadata: { google: { thoughtSignature: "Eharbour" } },
            belongsToNextBlock: true,
          }),
        },
        text,
      ],
    },
  },
  failures: {
    ...overloadedInText,
    "cut-off": { ...STANDARD_FAILURES["cut-off"], partial: [] },
    refused: { ...STANDARD_FAILURES.refused, failure: { kind: "refused", category: "SAFETY" } },
  },
};

const anthropic: ContractSubject = {
  name: "Anthropic",
  wires: ANTHROPIC_WIRES,
  connect: (baseUrl) =>
    aiSdkModel({ model: createAnthropic({ apiKey: "key", baseURL: `${baseUrl}/v1` })("claude-opus-4-6") }),
  replies: { "thinking-then-text": { ...STANDARD_REPLIES["thinking-then-text"] } },
  failures: {
    refused: {
      failure: { kind: "refused", category: "cyber" },
      retryHelps: false,
      partial: firstBlock,
    },
  },
};

describe.each([openai, openaiChat, compatible, google, anthropic])("the AI SDK adapter: $name", (subject) => {
  const cases = modelContract(subject);
  it.each(cases.map(({ title, run }) => [title, run] as const))("%s", (_, run) => run());
  it("the model contract for this provider has at least 28 test cases", () =>
    expect(cases.length).toBeGreaterThanOrEqual(28));
});

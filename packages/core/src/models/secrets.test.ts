import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { aiSdkModel } from "@longhaul/ai-sdk";
import { anthropicModel } from "@longhaul/anthropic";
import type { WireAnswer } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { serveWires } from "../../../simulator/src/contract/wire-server.ts";
import { complete } from "./complete.ts";
import { ModelError } from "./model-error.ts";
import type { Model } from "./port.ts";

const KEY = "sk-ant-SECRET-0123456789abcdef";
const TEXT = "the crocodile SECRET sleeps under the third bridge";

const MODELS: readonly (readonly [string, (baseURL: string) => Model])[] = [
  [
    "anthropicModel",
    (baseURL) =>
      anthropicModel({
        model: "claude-opus-4-6",
        client: new Anthropic({ baseURL, apiKey: KEY, logLevel: "off" }),
      }),
  ],
  [
    "aiSdkModel with Anthropic",
    (baseURL) => aiSdkModel({ model: createAnthropic({ baseURL, apiKey: KEY })("claude-opus-4-6") }),
  ],
  [
    "aiSdkModel with OpenAI",
    (baseURL) => aiSdkModel({ model: createOpenAI({ baseURL, apiKey: KEY }).chat("gpt-4.1") }),
  ],
];

const refusal = (status: number, message: string): WireAnswer => ({
  status,
  body: JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }),
});

const begun = [
  {
    type: "message_start",
    message: { id: "m", type: "message", role: "assistant", model: "c", content: [] },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: TEXT } },
  { type: "content_block_stop", index: 0 },
].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

const ANSWERS: readonly (readonly [string, WireAnswer])[] = [
  ["a refusal that quotes the input", refusal(400, `messages.0.content: bad [input_value='${TEXT}']`)],
  ["a refusal that quotes a part of the input", refusal(422, `bad: ${JSON.stringify(TEXT.slice(4, 40))}…`)],
  ["a refusal that names the key", refusal(401, `Incorrect API key provided: ${KEY}.`)],
  ["a page that repeats the request", { status: 502, body: `<html>${TEXT} ${KEY}</html>` }],
  ["an answer that breaks off", { body: begun.join("") }],
  ["an answer of an unknown form", { body: `${begun.join("")}event: x\ndata: {"type":"${TEXT}"}\n\n` }],
  ["an answer with broken JSON", { body: `${begun.join("")}event: message_delta\ndata: {"${TEXT}\n\n` }],
];

describe.each(MODELS)("secrets in an error of %s", (_, connect) => {
  it.each(ANSWERS)("an error reveals neither the key nor the conversation: %s", async (__, answer) => {
    const server = await serveWires([answer]);
    try {
      const request = { max_tokens: 64, system: TEXT, messages: [{ role: "user" as const, content: TEXT }] };
      const error: unknown = await complete(connect(server.baseUrl), request).catch(
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(ModelError);
      if (!(error instanceof ModelError)) return;
      const { message, remedy, facts, providerCode } = error;
      expect(JSON.stringify({ message, remedy, facts, providerCode, error })).not.toContain("SECRET");
    } finally {
      await server.close();
    }
  });
});

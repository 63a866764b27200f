import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { aiSdkModel } from "@longhaul/ai-sdk";
import type { ContentBlock, Model, ModelReply, ModelRequest } from "@longhaul/core";
import { complete } from "@longhaul/core";
import type { WireAnswer } from "@longhaul/simulator";
import { deepFreeze } from "../support/deep-freeze.ts";
import { ANTHROPIC_WIRES } from "./anthropic/wires.ts";
import { wireOf } from "./folder.ts";

/** Records the requests that the real provider packages send over the wire. */

export type Json = Readonly<Record<string, unknown>>;
export type MakeModel = (settings: { readonly fetch: typeof fetch; readonly apiKey: string }) => Model;

export const anthropic: MakeModel = (settings) =>
  aiSdkModel({ model: createAnthropic(settings)("claude-opus-4-6") });
export const responses: MakeModel = (settings) =>
  aiSdkModel({ model: createOpenAI(settings).responses("gpt-5.1") });
export const chat: MakeModel = (settings) => aiSdkModel({ model: createOpenAI(settings).chat("gpt-4.1") });
export const gemini: MakeModel = (settings) =>
  aiSdkModel({ model: createGoogleGenerativeAI(settings)("gemini-3-pro-preview") });
export const compatible: MakeModel = (settings) =>
  aiSdkModel({
    model: createOpenAICompatible({ ...settings, name: "kimi", baseURL: "http://local/v1" })("kimi-k2"),
  });

export interface Sent {
  readonly body: Json;
  readonly reply: ModelReply;
}

export async function send(make: MakeModel, request: ModelRequest, wire: WireAnswer): Promise<Sent> {
  const bodies: Json[] = [];
  const fakeFetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    bodies.push(JSON.parse(String(init?.body)) as Json);
    return new Response(wire.body, { headers: { ...wire.headers } });
  };
  const model = make({ apiKey: "key", fetch: fakeFetch as typeof fetch });
  const reply = await complete(model, deepFreeze(request));
  return { body: bodies[0] ?? {}, reply };
}

export const TEXT: Readonly<Record<"anthropic" | "openai" | "chat" | "google" | "compatible", WireAnswer>> = {
  anthropic: ANTHROPIC_WIRES.text,
  openai: wireOf("openai", "text"),
  chat: wireOf("openai-chat", "text"),
  google: wireOf("google", "text"),
  compatible: wireOf("openai-compatible", "text"),
};

export const PNG: string = "iVBORw0KGgoAAAANSUhEUg==";
const image: ContentBlock = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: PNG },
};
export const opaque = (block: { readonly type: string; readonly [field: string]: unknown }): ContentBlock =>
  block as unknown as ContentBlock;

/** A request with everything that both the Messages API and the SDK support. */
export const RICH: ModelRequest = {
  max_tokens: 2_048,
  system: [
    { type: "text", text: "Rules." },
    { type: "text", text: "More.", cache_control: { type: "ephemeral", ttl: "1h" } },
  ],
  tools: [
    {
      name: "read_file",
      description: "Reads.",
      input_schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      cache_control: { type: "ephemeral", ttl: "1h" },
    },
  ],
  tool_choice: { type: "auto" },
  stop_sequences: ["END"],
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "Look at this." },
        image,
        {
          type: "document",
          source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
          title: "plan.pdf",
        },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "6:00 open" } },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "c2ln" },
        { type: "redacted_thinking", data: "aGlkZGVu" },
        { type: "text", text: "I look." },
        { type: "tool_use", id: "toolu_1", name: "read_file", input: { path: "a" } },
        { type: "tool_use", id: "toolu_2", name: "read_file", input: { path: "b" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "one" }, image] },
        { type: "tool_result", tool_use_id: "toolu_2", content: "gone", is_error: true },
        { type: "text", text: "Go on.", cache_control: { type: "ephemeral" } },
      ],
    },
  ],
};

import { describe, expect, it } from "vitest";
import { dialectOf } from "./dialect.ts";

const of = (provider: string): string => {
  const { flavor, namespace } = dialectOf({ specificationVersion: "v3", provider, modelId: "m" });
  return `${flavor} as ${namespace}`;
};

describe("who is spoken to, by the provider's name", () => {
  it.each([
    ["anthropic.messages", "anthropic as anthropic"],
    ["vertex.anthropic.messages", "anthropic as anthropic"],
    ["openai.responses", "openai-responses as openai"],
    ["my-proxy.responses", "openai-responses as openai"],
    ["azure.responses", "openai-responses as azure"],
    ["openai.chat", "openai-chat as openai"],
    ["google.generative-ai", "google as google"],
    ["google.vertex.chat", "google as google"],
    ["groq.chat", "compatible as groq"],
    ["lmstudio", "compatible as lmstudio"],
  ])("%s: %s", (provider, expected) => expect(of(provider)).toBe(expected));

  it.each([
    ["anthropic/claude-opus-5", "anthropic"],
    ["openai/gpt-5", "openai-responses"],
    ["google/gemini-3-pro", "google"],
    ["moonshotai/kimi-k2", "compatible"],
    ["openai:gpt-5", "openai-responses"],
    ["plain", "compatible"],
  ])("gateway, %s: %s", (id, flavor) => {
    expect(dialectOf(id).flavor).toBe(flavor);
    expect(dialectOf({ specificationVersion: "v3", provider: "gateway", modelId: id }).flavor).toBe(flavor);
  });
});

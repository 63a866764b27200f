import { describe, expect, it } from "vitest";
import { dialectOf } from "./dialect.ts";

const flavorAndNamespace = (provider: string): string => {
  const { flavor, namespace } = dialectOf({ specificationVersion: "v3", provider, modelId: "m" });
  return `${flavor} with namespace ${namespace}`;
};

describe("dialectOf", () => {
  it.each([
    ["anthropic.messages", "anthropic with namespace anthropic"],
    ["vertex.anthropic.messages", "anthropic with namespace anthropic"],
    ["openai.responses", "openai-responses with namespace openai"],
    ["my-proxy.responses", "openai-responses with namespace openai"],
    ["azure.responses", "openai-responses with namespace azure"],
    ["openai.chat", "openai-chat with namespace openai"],
    ["google.generative-ai", "google with namespace google"],
    ["google.vertex.chat", "google with namespace google"],
    ["groq.chat", "compatible with namespace groq"],
    ["lmstudio", "compatible with namespace lmstudio"],
  ])("dialectOf maps the provider %s to the flavor %s", (provider, expected) =>
    expect(flavorAndNamespace(provider)).toBe(expected),
  );

  it.each([
    ["anthropic/claude-opus-5", "anthropic"],
    ["openai/gpt-5", "openai-responses"],
    ["google/gemini-3-pro", "google"],
    ["moonshotai/kimi-k2", "compatible"],
    ["openai:gpt-5", "openai-responses"],
    ["plain", "compatible"],
  ])("dialectOf maps the gateway model %s to the flavor %s", (id, flavor) => {
    expect(dialectOf(id).flavor).toBe(flavor);
    expect(dialectOf({ specificationVersion: "v3", provider: "gateway", modelId: id }).flavor).toBe(flavor);
  });
});

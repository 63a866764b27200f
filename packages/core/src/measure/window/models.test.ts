import { describe, expect, it } from "vitest";
import { findModel, withProvenWindow } from "./models.ts";

describe("findModel", () => {
  it("finds a model by the longest matching name", () => {
    expect(findModel("claude-opus-4-5-20251101").matched).toBe("claude-opus-4-5");
    expect(findModel("claude-opus-4-20250514").matched).toBe("claude-opus-4");
    expect(findModel("gpt-4o-2024-08-06").matched).toBe("gpt-4o");
    expect(findModel("gpt-4-0613")).toMatchObject({ matched: "gpt-4", windowTokens: 8_192 });
  });

  it("ignores vendor prefixes, dots and regions in a model name", () => {
    expect(findModel("us.anthropic.claude-sonnet-4-5-20250929-v1:0").matched).toBe("claude-sonnet-4-5");
    expect(findModel("anthropic/claude-sonnet-4.6").windowTokens).toBe(1_000_000);
    expect(findModel("models/gemini-2.5-pro").windowTokens).toBe(1_048_576);
    expect(findModel("ollama/llama3.1:8b").windowTokens).toBe(131_072);
  });

  it("assumes a window of 200,000 tokens for an unknown or missing model name", () => {
    expect(findModel("somebody-new")).toMatchObject({ windowTokens: 200_000, matched: undefined });
    expect(findModel(undefined).windowTokens).toBe(200_000);
  });

  it("never matches a known model name inside a word of another name", () => {
    expect(findModel("turbo1-large").matched).toBeUndefined();
  });

  it("withProvenWindow enlarges the window of a model if a usage report exceeds that window", () => {
    const model = findModel("claude-sonnet-4-20250514");
    expect(withProvenWindow(model, 199_000).windowTokens).toBe(200_000);
    expect(withProvenWindow(model, 535_000).windowTokens).toBe(1_000_000);
  });

  it("prefers the user's entry for a model to the built-in entry", () => {
    const mine = { "claude-opus-4-5": { windowTokens: 64_000, maxOutputTokens: 4_000 } };
    expect(findModel("claude-opus-4-5-20251101", mine).windowTokens).toBe(64_000);
  });

  it("recognizes the suffix [1m] for a long context, and models that bind thinking to earlier messages", () => {
    expect(findModel("claude-sonnet-4-5[1m]").windowTokens).toBe(1_000_000);
    expect(findModel("claude-opus-5-5").bindsThinking).toBe(true);
    expect(findModel("claude-opus-5").bindsThinking).toBeUndefined();
  });
});

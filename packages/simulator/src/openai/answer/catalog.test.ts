import { describe, expect, it } from "vitest";
import { modelInfo, OpenAiCatalog } from "./catalog.ts";
import { KNOWN_MODELS, RETIRED_MODELS } from "./known-models.ts";

describe("the catalog of OpenAI's models", () => {
  it("knows sizes, efforts and input limits of its models", () => {
    const catalog = new OpenAiCatalog();
    expect(catalog.find("gpt-5")).toMatchObject({
      windowTokens: 400_000,
      maxInputTokens: 272_000,
      maxOutputTokens: 128_000,
      isReasoning: true,
      efforts: ["minimal", "low", "medium", "high"],
      caching: "automatic",
    });
    expect(catalog.find("gpt-5.6-sol")).toMatchObject({ windowTokens: 1_050_000, caching: "breakpoints" });
    expect(catalog.find("gpt-4.1")).toMatchObject({
      isReasoning: false,
      efforts: [],
      maxInputTokens: 1_047_576,
    });
  });

  it("every known model fits its prompt and its answer into its window", () => {
    for (const model of new OpenAiCatalog().all) {
      expect(model.maxInputTokens, model.id).toBeLessThanOrEqual(model.windowTokens);
      expect(model.maxOutputTokens, model.id).toBeLessThan(model.windowTokens);
    }
  });

  it("no model is both served and retired", () => {
    expect(KNOWN_MODELS.filter(({ id }) => RETIRED_MODELS.has(id))).toEqual([]);
  });

  it("finds a dated snapshot of a known model, and reports its date", () => {
    const snapshot = new OpenAiCatalog().find("gpt-4o-2024-08-06");
    expect(snapshot).toMatchObject({ id: "gpt-4o-2024-08-06", windowTokens: 128_000 });
    expect(modelInfo({ id: "gpt-4o-2024-08-06" }).created).toBe(Date.UTC(2024, 7, 6) / 1_000);
    expect(new OpenAiCatalog().find("gpt-none-2024-08-06")).toBeUndefined();
    expect(new OpenAiCatalog().find("gpt-4o-2024-08-07")).toBeUndefined();
  });

  it("answers report the snapshot that a name means", () => {
    const catalog = new OpenAiCatalog([{ id: "gpt-4o", windowTokens: 9_000 }]);
    expect(catalog.find("gpt-4.1")?.reportedId).toBe("gpt-4.1-2025-04-14");
    expect(catalog.find("gpt-4.1-2025-04-14")?.reportedId).toBe("gpt-4.1-2025-04-14");
    expect(catalog.find("gpt-5.6-sol")?.reportedId).toBe("gpt-5.6-sol");
    expect(catalog.find("gpt-4o")?.reportedId).toBe("gpt-4o");
  });

  it("serves added models, keeps the facts of a known name, and may bring back a retired one", () => {
    const catalog = new OpenAiCatalog([
      { id: "gpt-5", windowTokens: 50_000, prices: { input: 1, cached: 0.5, output: 2 } },
      { id: "gpt-4", windowTokens: 8_192 },
      { id: "my-model", windowTokens: 10_000, efforts: ["low"] },
    ]);
    expect(catalog.find("gpt-5")).toMatchObject({
      windowTokens: 50_000,
      maxInputTokens: 50_000,
      maxOutputTokens: 12_500,
      isReasoning: true,
      prices: { input: 1 },
    });
    expect(catalog.require("gpt-4")).toMatchObject({ windowTokens: 8_192, isReasoning: false });
    expect(catalog.find("my-model")).toMatchObject({ isReasoning: true, efforts: ["low"] });
  });

  it("an added model belongs to OpenAI unless its name or its provider says otherwise", () => {
    const catalog = new OpenAiCatalog([
      { id: "claude-test", windowTokens: 10_000 },
      { id: "claude-at-openai", windowTokens: 10_000, provider: "openai" },
      { id: "other", windowTokens: 10_000, provider: "anthropic" },
    ]);
    expect(catalog.find("claude-test")).toBeUndefined();
    expect(catalog.find("claude-at-openai")).toBeDefined();
    expect(catalog.find("other")).toBeUndefined();
  });

  it("a window for all models also limits their prompts", () => {
    const model = new OpenAiCatalog([], 32_000).find("gpt-5");
    expect(model).toMatchObject({ windowTokens: 32_000, maxInputTokens: 32_000 });
  });
});

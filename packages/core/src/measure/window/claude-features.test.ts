import { describe, expect, it } from "vitest";
import { type ClaudeFeatures, claudeFeatures } from "./claude-features.ts";

/** Claude models, newest first. */
const MODELS = [
  "claude-fable-5-1",
  "claude-mythos-5-1",
  "claude-opus-5-5",
  "claude-sonnet-5-5",
  "claude-haiku-5-5",
  "claude-fable-5",
  "claude-opus-5",
  "claude-sonnet-5",
  "claude-opus-4-8",
  "claude-opus-4-7",
  "claude-opus-4-6",
  "claude-sonnet-4-6",
  "claude-opus-4-5-20251101",
  "claude-sonnet-4-5-20250929",
  "claude-haiku-4-5-20251001",
  "claude-opus-4-1",
  "claude-3-5-sonnet-20241022",
] as const;

const having = (has: (features: ClaudeFeatures) => boolean): readonly string[] =>
  MODELS.filter((model) => has(claudeFeatures(model)));
const lacking = (has: (features: ClaudeFeatures) => boolean): readonly string[] =>
  having((features) => !has(features));

describe("minimum size for prompt caching", () => {
  it.each([
    [512, ["claude-fable-5-1", "claude-fable-5", "claude-mythos-5", "claude-opus-5", "claude-opus-5-5"]],
    [512, ["claude-sonnet-5-5"]],
    [1_024, ["claude-opus-4-8", "claude-sonnet-5", "claude-sonnet-4-6", "claude-sonnet-4-5"]],
    [2_048, ["claude-opus-4-7"]],
    [4_096, ["claude-opus-4-6", "claude-opus-4-5", "claude-haiku-4-5"]],
  ])("the smallest prompt that can be cached has %i tokens for %j", (minimum, models) => {
    for (const model of models) expect(claudeFeatures(model).minimumCacheTokens).toBe(minimum);
  });
});

describe("thinking of Claude models", () => {
  it.each([
    ["claude-fable-5-1", ["adaptive"]],
    ["claude-mythos-5", ["adaptive"]],
    ["claude-opus-5-5", ["adaptive"]],
    ["claude-sonnet-5-5", ["adaptive", "between_tools", "disabled"]],
    ["claude-opus-5", ["adaptive", "disabled"]],
    ["claude-opus-4-7", ["adaptive", "disabled"]],
    ["claude-opus-4-6", ["adaptive", "enabled", "disabled"]],
    ["claude-sonnet-4-6", ["adaptive", "enabled", "disabled"]],
    ["claude-opus-4-5", ["enabled", "disabled"]],
    ["claude-haiku-4-5", ["enabled", "disabled"]],
  ])("%s supports the thinking modes %j", (model, modes) => {
    expect(claudeFeatures(model).thinkingModes).toEqual(modes);
  });

  it("Claude models think by default from version 5.0", () => {
    expect(lacking(({ thinksByDefault }) => thinksByDefault)).toEqual(MODELS.slice(8));
  });

  it("Opus from 4.5 and Sonnet from 4.6 see the thinking of earlier turns, Haiku 4.5 does not", () => {
    expect(lacking(({ keepsEarlierThinking }) => keepsEarlierThinking)).toEqual([
      "claude-sonnet-4-5-20250929",
      "claude-haiku-4-5-20251001",
      "claude-opus-4-1",
      "claude-3-5-sonnet-20241022",
    ]);
  });
});

describe("request options of Claude models", () => {
  it("all Claude models except the newest support forced tools", () => {
    expect(lacking(({ forcedTools }) => forcedTools)).toEqual([
      "claude-fable-5-1",
      "claude-mythos-5-1",
      "claude-opus-5-5",
      "claude-sonnet-5-5",
    ]);
  });

  it("Claude models before Opus 4.7 and Sonnet 5 accept sampling parameters", () => {
    expect(having(({ sampling }) => sampling)).toEqual(MODELS.slice(10));
  });

  it("Claude models from 4.5 on stop at the window limit instead of rejecting a large max_tokens", () => {
    expect(lacking(({ stopsAtWindow }) => stopsAtWindow)).toEqual(MODELS.slice(15));
  });

  it("Claude models from 4.6 on support compaction by the provider", () => {
    expect(lacking(({ compaction }) => compaction)).toEqual(MODELS.slice(12));
  });

  it("Claude models before 4.6 support a prefilled answer", () => {
    expect(having(({ prefill }) => prefill)).toEqual(MODELS.slice(12));
  });
});

it("the tokenizer of Claude 4.7 and later produces about 30% more tokens", () => {
  expect(lacking(({ tokenScale }) => tokenScale > 1)).toEqual(MODELS.slice(10));
  expect(claudeFeatures("claude-opus-5-5").tokenScale).toBe(1.3);
});

it("an unknown model name has the features of Sonnet 5.5, an old-style name those of the oldest models", () => {
  expect(claudeFeatures("my-own-model")).toEqual(claudeFeatures("claude-sonnet-5-5"));
  expect(claudeFeatures("claude-3-opus-20240229").stopsAtWindow).toBe(false);
});

it("Claude Mythos Preview, which has no version, accepts the thinking types that the SDK names for it", () => {
  const { thinkingModes, minimumCacheTokens, prefill, compaction } = claudeFeatures("claude-mythos-preview");
  expect(thinkingModes).toEqual(["adaptive", "enabled"]);
  expect({ minimumCacheTokens, prefill, compaction }).toEqual({
    minimumCacheTokens: 2_048,
    prefill: false,
    compaction: true,
  });
});

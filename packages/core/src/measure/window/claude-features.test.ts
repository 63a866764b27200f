import { describe, expect, it } from "vitest";
import { type ClaudeFeatures, claudeFeatures } from "./claude-features.ts";

/** Lists the models that have a feature, out of all models in the tables. */
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

describe("the minimum for caching", () => {
  it.each([
    [512, ["claude-fable-5-1", "claude-fable-5", "claude-mythos-5", "claude-opus-5", "claude-opus-5-5"]],
    [512, ["claude-sonnet-5-5"]],
    [1_024, ["claude-opus-4-8", "claude-sonnet-5", "claude-sonnet-4-6", "claude-sonnet-4-5"]],
    [2_048, ["claude-opus-4-7"]],
    [4_096, ["claude-opus-4-6", "claude-opus-4-5", "claude-haiku-4-5"]],
  ])("is %i for %j", (minimum, models) => {
    for (const model of models) expect(claudeFeatures(model).minimumCacheTokens).toBe(minimum);
  });
});

describe("thinking", () => {
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
  ])("of %s can be %j", (model, modes) => {
    expect(claudeFeatures(model).thinkingModes).toEqual(modes);
  });

  it("is on by default from 5.0", () => {
    expect(lacking(({ thinksByDefault }) => thinksByDefault)).toEqual(MODELS.slice(8));
  });

  it("of earlier turns is seen by Opus from 4.5, by Sonnet from 4.6, and not by Haiku 4.5", () => {
    expect(lacking(({ keepsEarlierThinking }) => keepsEarlierThinking)).toEqual([
      "claude-sonnet-4-5-20250929",
      "claude-haiku-4-5-20251001",
      "claude-opus-4-1",
      "claude-3-5-sonnet-20241022",
    ]);
  });
});

describe("what requests may ask", () => {
  it("of tools: a certain one, except from the newest", () => {
    expect(lacking(({ forcedTools }) => forcedTools)).toEqual([
      "claude-fable-5-1",
      "claude-mythos-5-1",
      "claude-opus-5-5",
      "claude-sonnet-5-5",
    ]);
  });

  it("of sampling: nothing from Opus 4.7, Sonnet 5 and the super models on", () => {
    expect(having(({ sampling }) => sampling)).toEqual(MODELS.slice(10));
  });

  it("of length: more than fits, from 4.5 on", () => {
    expect(lacking(({ stopsAtWindow }) => stopsAtWindow)).toEqual(MODELS.slice(15));
  });

  it("of the provider: compaction, from 4.6 on", () => {
    expect(lacking(({ compaction }) => compaction)).toEqual(MODELS.slice(12));
  });

  it("of the model: to go on from a beginning of its answer, before 4.6", () => {
    expect(having(({ prefill }) => prefill)).toEqual(MODELS.slice(12));
  });
});

it("the tokenizer of 4.7 and later makes about 30% more tokens", () => {
  expect(lacking(({ tokenScale }) => tokenScale > 1)).toEqual(MODELS.slice(10));
  expect(claudeFeatures("claude-opus-5-5").tokenScale).toBe(1.3);
});

it("an unknown name gets the strictest reading, an old style of name the oldest", () => {
  expect(claudeFeatures("my-own-model")).toEqual(claudeFeatures("claude-sonnet-5-5"));
  expect(claudeFeatures("claude-3-opus-20240229").stopsAtWindow).toBe(false);
});

import { createAnthropic } from "@ai-sdk/anthropic";
import type { ModelRequest } from "@longhaul/core/models";
import { complete } from "@longhaul/core/models";
import * as sdkSix from "ai";
import { describe, expect, it } from "vitest";
import { type AiSdkModelOptions, aiSdkModel } from "./ai-sdk-model.ts";
import { type AiSdk, loadAiSdk } from "./sdk.ts";

const REQUEST: ModelRequest = { max_tokens: 64, messages: [{ role: "user", content: "When?" }] };

const language = (provider: string, modelId = "m-1"): AiSdkModelOptions["model"] => ({
  specificationVersion: "v4",
  provider,
  modelId,
});

describe("the SDK", () => {
  const failedLoad = (cause: Error): Promise<unknown> =>
    loadAiSdk(() => Promise.reject(cause)).catch((reason: unknown) => reason);

  it("is missing: says so, and how to get it", async () => {
    const cause = Object.assign(new Error("Cannot find package 'ai' imported from here"), {
      code: "ERR_MODULE_NOT_FOUND",
    });
    expect(await failedLoad(cause)).toMatchObject({
      code: "model-sdk-missing",
      message: expect.stringContaining("not installed") as unknown,
      failure: { kind: "sdk-missing", package: "ai" },
      remedy: expect.stringContaining("npm install ai") as unknown,
    });
  });

  it("is there but cannot run here: says why, not that it is missing", async () => {
    const cause = new SyntaxError("The requested module 'node:util' does not provide an export named 'x'");
    expect(await failedLoad(cause)).toMatchObject({
      code: "model-sdk-missing",
      message: expect.stringMatching(/cannot be loaded: The requested module/) as unknown,
      remedy: expect.stringContaining("ai@6") as unknown,
    });
  });

  it("is loaded by itself when it is not given", async () => {
    expect((await loadAiSdk()).streamText).toBe(sdkSix.streamText);
  });

  it("is taken with its own types, as are the models of its providers", () => {
    const options: AiSdkModelOptions = {
      sdk: sdkSix,
      model: createAnthropic({ apiKey: "key" })("claude-opus-4-6"),
    };
    expect(aiSdkModel(options).name).toBe("claude-opus-4-6");
  });

  it("that throws at once fails like any other call", async () => {
    const sdk: AiSdk = {
      streamText: () => {
        throw new Error("no");
      },
      jsonSchema: (schema) => schema,
    };
    const failed = complete(aiSdkModel({ model: "x", sdk }), REQUEST);
    await expect(failed).rejects.toMatchObject({ failure: { kind: "other", retry: false } });
  });
});

describe("capabilities", () => {
  it("what a Claude can do is promised where Anthropic is spoken to", () => {
    expect(aiSdkModel({ model: language("anthropic.messages", "claude-opus-5-5") }).capabilities).toEqual({
      promptCache: true,
      cacheEdits: false,
      contextEdits: true,
      compaction: { onDemand: false, threshold: true },
      boundThinking: true,
      images: true,
      countTokens: "estimate",
    });
  });

  it("only Anthropic takes marks; nothing else is promised", () => {
    const promptCache = (provider: string): boolean =>
      aiSdkModel({ model: language(provider) }).capabilities.promptCache;
    expect(promptCache("anthropic.messages")).toBe(true);
    expect(promptCache("vertex.anthropic.messages")).toBe(true);
    expect(promptCache("openai.responses")).toBe(false);
    expect(aiSdkModel({ model: "google/gemini-3", images: false }).capabilities).toEqual({
      promptCache: false,
      cacheEdits: false,
      contextEdits: false,
      compaction: { onDemand: false, threshold: false },
      boundThinking: false,
      images: false,
      countTokens: "estimate",
    });
  });

  it("a name can be given; the model's own id is the default", () => {
    expect(aiSdkModel({ model: language("openai.chat", "gpt-5") }).name).toBe("gpt-5");
    expect(aiSdkModel({ model: "openai/gpt-5", name: "house-model" }).name).toBe("house-model");
  });
});

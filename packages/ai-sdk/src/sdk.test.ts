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

describe("loading and calling the AI SDK", () => {
  const failedLoad = (cause: Error): Promise<unknown> =>
    loadAiSdk(() => Promise.reject(cause)).catch((reason: unknown) => reason);

  it("explains how to install the AI SDK when it is missing", async () => {
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

  it("reports why an installed AI SDK cannot be loaded, instead of calling it missing", async () => {
    const cause = new SyntaxError("The requested module 'node:util' does not provide an export named 'x'");
    expect(await failedLoad(cause)).toMatchObject({
      code: "model-sdk-missing",
      message: expect.stringMatching(/cannot be loaded: The requested module/) as unknown,
      remedy: expect.stringContaining("ai@6") as unknown,
    });
  });

  it("loads the AI SDK when the caller passes none", async () => {
    expect((await loadAiSdk()).streamText).toBe(sdkSix.streamText);
  });

  it("accepts the real types of the AI SDK and of its provider models", () => {
    const options: AiSdkModelOptions = {
      sdk: sdkSix,
      model: createAnthropic({ apiKey: "key" })("claude-opus-4-6"),
    };
    expect(aiSdkModel(options).name).toBe("claude-opus-4-6");
  });

  it("reports a failed call when the AI SDK throws immediately", async () => {
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

describe("capabilities and name of an AI SDK model", () => {
  it("declares the capabilities of a Claude model behind Anthropic's provider", () => {
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

  it("declares a prompt cache for Anthropic's providers only", () => {
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

  it("an AI SDK model has the name that the caller gives, or its model id by default", () => {
    expect(aiSdkModel({ model: language("openai.chat", "gpt-5") }).name).toBe("gpt-5");
    expect(aiSdkModel({ model: "openai/gpt-5", name: "house-model" }).name).toBe("house-model");
  });
});

import { describe, expect, it } from "vitest";
import { chatModel } from "./model-choice.ts";

const load = (): Promise<unknown> => import("@anthropic-ai/sdk");
const named = (name: string, environment = {}, loadSdk = load, baseUrl?: string) =>
  chatModel(name, { environment, baseUrl, loadSdk });

describe("chatModel", () => {
  it("says before the first call that there is no key, what to set, and that there is a tour", async () => {
    await expect(named("claude-sonnet-5-5")).rejects.toMatchObject({
      code: "model-authentication",
      message: "There is no key for claude-sonnet-5-5.",
      remedy: expect.stringMatching(
        /ANTHROPIC_API_KEY[\s\S]*openai:gpt-5[\s\S]*--base-url[\s\S]*chat --demo/,
      ),
    });
  });

  it.each([
    [{ ANTHROPIC_API_KEY: "k" }, undefined],
    [{ ANTHROPIC_AUTH_TOKEN: "t" }, undefined],
    [{ ANTHROPIC_BASE_URL: "http://127.0.0.1:1" }, undefined],
    [{}, "http://127.0.0.1:1"],
  ])("takes %j with the address %s", async (environment, baseUrl) => {
    await expect(named("claude-sonnet-5-5", environment, load, baseUrl)).resolves.toMatchObject({
      name: "claude-sonnet-5-5",
    });
  });

  it("leaves keys of other providers to their own packages", async () => {
    await expect(named("openai:gpt-5")).resolves.toMatchObject({ name: "gpt-5" });
  });

  it("says which package is missing", async () => {
    const missing = async (): Promise<never> => {
      throw Object.assign(new Error("Cannot find package '@anthropic-ai/sdk'"), {
        code: "ERR_MODULE_NOT_FOUND",
      });
    };
    await expect(named("claude-sonnet-5-5", {}, missing)).rejects.toMatchObject({
      code: "model-sdk-missing",
      remedy: expect.stringMatching(/npm install @anthropic-ai\/sdk[\s\S]*chat --demo/),
    });
    await expect(named("groq:llama")).rejects.toMatchObject({ code: "model-sdk-missing" });
  });

  it("does not take the built-in summariser for a model to talk with", async () => {
    await expect(named("built-in")).rejects.toMatchObject({ code: "model-unknown-model" });
  });
});

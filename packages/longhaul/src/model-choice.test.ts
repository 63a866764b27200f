import { describe, expect, it } from "vitest";
import type { RunningProgram } from "./install-command.ts";
import { chatModel } from "./model-choice.ts";

const load = (): Promise<unknown> => import("@anthropic-ai/sdk");
const named = (name: string, environment = {}, loadSdk = load, baseUrl?: string) =>
  chatModel(name, { environment, baseUrl, loadSdk });

describe("chatModel", () => {
  it("rejects an Anthropic model without an API key, and names the environment variable and the tour", async () => {
    await expect(named("claude-sonnet-5-5")).rejects.toMatchObject({
      code: "model-authentication",
      message: "Not allowed to call claude-sonnet-5-5: there is no API key.",
      remedy: expect.stringMatching(
        /ANTHROPIC_API_KEY[\s\S]*openai:gpt-5[\s\S]*--base-url[\s\S]*chat --demo/,
      ),
    });
  });

  it("lists the known providers when the provider is unknown, without asking for a key", async () => {
    await expect(named("nosuch:thing")).rejects.toMatchObject({
      code: "provider-unknown",
      message: 'Unknown provider "nosuch" in the model name nosuch:thing.',
      remedy: expect.stringMatching(/openai[\s\S]*--base-url/),
    });
  });

  it.each([
    [{ ANTHROPIC_API_KEY: "k" }, undefined],
    [{ ANTHROPIC_AUTH_TOKEN: "t" }, undefined],
    [{ ANTHROPIC_BASE_URL: "http://127.0.0.1:1" }, undefined],
    [{}, "http://127.0.0.1:1"],
  ])(
    "accepts an Anthropic model in the environment %j with the base URL %s",
    async (environment, baseUrl) => {
      await expect(named("claude-sonnet-5-5", environment, load, baseUrl)).resolves.toMatchObject({
        name: "claude-sonnet-5-5",
      });
    },
  );

  it("accepts a model of another provider without checking its API key", async () => {
    await expect(named("openai:gpt-5")).resolves.toMatchObject({ name: "gpt-5" });
  });

  it("names the package to install if the SDK of a provider is missing", async () => {
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

  describe("chatModel in a global installation", () => {
    const AI = '{"version":"6.0.3"}';
    const OPENAI = '{"version":"3.0.7","dependencies":{"@ai-sdk/provider":"3.0.19"}}';
    const program = (files: Readonly<Record<string, string>> = {}): RunningProgram => ({
      file: "/usr/lib/node_modules/longhaul/dist/main.js",
      platform: "linux",
      currentFolder: "/home/dev/app",
      nodePath: "/usr/bin/node",
      nodeVersion: "20.19.0",
      environment: {},
      args: [],
      read: (path) => files[path],
    });
    const TOUR = "To try longhaul without a key, a network or a package, run `longhaul chat --demo`.";

    it("suggests the global install command for packages of another provider, and then the tour", async () => {
      const options = { environment: {}, baseUrl: undefined, program: program() };
      await expect(chatModel("openai:gpt-5", options)).rejects.toMatchObject({
        message: "Cannot use models of openai: the packages ai and @ai-sdk/openai are not installed.",
        remedy: `Run this command and try again:\n  npm install -g ai@6 @ai-sdk/openai@3\n${TOUR}`,
      });
    });

    it("suggests the global install command for the missing Anthropic SDK", async () => {
      const loadSdk = async (): Promise<never> => {
        throw Object.assign(new Error("Cannot find package '@anthropic-ai/sdk'"), {
          code: "ERR_MODULE_NOT_FOUND",
        });
      };
      const options = { environment: {}, baseUrl: undefined, program: program(), loadSdk };
      await expect(chatModel("claude-sonnet-5-5", options)).rejects.toMatchObject({
        message: "Cannot use the Anthropic SDK: the package @anthropic-ai/sdk is not installed.",
        remedy: `Run this command and try again:\n  npm install -g @anthropic-ai/sdk@1\n${TOUR}`,
      });
    });

    it("rejects a provider package that exports no function to create a provider", async () => {
      const files = {
        "/usr/lib/node_modules/ai/package.json": AI,
        "/usr/lib/node_modules/@ai-sdk/openai/package.json": OPENAI,
      };
      const importPackage = async (): Promise<object> => ({ createdAt: 1 });
      const options = { environment: {}, baseUrl: undefined, program: program(files), importPackage };
      await expect(chatModel("openai:gpt-5", options)).rejects.toMatchObject({
        code: "model-sdk-missing",
        message:
          "Cannot use models of openai: @ai-sdk/openai cannot be loaded: it exports no function that creates a provider.",
        remedy: expect.stringContaining("npm install -g @ai-sdk/openai@3\n"),
      });
    });
  });

  it("rejects the built-in summarizer as a chat model", async () => {
    await expect(named("built-in")).rejects.toMatchObject({ code: "model-cannot-chat" });
  });
});

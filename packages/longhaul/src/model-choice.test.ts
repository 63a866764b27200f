import { describe, expect, it } from "vitest";
import type { RunningProgram } from "./install-command.ts";
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

  it("names the known providers for an unknown one, and asks for no key", async () => {
    await expect(named("nosuch:thing")).rejects.toMatchObject({
      code: "model-unknown-model",
      message: "There is no provider nosuch.",
      remedy: expect.stringMatching(/openai[\s\S]*--base-url/),
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

  describe("when longhaul is installed globally", () => {
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
    const TOUR = "`longhaul chat --demo` is a tour that needs no key, no network and no package.";

    it("names the global command for another provider, and then the tour", async () => {
      const options = { environment: {}, baseUrl: undefined, program: program() };
      await expect(chatModel("openai:gpt-5", options)).rejects.toMatchObject({
        message: "Models of openai need the packages ai and @ai-sdk/openai, which are not installed.",
        remedy: `Run this command and try again:\n  npm install -g ai@6 @ai-sdk/openai@3\n${TOUR}`,
      });
    });

    it("names the global command for the SDK of the default provider too", async () => {
      const loadSdk = async (): Promise<never> => {
        throw Object.assign(new Error("Cannot find package '@anthropic-ai/sdk'"), {
          code: "ERR_MODULE_NOT_FOUND",
        });
      };
      const options = { environment: {}, baseUrl: undefined, program: program(), loadSdk };
      await expect(chatModel("claude-sonnet-5-5", options)).rejects.toMatchObject({
        message: "Calls to Claude need the package @anthropic-ai/sdk, which is not installed.",
        remedy: `Run this command and try again:\n  npm install -g @anthropic-ai/sdk@1\n${TOUR}`,
      });
    });

    it("names a provider package that cannot create a provider", async () => {
      const files = {
        "/usr/lib/node_modules/ai/package.json": AI,
        "/usr/lib/node_modules/@ai-sdk/openai/package.json": OPENAI,
      };
      const importPackage = async (): Promise<object> => ({ createdAt: 1 });
      const options = { environment: {}, baseUrl: undefined, program: program(files), importPackage };
      await expect(chatModel("openai:gpt-5", options)).rejects.toMatchObject({
        code: "model-sdk-missing",
        message:
          "The package @ai-sdk/openai cannot be loaded: it exports no function that creates a provider.",
        remedy: expect.stringContaining("npm install -g @ai-sdk/openai@3\n"),
      });
    });
  });

  it("does not take the built-in summarizer for a model to talk with", async () => {
    await expect(named("built-in")).rejects.toMatchObject({ code: "model-unknown-model" });
  });
});

import { describe, expect, it, vi } from "vitest";
import type { RunningProgram } from "./install-command.ts";
import { AI_SDK_PROVIDERS, loadProvider } from "./provider-packages.ts";

type Manifests = Readonly<Record<string, object>>;

const AI_5 = { version: "5.0.9", engines: { node: ">=18" } };
const AI_6 = { version: "6.0.3", engines: { node: ">=18" } };
const AI_7 = { version: "7.0.1", engines: { node: ">=22" } };
const AI_8 = { version: "8.0.0", engines: { node: ">=24" } };
const OPENAI_2 = { version: "2.0.5", dependencies: { "@ai-sdk/provider": "2.0.1" } };
const OPENAI_3 = { version: "3.0.7", dependencies: { "@ai-sdk/provider": "3.0.19" } };
const OPENAI_4 = {
  version: "4.0.2",
  engines: { node: ">=22" },
  dependencies: { "@ai-sdk/provider": "4.0.37" },
};

const program = (manifests: Manifests, nodeVersion: string): RunningProgram => ({
  file: "/app/node_modules/longhaul/dist/main.js",
  platform: "linux",
  currentFolder: "/app",
  nodePath: "/usr/bin/node",
  nodeVersion,
  environment: {},
  args: [],
  read: (path) => {
    const name = /^\/app\/node_modules\/(.+)\/package\.json$/.exec(path)?.[1];
    if (name === undefined) return path === "/app/package.json" ? "{}" : undefined;
    return manifests[name] === undefined ? undefined : JSON.stringify(manifests[name]);
  },
});

const loadable = async (name: string): Promise<unknown> => ({ name });

const failureOf = async (
  manifests: Manifests,
  nodeVersion = "20.19.0",
  load: (name: string) => Promise<unknown> = loadable,
): Promise<unknown> => {
  const failure = await loadProvider("openai", program(manifests, nodeVersion), load).catch(
    (error: unknown) => error,
  );
  const { message, remedy, code } = failure as { message?: string; remedy?: string; code?: string };
  return code === undefined ? failure : { code, message, command: remedy?.split("\n  ")[1] };
};

const missing = (message: string, command: string): object => ({
  code: "model-sdk-missing",
  message,
  command,
});

describe("loadProvider, which loads ai and the package of a provider", () => {
  it.each([
    ["20.19.0", AI_6, OPENAI_3],
    ["20.19.0", AI_6, OPENAI_2],
    ["20.19.0", AI_7, OPENAI_4],
    ["22.0.0", AI_7, OPENAI_3],
    ["24.0.0", AI_7, OPENAI_4],
    ["22.0.0", AI_6, { version: "3.0.0" }],
  ])(
    "loads ai and the provider package on Node %s if the versions %j and %j are installed",
    async (nodeVersion, ai, openai) => {
      expect(await failureOf({ ai, "@ai-sdk/openai": openai }, nodeVersion)).toEqual({
        sdk: { name: "ai" },
        provider: { name: "@ai-sdk/openai" },
      });
    },
  );

  it("suggests one command for ai and the provider package, in versions that run on Node 20", async () => {
    expect(await failureOf({})).toEqual(
      missing(
        "Cannot use models of openai: the packages ai and @ai-sdk/openai are not installed.",
        "npm install ai@6 @ai-sdk/openai@3",
      ),
    );
  });

  it("suggests the newest versions of ai and the provider package on Node 22", async () => {
    expect(await failureOf({}, "22.1.0")).toMatchObject({ command: "npm install ai@7 @ai-sdk/openai@4" });
  });

  it("loads neither ai nor the provider package if one of them is missing", async () => {
    const load = vi.fn(loadable);
    await failureOf({ ai: AI_6 }, "22.0.0", load);
    expect(load).not.toHaveBeenCalled();
  });

  it.each([
    ["20.19.0", AI_6, "@ai-sdk/openai@3"],
    ["20.19.0", AI_7, "@ai-sdk/openai@3"],
    ["22.0.0", AI_6, "@ai-sdk/openai@3"],
    ["22.0.0", AI_7, "@ai-sdk/openai@4"],
  ])(
    "suggests a version of the provider package that works on Node %s with the installed ai %j",
    async (nodeVersion, ai, wanted) => {
      expect(await failureOf({ ai }, nodeVersion)).toEqual(
        missing(
          "Cannot use models of openai: the package @ai-sdk/openai is not installed.",
          `npm install ${wanted}`,
        ),
      );
    },
  );

  it.each([
    ["20.19.0", "ai@6"],
    ["22.0.0", "ai@7"],
  ])(
    "suggests only a version of ai on Node %s if an older provider package is already installed",
    async (nodeVersion, wanted) => {
      expect(await failureOf({ "@ai-sdk/openai": OPENAI_3 }, nodeVersion)).toEqual(
        missing("Cannot use models of openai: the package ai is not installed.", `npm install ${wanted}`),
      );
    },
  );

  it("suggests an older version of a provider package that is too new for ai", async () => {
    expect(await failureOf({ "@ai-sdk/openai": OPENAI_4 })).toEqual(
      missing(
        "Cannot use models of openai: the package ai is not installed. @ai-sdk/openai 4.0.2 does not work with ai 6.",
        "npm install ai@6 @ai-sdk/openai@3",
      ),
    );
    expect(await failureOf({ ai: AI_6, "@ai-sdk/openai": OPENAI_4 }, "22.0.0")).toEqual(
      missing(
        "Cannot use models of openai: @ai-sdk/openai 4.0.2 does not work with ai 6.",
        "npm install @ai-sdk/openai@3",
      ),
    );
  });

  it.each([
    [AI_5, "20.19.0", "npm install ai@6"],
    [AI_8, "24.0.0", "npm install ai@7"],
  ])(
    "names the versions of ai that longhaul supports if the unsupported ai %j is installed",
    async (ai, node, command) => {
      expect(await failureOf({ ai, "@ai-sdk/openai": OPENAI_3 }, node)).toEqual(
        missing(
          `Cannot use models of openai: longhaul works with ai 6 and 7, but version ${ai.version} is installed.`,
          command,
        ),
      );
    },
  );

  it("names the Node version that a package needs if the current Node cannot load the package", async () => {
    const load = async (name: string): Promise<unknown> => {
      if (name === "ai") throw new SyntaxError("The requested module 'node:util' does not provide it");
      return {};
    };
    expect(await failureOf({ ai: AI_7, "@ai-sdk/openai": OPENAI_4 }, "20.19.0", load)).toEqual(
      missing(
        "Cannot use models of openai: ai 7.0.1 needs Node 22 or newer, and this is Node 20.19.0. @ai-sdk/openai 4.0.2 does not work with ai 6.",
        "npm install ai@6 @ai-sdk/openai@3",
      ),
    );
  });

  it("reports the reason when a package cannot be loaded on a supported Node", async () => {
    const load = async (name: string): Promise<unknown> => {
      if (name === "ai") return {};
      throw Object.assign(
        new Error("Cannot find package 'zod' imported from /app/node_modules/@ai-sdk/openai/index.js"),
        { code: "ERR_MODULE_NOT_FOUND" },
      );
    };
    expect(await failureOf({ ai: AI_6, "@ai-sdk/openai": OPENAI_3 }, "20.19.0", load)).toEqual(
      missing(
        "Cannot use models of openai: @ai-sdk/openai cannot be loaded: Cannot find package 'zod' imported from /app/node_modules/@ai-sdk/openai/index.js",
        "npm install @ai-sdk/openai@3",
      ),
    );
  });

  it("treats a package with missing files as not installed", async () => {
    const load = async (): Promise<unknown> => {
      throw Object.assign(
        new Error("Cannot find module '/app/node_modules/ai/dist/index.mjs' imported from /app/x.js"),
        { code: "ERR_MODULE_NOT_FOUND" },
      );
    };
    expect(await failureOf({ ai: AI_6, "@ai-sdk/openai": OPENAI_3 }, "20.19.0", load)).toEqual(
      missing("Cannot use models of openai: the package ai is not installed.", "npm install ai@6"),
    );
  });

  it("suggests a package version for every known provider", async () => {
    for (const provider of AI_SDK_PROVIDERS) {
      await expect(loadProvider(provider, program({}, "20.19.0"), loadable)).rejects.toMatchObject({
        remedy: expect.stringMatching(new RegExp(`ai@6 @ai-sdk/${provider}@[234]$`)),
      });
    }
  });
});

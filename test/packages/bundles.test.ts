import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bundle, bundle, TARGETS } from "../support/bundles.ts";
import { type PackedProject, packPackages } from "../support/packed-packages.ts";

const ADAPTERS = [
  "@longhaul/anthropic",
  "@longhaul/ai-sdk",
  "@longhaul/notes",
  "@longhaul/openai",
  "@longhaul/otel",
];
const targets = Object.keys(TARGETS) as (keyof typeof TARGETS)[];

let project: PackedProject;
beforeAll(() => {
  project = packPackages();
});
afterAll(() => project.remove());

/** Returns a program that keeps every export of these packages. */
function everythingIn(names: readonly string[]): string {
  const specifiers = names
    .flatMap((name) => project.packageNamed(name).entries)
    .filter(({ isPublished }) => isPublished)
    .map(({ specifier }) => specifier);
  return specifiers.map((each, index) => `export * as entry${index} from "${each}";`).join("\n");
}

/** Counts tokens and compacts a conversation with the built-in summarizer. */
const COUNT_AND_COMPACT = `
  import { createCompactor, estimateTokens } from "@longhaul/core";
  import { contextTokens } from "@longhaul/core/measure";

  const messages = Array.from({ length: 60 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: "Message " + index + ": " + "all quiet in the harbour, the crates are counted ".repeat(100),
  }));
  async function run() {
    const events = [];
    const compactor = createCompactor({
      window: { tokens: 60_000 },
      host: { onEvent: (event) => events.push(event.type) },
    });
    const turn = await compactor.before(messages);
    const globals = ["process", "Buffer", "require"].filter((name) => name in globalThis);
    return {
      globals,
      tokens: estimateTokens("all quiet in the harbour"),
      counted: contextTokens([]),
      steps: turn.compaction?.attempts.map(({ step, outcome }) => [step, outcome]),
      isShorter: turn.messages.length < messages.length,
      isCompacted: events.includes("compacted"),
      problem: turn.problem?.message,
    };
  }
  export const result = run();
`;

/** Runs a bundle in a context that has no globals of Node, and returns its result. */
function runBare({ chunks, entry }: Bundle): unknown {
  const folder = join(project.folder, "bare");
  mkdirSync(folder, { recursive: true });
  for (const { name, code } of chunks) writeFileSync(join(folder, name), code);
  const program = join(import.meta.dirname, "bare-context-process.ts");
  const output = execFileSync(
    process.execPath,
    ["--experimental-vm-modules", "--no-warnings", "--import", "tsx", program, folder, entry],
    { encoding: "utf8", stdio: "pipe" },
  );
  return JSON.parse(output);
}

describe("bundles of the packed packages", () => {
  it.each(targets)(
    "every export of core bundles (platform: %s) without an external module",
    async (target) => {
      const { unresolved, warnings, chunks } = await bundle(
        project.folder,
        everythingIn(["@longhaul/core"]),
        target,
      );
      expect({ unresolved, warnings }).toEqual({ unresolved: [], warnings: [] });
      const naming = chunks.filter(({ code }) => /(?:from|import\(?|require\()\s*["']node:/.test(code));
      expect(naming.map(({ name }) => name)).toEqual([]);
    },
  );

  it.each(targets)("every adapter bundles (platform: %s) when its SDK is not installed", async (target) => {
    const { unresolved, warnings } = await bundle(project.folder, everythingIn(ADAPTERS), target);
    expect({ unresolved, warnings }).toEqual({ unresolved: [], warnings: [] });
  });

  it("core and its adapters bundle with rolldown when no SDK is installed", async () => {
    const program = join(project.folder, "everything.mjs");
    writeFileSync(program, everythingIn(["@longhaul/core", ...ADAPTERS]));
    const problems: string[] = [];
    const { output } = await (
      await rolldown({
        input: program,
        platform: "browser",
        logLevel: "warn",
        onLog: (_, { message }) => problems.push(message),
      })
    ).generate();
    const imported = output.flatMap((each) => (each.type === "chunk" ? [...each.imports] : []));
    const names = new Set(output.map(({ fileName }) => fileName));
    expect({ problems, unresolved: imported.filter((each) => !names.has(each)) }).toEqual({
      problems: [],
      unresolved: [],
    });
  });

  it("a bundled adapter names the package to install when its SDK is absent", async () => {
    const made = await bundle(
      project.folder,
      `
      import { anthropicModel } from "@longhaul/anthropic";
      import { aiSdkModel } from "@longhaul/ai-sdk";
      import { complete } from "@longhaul/core";
      const request = { messages: [{ role: "user", content: "hello" }] };
      const model = { specificationVersion: "v3", provider: "none", modelId: "none" };
      const messageOf = (each) => complete(each, request).then(() => "", ({ message }) => message);
      const all = [anthropicModel({ model: "claude-opus-5", apiKey: "none" }), aiSdkModel({ model })];
      console.log(JSON.stringify(await Promise.all(all.map(messageOf))));
      `,
      "node",
    );
    const folder = join(project.folder, "adapters");
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    for (const { name, code } of made.chunks) writeFileSync(join(folder, name), code);
    const entry = join(folder, made.entry);
    const output = execFileSync(process.execPath, [entry], { encoding: "utf8", stdio: "pipe" });
    const [anthropic, aiSdk] = JSON.parse(output) as string[];
    expect(anthropic).toContain("the package @anthropic-ai/sdk is not installed");
    expect(aiSdk).toContain("the package `ai` is not installed");
  });

  it("a browser bundle counts and compacts in a context without the globals of Node", async () => {
    const made = await bundle(project.folder, COUNT_AND_COMPACT);
    expect(runBare(made)).toEqual({
      globals: [],
      tokens: expect.any(Number),
      counted: expect.anything(),
      steps: [["built-in", "written"]],
      isShorter: true,
      isCompacted: true,
    });
  });
});

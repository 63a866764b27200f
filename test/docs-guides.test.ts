import { execFile } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { compactSession, loadSession, writeCompaction } from "@longhaul/sessions";
import { coder, type Simulator, startSimulator, summaries } from "@longhaul/simulator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CliRun } from "./support/cli.ts";
import { demoProject } from "./support/demo-project.ts";
import { guideSession, isCompacted } from "./support/guide-session.ts";
import { codeBlocks } from "./support/markdown.ts";

const ROOT = join(import.meta.dirname, "..");
/**
 * The program that `npx longhaul` starts. Commands and programs use the build, because users get the build.
 */
const CLI = join(ROOT, "packages", "longhaul", "bin", "longhaul.js");
const GUIDES = join(ROOT, "docs", "guides");
const guides = readdirSync(GUIDES).sort();
const blocks = guides.flatMap((guide) =>
  codeBlocks(readFileSync(join(GUIDES, guide), "utf8")).map((block) => ({ ...block, guide })),
);

/**
 * Code that cannot run here. The key is its first line, the value is the reason. The page states the reason
 * too.
 */
const NOT_RUN: Readonly<Record<string, string>> = {
  "npm start   # installs, builds, and shows a compaction on a generated session of 170,000 tokens":
    "installs and builds the repository",
  "npm pack -w longhaul                    # packs the build, so run npm start or npm run build first":
    "installs a global package",
  "npm pack -w @longhaul/core -w @longhaul/anthropic": "installs packages in another project",
  "npm pack -w @longhaul/core -w @longhaul/anthropic -w @longhaul/simulator":
    "installs packages in another project",
  "npm pack -w @longhaul/simulator": "installs packages in another project",
  "npx longhaul sim --record https://api.anthropic.com calls.jsonl --port 8080   # then run your agent with its own key":
    "needs a key, and runs until you stop it",
  "npx longhaul demo                                   # the command line, without an installation":
    "works after the publication",
  "npx longhaul compact latest --in-place --model claude-sonnet-5-5   # a model writes the summary":
    "needs a key",
  "npx longhaul compact latest --in-place --up-to 1f0c9d2e   # summarizes only the messages before that one":
    "needs an id of your session",
  "npx longhaul chat                                  # a new session": "needs a terminal",
  "npx longhaul chat --demo                            # a guided tour: no key, no network, about a minute":
    "needs a terminal, or runs until you stop it",
};
/** Final output of each program, in page order. */
const PRINTED: Readonly<Record<string, readonly RegExp[]>> = {
  "choose-a-policy.md": [
    /^defaults: compacts from \d+ tokens on\n[\s\S]*after an overflow only: compacts from \d+ tokens on\n$/,
    /^longhaul \{\} \d+\.\d\d \d+\nlonghaul \{"form":"off"\} \d+\.\d\d \d+\n$/,
  ],
  "read-the-ledger.md": [/Facts found in them: \d+/],
  "run-the-agent.md": [/answered after \d+ calls\n$/, /^Read .*\btides\n$/, /^\d+\n$/, /^true\n$/],
  "test-your-agent.md": [
    /^Any other call\nA short title\nIt is sunny\.\n$/,
    /^The agent sees: \w+\ncut\n$/,
    /^Two\.\n404 .*differs at messages\[0\]\.content: recorded .*First.*, sent .*Third.*\n1 1\n$/,
  ],
  "use-it-in-your-loop.md": [
    /\w/,
    /results-cleared[\s\S]*compacted[\s\S]*\d+ calls, 0 of them refused\n$/,
    /^text \d+\n$/,
    /^1 entries, \d+ tokens\n$/,
  ],
  "write-a-hook.md": [/^true \d+\n$/],
};

/**
 * Declarations for the code on the first screen of the README. That code uses these names without declaring
 * them.
 */
const README_NAMES = `
import { anthropicModel } from "@longhaul/anthropic";
import type { ApiMessage, ModelReply, ToolResultBlock } from "@longhaul/core";
const model = anthropicModel({ model: "claude-sonnet-5-5" });
const tools = [{ name: "Read", description: "Reads a file", input_schema: { type: "object" } }] as const;
let messages: readonly ApiMessage[] = [{ role: "user", content: "Read the sources." }];
async function runTools({ content }: ModelReply): Promise<readonly ApiMessage[]> {
  const uses = content.filter((block) => block.type === "tool_use");
  const results = uses.map(({ id }): ToolResultBlock => ({ type: "tool_result", tool_use_id: id, content: "sources" }));
  const reply = { role: "assistant", content } as const;
  return results.length === 0 ? [reply] : [reply, { role: "user", content: results }];
}
`;
const readmeProgram = codeBlocks(readFileSync(join(ROOT, "README.md"), "utf8"))
  .filter(({ language }) => language === "ts")
  .map(({ code }) => `${README_NAMES}${code}console.log(messages.map(({ role }) => role).join(" "));\n`)
  .join("");

/** Code blocks of the other pages. They omit common declarations, which the test adds. */
const fragments = readdirSync(join(ROOT, "docs"))
  .filter((name) => name.endsWith(".md"))
  .flatMap((name) => codeBlocks(readFileSync(join(ROOT, "docs", name), "utf8")))
  .filter(({ language }) => language === "ts");
const NAMES = `
declare const model: import("@longhaul/core").Model;
declare const request: import("@longhaul/core/compaction").RequestFrame;
declare const transcript: import("@longhaul/core").TranscriptPort;
declare const tools: readonly import("@longhaul/core").ToolDefinition[];
declare const system: string;
declare const max_tokens: number;
declare const sessionPath: string;
declare const sessionId: string;
declare const cwd: string;
declare const block: import("@longhaul/core").ToolUseBlock;
declare const signal: AbortSignal;
declare const log: (event: import("@longhaul/core").CompactorEvent) => void;
`;

let home: string;
let project: string;
let simulator: Simulator;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "longhaul-guides-"));
  project = join(home, "harbour");
  mkdirSync(join(home, "bin"));
  // Imitates npx in a project that has longhaul installed, and a global installation.
  const start = `exec "${process.execPath}" "${CLI}" "$@"\n`;
  writeProgram("npx", `#!/bin/sh\n[ "$1" = longhaul ] || exit 64\nshift\n${start}`);
  writeProgram("longhaul", `#!/bin/sh\n${start}`);
  simulator = await startSimulator({ behaviors: [summaries(), coder({ turns: 3, inventsPaths: true })] });
});
afterAll(async () => {
  await simulator.close();
  rmSync(home, { recursive: true, force: true });
});

function writeProgram(name: string, script: string): void {
  writeFileSync(join(home, "bin", name), script);
  chmodSync(join(home, "bin", name), 0o755);
}

const demos = new Map<number, string>();
const demo = (tokens: number): string => {
  const text = demos.get(tokens) ?? demoProject(project, { approximateTokens: tokens });
  demos.set(tokens, text);
  return text;
};

/** Resets the home folder. The session for the guide's section is the newest one. */
async function begin({
  guide,
  heading,
}: {
  readonly guide: string;
  readonly heading: string;
}): Promise<void> {
  for (const folder of [".longhaul", ".claude"]) rmSync(join(home, folder), { recursive: true, force: true });
  const path = join(home, ".claude", "projects", "-harbour", "704bfcf2-2e1a-429d-a88a-06e03509bd90.jsonl");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, guideSession(guide, heading, demo));
  if (!isCompacted(heading)) return;
  await writeCompaction(await compactSession(await loadSession(path)), { mode: "in-place" });
}

function run(command: string, args: readonly string[], cwd = project): Promise<CliRun> {
  const env = {
    PATH: `${join(home, "bin")}:${dirname(process.execPath)}:${process.env.PATH ?? ""}`,
    HOME: home,
    ANTHROPIC_API_KEY: "any",
    ANTHROPIC_BASE_URL: simulator.url,
  };
  return new Promise((resolve) => {
    execFile(command, [...args], { cwd, env, encoding: "utf8" }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    );
  });
}

describe("the code blocks of the guides", () => {
  it("every code block that a guide marks as not run is listed with its reason in this test", () => {
    const marked = blocks.filter(({ notRun }) => notRun !== undefined);
    expect(Object.fromEntries(marked.map(({ code, notRun }) => [code.split("\n")[0], notRun]))).toEqual(
      NOT_RUN,
    );
    const languages = new Set(blocks.map(({ language }) => language));
    expect([...languages].filter((language) => !["sh", "ts", "text", "json"].includes(language))).toEqual([]);
  });
});

const shell = blocks.filter(({ language, notRun }) => language === "sh" && notRun === undefined);
const sections = [...new Set(shell.map(({ guide, heading }) => `${guide}: ${heading}`))];

/** Commands that write print which session `latest` is. Matches this line. */
const NAMED_LATEST = /^longhaul: The latest session is .*\n/gm;

/** Commands of a section build on each other. Each section starts with a fresh session. */
describe.skipIf(process.platform === "win32")("the commands of the guides", () => {
  it.each(sections)("the commands of a guide section run and print output (%s)", async (section) => {
    const own = shell.filter(({ guide, heading }) => `${guide}: ${heading}` === section);
    await begin(own[0] ?? { guide: "", heading: "" });
    for (const { code } of own) {
      const { code: exit, stdout, stderr } = await run("sh", ["-eu", "-c", code]);
      const complaints = stderr.replace(NAMED_LATEST, "");
      expect({ exit, complaints }, `${code}\n${stdout}`).toEqual({ exit: 0, complaints: "" });
      expect(stdout).not.toBe("");
    }
  });
});

describe("the programs of the guides", () => {
  const programs = blocks
    .filter(({ language }) => language === "ts")
    .map((block, index) => ({ ...block, file: `program-${index}.ts` }));
  /** Returns true for a program that imports the private package, which has no build. */
  const isPrivate = ({ code }: { readonly code: string }): boolean => code.includes('from "@longhaul/lab"');
  /** Returns the test runner of a program that consists of tests. */
  const runnerOf = ({ code }: { readonly code: string }): string | undefined =>
    /from "(vitest|node:test)"/.exec(code)?.[1];
  let folder: string;
  beforeAll(() => {
    folder = join(home, "programs");
    mkdirSync(join(folder, "node_modules", "@anthropic-ai"), { recursive: true });
    for (const scope of ["@types", "@opentelemetry"]) mkdirSync(join(folder, "node_modules", scope));
    for (const name of [
      "@longhaul",
      "@anthropic-ai/sdk",
      "@types/node",
      "@opentelemetry/api",
      "openai",
      "vitest",
      "zod",
    ]) {
      symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
    }
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, "tsconfig.base.json"), "utf8"));
    // The guides show programs, not modules that others import, so these compiler options are off.
    const lenient = { isolatedDeclarations: false, declaration: false, noUnusedLocals: false };
    const options = { ...compilerOptions, ...lenient, types: ["node"] };
    const own = programs.filter(isPrivate).map(({ file }) => file);
    writeFileSync(
      join(folder, "tsconfig.json"),
      // Users have the built types, not our sources.
      JSON.stringify({
        compilerOptions: { ...options, customConditions: [] },
        include: ["program-*.ts"],
        exclude: own,
      }),
    );
    writeFileSync(
      join(folder, "tsconfig.private.json"),
      JSON.stringify({ compilerOptions: options, files: own }),
    );
    for (const { file, code } of programs) writeFileSync(join(folder, file), code);
    writeFileSync(join(folder, "program-readme.ts"), readmeProgram);
    writeFileSync(join(folder, "program-names.d.ts"), NAMES);
    for (const [index, { code }] of fragments.entries()) {
      writeFileSync(join(folder, `program-fragment-${index}.ts`), code);
    }
  });

  it("the programs of the guides and the fragments on other pages type-check", async () => {
    const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
    for (const name of ["tsconfig.json", "tsconfig.private.json"]) {
      const { code, stdout } = await run(process.execPath, [compiler, "-p", join(folder, name)], folder);
      expect(stdout).toBe("");
      expect(code).toBe(0);
    }
  });

  it("the programs of the guides run and print the expected output", async () => {
    const mark = "=== next program";
    const tsx = join(ROOT, "node_modules", "tsx", "dist", "esm", "index.mjs");
    const printed = new Map<string, string>();
    // Runs all programs in one process, because starting a process takes longer than running a program.
    // Programs that import the private package run in a second process.
    const plain = programs.filter((program) => runnerOf(program) === undefined);
    for (const fromSource of [false, true]) {
      const own = plain.filter((program) => isPrivate(program) === fromSource);
      const all = own.map(({ file }) => `await import("./${file}");\nconsole.log("${mark}");\n`).join("");
      const main = join(folder, `all-${fromSource ? "private" : "public"}.ts`);
      writeFileSync(main, all);
      await begin({ guide: "read-the-ledger.md", heading: "In a program" });
      const flags = fromSource ? ["-C", "@longhaul/source"] : [];
      const { code, stdout, stderr } = await run(process.execPath, [...flags, "--import", tsx, main]);
      expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
      const texts = stdout.split(`${mark}\n`);
      for (const [index, { file }] of own.entries()) printed.set(file, texts[index] ?? "");
    }
    const expected = guides.flatMap((guide) => PRINTED[guide] ?? []);
    expect(expected.length).toBe(plain.length);
    for (const [index, { file }] of plain.entries())
      expect(printed.get(file)).toMatch(expected[index] ?? /^$/);
    expect(simulator.requests.invalid).toEqual([]);
  });

  it.each(programs.filter(runnerOf))(
    "the tests that a guide shows pass in their test runner ($guide: $heading)",
    async (program) => {
      const tests = join(folder, program.file.replace(".ts", ".test.ts"));
      writeFileSync(tests, program.code);
      const tsx = join(ROOT, "node_modules", "tsx", "dist", "esm", "index.mjs");
      const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
      const args =
        runnerOf(program) === "vitest"
          ? [vitest, "run", "--root", folder, "--reporter", "verbose"]
          : ["--import", tsx, "--test", tests];
      const { code, stdout, stderr } = await run(process.execPath, args, folder);
      expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
      expect(stdout).toMatch(/2 passed|pass 2/);
      rmSync(tests);
    },
  );

  it("the code on the first screen of the README runs a loop until the model stops calling tools", async () => {
    const tsx = join(ROOT, "node_modules", "tsx", "dist", "esm", "index.mjs");
    const main = join(folder, "program-readme.ts");
    const { code, stdout, stderr } = await run(process.execPath, ["--import", tsx, main]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^user( assistant user)+ assistant\n$/);
    expect(simulator.requests.invalid).toEqual([]);
  });
});

import { execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Simulator, startSimulator } from "@longhaul/simulator";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const SIX = "ai@6 @ai-sdk/openai@3";
const SEVEN = "ai@7 @ai-sdk/openai@4";
const WANTED = Number(process.versions.node.split(".")[0]) >= 22 ? SEVEN : SIX;

let machine: string;
let packed: string;
let simulator: Simulator;

/** Packs the files that would be published. The build runs before the tests. */
beforeAll(() => {
  machine = realpathSync(mkdtempSync(join(tmpdir(), "longhaul-first-use-")));
  const pack = ["pack", "--json", "--ignore-scripts", "--pack-destination", machine];
  const cwd = join(ROOT, "packages", "longhaul");
  const [{ filename }] = JSON.parse(execFileSync("npm", pack, { cwd, encoding: "utf8", stdio: "pipe" }));
  execFileSync("tar", ["-xzf", join(machine, filename), "-C", machine]);
  packed = join(machine, "package");
});
afterAll(() => rmSync(machine, { recursive: true, force: true }));

beforeEach(async () => {
  simulator = await startSimulator();
});
afterEach(() => simulator.close());

/** A way to install longhaul on a machine. Folders are relative to the machine. */
interface Way {
  readonly name: string;
  /** Folder in which the package is installed. */
  readonly home: string;
  /** Folder of its dependencies. The suggested install command later adds packages to this folder. */
  readonly modules: string;
  readonly files?: Readonly<Record<string, object>>;
  /** Path of the program that a person starts. */
  readonly link: string;
  readonly command: () => string;
}

const NPX_ARGS = "longhaul chat -p 'Are you there?' --model openai:gpt-5 --base-url http://127.0.0.1:9";

const WAYS: readonly Way[] = [
  {
    name: "global",
    home: "prefix/lib/node_modules/longhaul",
    modules: "prefix/lib/node_modules",
    link: "prefix/bin/longhaul",
    command: () => `npm install -g ${WANTED} --prefix ${join(machine, "prefix")}`,
  },
  {
    name: "project",
    home: "project/node_modules/longhaul",
    modules: "project/node_modules",
    files: { "project/package.json": { name: "project" } },
    link: "project/node_modules/.bin/longhaul",
    command: () => `npm install ${WANTED} --prefix ${join(machine, "project")}`,
  },
  {
    name: "npx",
    home: ".npm/_npx/d3e93eb1/node_modules/longhaul",
    modules: ".npm/_npx/d3e93eb1/node_modules",
    files: { ".npm/_npx/d3e93eb1/package.json": { _npx: { packages: ["longhaul@0.1"] } } },
    link: ".npm/_npx/d3e93eb1/node_modules/.bin/longhaul",
    command: () => `npx -p longhaul@0.1 ${WANTED.replace(/(\S+) (\S+)/, "-p $1 -p $2")} ${NPX_ARGS}`,
  },
  {
    name: "repository",
    home: "repository/packages/longhaul",
    modules: "repository/node_modules",
    files: { "repository/package.json": { workspaces: ["packages/*"] } },
    link: "repository/node_modules/.bin/longhaul",
    command: () => `npm install ${WANTED} --no-save --prefix ${join(machine, "repository")}`,
  },
];

/** Installs longhaul with only its dependencies. They come from this repository, not from the network. */
function install({ home, modules, files = {}, link }: Way): void {
  cpSync(packed, join(machine, home), { recursive: true });
  for (const [path, content] of Object.entries(files))
    writeFileSync(join(machine, path), JSON.stringify(content));
  const { dependencies } = JSON.parse(readFileSync(join(packed, "package.json"), "utf8"));
  for (const name of Object.keys(dependencies)) linkPackage(name, modules);
  linkFile(join(machine, home, "bin", "longhaul.js"), join(machine, link));
}

const linkPackage = (name: string, modules: string): void =>
  linkFile(join(ROOT, "node_modules", name), join(machine, modules, name));

function linkFile(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

/** Creates a folder with hostile packages that must never run. */
function strangeFolder(): string {
  const folder = join(machine, "strange");
  for (const name of ["ai", "@ai-sdk/openai", "@anthropic-ai/sdk"]) {
    const home = join(folder, "node_modules", name);
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "package.json"), JSON.stringify({ name, version: "6.0.0", main: "index.js" }));
    writeFileSync(
      join(home, "index.js"),
      `require("fs").writeFileSync(${JSON.stringify(join(machine, "ran"))}, "");`,
    );
  }
  writeFileSync(join(folder, "package.json"), "{}");
  return folder;
}

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function chat({ link }: Way, args: readonly string[], cwd: string): Promise<Run> {
  const env = {
    PATH: process.env.PATH,
    HOME: machine,
    USERPROFILE: machine,
    ANTHROPIC_API_KEY: "any",
    ANTHROPIC_BASE_URL: simulator.url,
    OPENAI_API_KEY: "any",
  };
  const all = [join(machine, link), "chat", "-p", "Are you there?", ...args];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, all, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const output = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...output }));
  });
}

// Links and folders differ on Windows. The unit test of the function covers the commands for Windows.
describe.skipIf(process.platform === "win32").each(WAYS)(
  "longhaul chat after the first installation ($name)",
  (way) => {
    const OTHER = ["--model", "openai:gpt-5", "--base-url", "http://127.0.0.1:9"];

    it("chat works after its installation with an API key, and names the install command for other providers", async () => {
      install(way);
      const cwd = strangeFolder();

      simulator.reply("Here I am.");
      const [answered, missing] = await Promise.all([chat(way, [], cwd), chat(way, OTHER, cwd)]);
      expect(answered).toEqual({ code: 0, stdout: "Here I am.\n", stderr: "" });
      expect(missing.code).toBe(1);
      expect(missing.stderr).toContain(
        "Cannot use models of openai: the packages ai and @ai-sdk/openai are not installed.",
      );
      expect(missing.stderr.split("\n")).toContain(`  ${way.command()}`);

      // Links the packages that the suggested command would install, without the network.
      linkPackage("ai", way.modules);
      linkPackage("@ai-sdk/openai", way.modules);
      const again = await chat(way, OTHER, cwd);
      expect(again.stderr).toContain("No connection to the provider of gpt-5");
      expect(() => readFileSync(join(machine, "ran"))).toThrow(/ENOENT/);
    });
  },
);

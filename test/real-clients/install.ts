import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const CLAUDE_CODE = "@anthropic-ai/claude-code";
const AGENT_SDK = "@anthropic-ai/claude-agent-sdk";

/** A folder that git ignores. It has one subfolder for each package and version. */
const INSTALLED = fileURLToPath(new URL(".installed/", import.meta.url));

/** Returns the executable of this version of Claude Code. Installs it if it is missing. */
export function installClaudeCode(version: string): string {
  const folder = install(CLAUDE_CODE, version);
  const scope = join(folder, "node_modules", "@anthropic-ai");
  // Install scripts do not run, so the wrapper package has no executable. The package for the platform has
  // it.
  const platform = readdirSync(scope).find((name) => name.startsWith("claude-code-"));
  const binary = join(scope, platform ?? "", process.platform === "win32" ? "claude.exe" : "claude");
  if (platform === undefined || !existsSync(binary)) {
    throw new Error(`${CLAUDE_CODE}@${version} has no program for ${process.platform} ${process.arch}.`);
  }
  return binary;
}

/** Returns the address of the Claude Agent SDK's module, for a dynamic import. */
export function installAgentSdk(version: string): string {
  const folder = install(AGENT_SDK, version, ["--omit=optional"]);
  const packageFolder = join(folder, "node_modules", AGENT_SDK);
  const { main } = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")) as {
    readonly main?: string;
  };
  return pathToFileURL(join(packageFolder, main ?? "sdk.mjs")).href;
}

/** Returns the newest version of Claude Code on npm. Undefined if npm cannot reach a registry. */
export function newestClaudeCode(): string | undefined {
  const { status, stdout } = spawnSync("npm", ["view", CLAUDE_CODE, "version"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

function install(name: string, version: string, more: readonly string[] = []): string {
  const folder = join(INSTALLED, `${name.split("/").at(-1)}-${version}`);
  // npm writes this file last. If the file is missing, an install was interrupted and starts again.
  if (existsSync(join(folder, "node_modules", ".package-lock.json"))) return folder;
  process.stderr.write(`clients: installing ${name}@${version} (once)\n`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ private: true })}\n`);
  const args = ["install", "--ignore-scripts", "--engine-strict=false", "--no-audit", "--no-fund", ...more];
  const { status } = spawnSync("npm", [...args, `${name}@${version}`], {
    cwd: folder,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`npm could not install ${name}@${version}. Its output is above.`);
  return folder;
}

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { existing, install as installIn, installNode as installNodeIn } from "../support/installed.ts";

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

/** Returns the executable of this version of Node. Installs it if it is missing. */
export const installNode = (version: string): string => installNodeIn(INSTALLED, version);

/**
 * Returns the executable of a client whose program is in a package for the platform.
 * @param prefix the beginning of that package's name
 * @param path the program inside that package
 */
export function platformBinary(name: string, version: string, prefix: string, path: string): string {
  const platformPackage = `${prefix}${process.platform}-${process.arch}`;
  return existing(join(install(name, version), "node_modules", platformPackage, path));
}

/**
 * Returns the executable of a client whose package for the platform has it in a folder with the name of a
 * compiler's target.
 */
export function nestedBinary(
  name: string,
  version: string,
  prefix: string,
  parent: string,
  path: string,
): string {
  const targets = platformBinary(name, version, prefix, parent);
  const [target = ""] = readdirSync(targets);
  return existing(join(targets, target, path));
}

const PROGRAMS = fileURLToPath(new URL("programs/", import.meta.url));

/** Copies a program of the folder `programs` beside the packages that it imports, and returns its path. */
export function installProgram(program: string, packages: Readonly<Record<string, string>>): string {
  const [[name, version] = ["", ""], ...others] = Object.entries(packages);
  const more = others.map(([one, its]) => `${one}@${its}`);
  // A package may be installed several times, each time with other packages.
  const beside = more.join("+").replaceAll(/[^\w.+-]+/g, "-");
  const folder = installIn(join(INSTALLED, beside), name, version, more);
  cpSync(PROGRAMS, folder, { recursive: true });
  return join(folder, `${program}.mjs`);
}

/** Installs a package without its install scripts and returns the folder. `more` are arguments of npm. */
export const install = (name: string, version: string, more: readonly string[] = []): string =>
  installIn(INSTALLED, name, version, more);

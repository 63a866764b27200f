/** Packages that heavy suites install on demand into a folder that git ignores. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * Installs a package without its install scripts, if it is missing. Returns the folder that contains
 * `node_modules`.
 * @param root folder that git ignores. It gets one subfolder for each package and version
 * @param more arguments of npm, for example further packages
 */
export function install(root: string, name: string, version: string, more: readonly string[] = []): string {
  const folder = join(root, `${name.split("/").at(-1)}-${version}`);
  // npm writes this file last. If the file is missing, an install was interrupted and starts again.
  if (existsSync(join(folder, "node_modules", ".package-lock.json"))) return folder;
  process.stderr.write(`installing ${name}@${version} (once)\n`);
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

/** Returns the executable of this version of Node. Installs it if it is missing. */
export function installNode(root: string, version: string): string {
  // The package `node` only downloads one of the packages for a platform, in an install script.
  const prefix = process.platform === "darwin" ? "node-bin-" : "node-";
  const name = `${prefix}${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  return existing(join(install(root, name, version), "node_modules", name, "bin", "node"));
}

/**
 * Returns the executable of a package that delivers its program in one package for each platform. Install
 * scripts do not run, so the package itself has no executable.
 * @param scope folder of the packages for the platforms
 * @param prefix beginning of their names
 * @param program path inside the package for the platform
 */
export function installBinary(
  root: string,
  {
    name,
    version,
    scope,
    prefix,
    program,
  }: Readonly<Record<"name" | "version" | "scope" | "prefix" | "program", string>>,
): string {
  const folder = join(install(root, name, version), "node_modules", scope);
  const fits = (each: string): boolean =>
    each.startsWith(prefix + process.platform) && !each.includes("musl");
  const found = readdirSync(folder).find(fits);
  if (found === undefined)
    throw new Error(`${name}@${version} has no program for ${process.platform} ${process.arch}.`);
  return existing(join(folder, found, program));
}

export function existing(path: string): string {
  if (!existsSync(path)) throw new Error(`There is no ${basename(path)} in ${dirname(path)}.`);
  return path;
}

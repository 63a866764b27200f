/** Packages as npm would publish and install them, in an empty project without the network. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Package, readPackages } from "./packages.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const isWindows = process.platform === "win32";

export interface PackedFile {
  /** Path with slashes on every system. */
  readonly path: string;
  readonly size: number;
}

export interface PackedPackage extends Package {
  readonly name: string;
  readonly tarball: string;
  /** Folder in which the package is installed. */
  readonly installed: string;
  readonly files: readonly PackedFile[];
}

export interface PackedProject {
  readonly folder: string;
  readonly packages: readonly PackedPackage[];
  packageNamed(name: string): PackedPackage;
  /** Runs a program inside the project and returns its output. */
  run(code: string): string;
  remove(): void;
}

export function npm(args: readonly string[], cwd: string): string {
  return execFileSync("npm", args, { cwd, encoding: "utf8", stdio: "pipe", shell: isWindows });
}

/** Packs every published package and unpacks it into the `node_modules` of a new project. */
export function packPackages(): PackedProject {
  const folder = mkdtempSync(join(tmpdir(), "longhaul-packages-"));
  const packages = pack(folder);
  for (const { tarball, installed, name, manifest } of packages) {
    mkdirSync(installed, { recursive: true });
    execFileSync("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]);
    // zod is a peer dependency of the agent, because the agent's types contain types of zod.
    const needed = name === "@longhaul/agent" ? ["zod"] : [];
    const others = Object.keys(manifest.dependencies ?? {}).filter((each) => !each.startsWith("@longhaul/"));
    for (const other of [...others, ...needed])
      link(other, join(name === "longhaul" ? installed : folder, "node_modules"));
  }
  return {
    folder,
    packages,
    packageNamed(name) {
      const found = packages.find((each) => each.name === name);
      if (found === undefined) throw new Error(`There is no published package ${name}`);
      return found;
    },
    run(code) {
      const path = join(folder, "program.mjs");
      writeFileSync(path, code);
      return execFileSync(process.execPath, [path], { cwd: folder, encoding: "utf8", stdio: "pipe" });
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function pack(folder: string): readonly PackedPackage[] {
  const published = readPackages().filter(({ manifest }) => !manifest.private);
  const workspaces = published.flatMap(({ manifest }) => ["--workspace", manifest.name]);
  const output = npm(
    ["pack", "--json", "--ignore-scripts", "--pack-destination", folder, ...workspaces],
    ROOT,
  );
  const packed = Object.values(JSON.parse(output)) as {
    name: string;
    filename: string;
    files: PackedFile[];
  }[];
  return published.map((each) => {
    const { name } = each.manifest;
    const result = packed.find((one) => one.name === name);
    if (result === undefined) throw new Error(`npm did not pack ${name}`);
    const tarball = join(folder, result.filename);
    return { ...each, name, tarball, installed: join(folder, "node_modules", name), files: result.files };
  });
}

/**
 * Links an installed third-party package into a folder of modules. The command line has a separate folder,
 * because it includes an SDK that the libraries must not find.
 */
export function link(name: string, modules: string): void {
  const path = join(modules, name);
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { recursive: true, force: true });
  symlinkSync(join(ROOT, "node_modules", name), path, "junction");
}

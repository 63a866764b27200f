import { readFileSync, realpathSync } from "node:fs";
import { type PlatformPath, posix, win32 } from "node:path";
import { fileURLToPath } from "node:url";
import { asList, field, parseJson } from "@longhaul/core/internal/messages";

/**
 * Facts about the running program. They determine which packages the program finds, and which command
 * installs another package.
 */
export interface RunningProgram {
  /** Real path of a file of longhaul. Node looks for packages from there, never from the current folder. */
  readonly file: string;
  readonly platform: string;
  readonly currentFolder: string;
  readonly nodePath: string;
  readonly nodeVersion: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Arguments after the name of the program. */
  readonly args: readonly string[];
  /** Reads a file. Undefined if it is unreadable. */
  readonly read: (path: string) => string | undefined;
}

export const runningProgram = (): RunningProgram => ({
  file: realpathSync(fileURLToPath(import.meta.url)),
  platform: process.platform,
  currentFolder: process.cwd(),
  nodePath: process.execPath,
  nodeVersion: process.versions.node,
  environment: process.env,
  args: process.argv.slice(2),
  read: (path) => {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return undefined;
    }
  },
});

/** Finds the manifest of an installed package like Node does. Undefined if it is not installed. */
export function installedManifest(name: string, program: RunningProgram): unknown {
  const path = pathOf(program);
  for (const folder of foldersAbove(program.file, path)) {
    const text = program.read(path.join(folder, "node_modules", ...name.split("/"), "package.json"));
    if (text !== undefined) return parseJson(text);
  }
  return undefined;
}

/** Returns a remedy with the command after which longhaul finds these packages. */
export function installRemedy(packages: readonly string[], program: RunningProgram): string {
  const place = installPlace(program);
  return place.kind === "npx-cache"
    ? `Run this command instead:\n  ${npxCommand(place.packages, packages, program)}`
    : `Run this command and try again:\n  ${installCommand(place, packages, program)}`;
}

/** The place where longhaul is installed. Each kind of place needs a different command to add a package. */
type InstallPlace =
  | { readonly kind: "global"; readonly prefix: string }
  | { readonly kind: "project"; readonly folder: string }
  /** A folder that npx created for one set of packages. */
  | { readonly kind: "npx-cache"; readonly packages: readonly string[] }
  | { readonly kind: "repository"; readonly folder: string };

const MODULES = "node_modules";

function installPlace(program: RunningProgram): InstallPlace {
  const path = pathOf(program);
  const segments = program.file.split(path.sep);
  const depth = segments.indexOf(MODULES);
  if (depth === -1) return { kind: "repository", folder: workspaceRoot(program) };
  const folder = segments.slice(0, depth).join(path.sep) || path.sep;
  const manifest = program.read(path.join(folder, "package.json"));
  if (path.basename(path.dirname(folder)) === "_npx") {
    const packages = asList(field(field(parseJson(manifest ?? ""), "_npx"), "packages"));
    const named = packages.filter((name) => typeof name === "string");
    return { kind: "npx-cache", packages: named.length === 0 ? ["longhaul"] : named };
  }
  // npm links the programs of a project inside its node_modules folder, and global programs outside the
  // node_modules folder.
  const isWindows = path === win32;
  const prefix = isWindows ? folder : path.dirname(folder);
  const link = isWindows ? path.join(prefix, "longhaul.cmd") : path.join(prefix, "bin", "longhaul");
  const isShaped = isWindows || path.basename(folder) === "lib";
  if (isShaped && (manifest === undefined || program.read(link) !== undefined))
    return { kind: "global", prefix };
  return { kind: "project", folder };
}

/**
 * Finds the nearest parent folder with workspaces. If there is none, finds the nearest parent folder with a
 * manifest.
 */
function workspaceRoot(program: RunningProgram): string {
  const path = pathOf(program);
  const found = foldersAbove(program.file, path).flatMap((folder) => {
    const text = program.read(path.join(folder, "package.json"));
    return text === undefined ? [] : [{ folder, hasWorkspaces: field(parseJson(text), "workspaces") }];
  });
  const root = found.find(({ hasWorkspaces }) => hasWorkspaces !== undefined) ?? found[0];
  return root?.folder ?? path.dirname(program.file);
}

type FixedPlace = Exclude<InstallPlace, { readonly kind: "npx-cache" }>;

function installCommand(place: FixedPlace, packages: readonly string[], program: RunningProgram): string {
  return shellCommand(installWords(place, packages, program), program);
}

function installWords(
  place: FixedPlace,
  packages: readonly string[],
  program: RunningProgram,
): readonly string[] {
  if (place.kind === "global") {
    const prefix = place.prefix === defaultPrefix(program) ? [] : ["--prefix", place.prefix];
    return ["npm", "install", "-g", ...packages, ...prefix];
  }
  const inFolder = (flag: string): readonly string[] =>
    place.folder === program.currentFolder ? [] : [flag, place.folder];
  // Trying another provider must not change the package.json of the repository.
  if (place.kind === "repository")
    return ["npm", "install", ...packages, "--no-save", ...inFolder("--prefix")];
  return packageManagerOf(place.folder, program)(packages, inFolder);
}

/**
 * Returns npm's default folder for global packages. Ignores npm's configuration files, which may name another
 * folder.
 */
function defaultPrefix(program: RunningProgram): string {
  const { environment, nodePath } = program;
  const path = pathOf(program);
  if (environment.npm_config_prefix) return environment.npm_config_prefix;
  if (path === win32) return path.join(environment.APPDATA ?? "", "npm");
  return path.dirname(path.dirname(nodePath));
}

/**
 * Words of a command that adds packages to a project.
 *
 * @param inFolder returns the flag with the folder, or nothing in the current folder.
 */
type AddCommand = (
  packages: readonly string[],
  inFolder: (flag: string) => readonly string[],
) => readonly string[];

const NPM: AddCommand = (packages, inFolder) => ["npm", "install", ...packages, ...inFolder("--prefix")];

/**
 * Pairs of a lock file and the package manager that writes it. Two package managers cannot share a folder.
 */
const BY_LOCK_FILE: readonly (readonly [file: string, add: AddCommand])[] = [
  ["package-lock.json", NPM],
  ["pnpm-lock.yaml", (packages, inFolder) => ["pnpm", ...inFolder("--dir"), "add", ...packages]],
  ["yarn.lock", (packages, inFolder) => ["yarn", ...inFolder("--cwd"), "add", ...packages]],
  ["bun.lock", (packages, inFolder) => ["bun", ...inFolder("--cwd"), "add", ...packages]],
];

function packageManagerOf(folder: string, program: RunningProgram): AddCommand {
  const path = pathOf(program);
  return BY_LOCK_FILE.find(([file]) => program.read(path.join(folder, file)) !== undefined)?.[1] ?? NPM;
}

/** Repeats the npx call with more packages, because no other command can add packages to a folder of npx. */
const npxCommand = (
  present: readonly string[],
  missing: readonly string[],
  program: RunningProgram,
): string =>
  shellCommand(
    ["npx", ...[...present, ...missing].flatMap((name) => ["-p", name]), "longhaul", ...program.args],
    program,
  );

function shellCommand(words: readonly string[], program: RunningProgram): string {
  const quote = pathOf(program) === win32 ? quoteForWindows : quoteForPosix;
  return words.map((word) => (/^[\w@+=:,./~-]+$/.test(word) ? word : quote(word))).join(" ");
}

const quoteForPosix = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
const quoteForWindows = (word: string): string =>
  /^[\w@+=:,./\\~-]+$/.test(word) ? word : `"${word.replaceAll('"', '\\"')}"`;

const pathOf = ({ platform }: RunningProgram): PlatformPath => (platform === "win32" ? win32 : posix);

/** Returns all folders that contain a file, from the nearest to the root. */
function foldersAbove(file: string, path: PlatformPath): readonly string[] {
  const folder = path.dirname(file);
  return folder === file ? [] : [folder, ...foldersAbove(folder, path)];
}

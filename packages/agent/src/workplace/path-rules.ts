import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import { isTooWide } from "@longhaul/sessions";
import type { PathRules, ResolvedPath } from "../workplace.ts";
import { systemCode } from "./file-contents.ts";

interface PathRulesOptions {
  /**
   * Absolute path of the working directory. If it is the home folder, a parent of it or a whole disk, no path
   * counts as inside, because such a folder would be no limit.
   */
  readonly cwd: string;
  /**
   * Folders and files that count as inside. Links in these paths are resolved once, at the start, because
   * nobody allowed the target that a link gets later.
   */
  readonly allowed?: readonly string[] | undefined;
  /** Folder that `~` refers to. */
  readonly home: string;
}

/**
 * Creates the rules. Paths come from a model, so they are never trusted. Unresolvable paths count as outside.
 */
export function pathRules({ cwd, allowed = [], home }: PathRulesOptions): PathRules {
  const meant = (path: string): string => resolve(cwd, withHome(path, home));
  let roots: Promise<Roots> | undefined;
  return {
    resolve: async (path) => {
      const absolute = meant(path);
      roots ??= findRoots(cwd, home, allowed.map(meant));
      const { realCwd, inside } = await roots;
      const displayPath = shortPath(absolute, [cwd, realCwd]);
      const unknown: ResolvedPath = { path: absolute, realPath: absolute, displayPath, isInside: false };
      if (path.includes("\0")) return { ...unknown, problem: "a path cannot contain a NUL character" };
      try {
        const realPath = await realPathOf(absolute);
        return { ...unknown, realPath, isInside: inside.some((root) => isWithin(realPath, root)) };
      } catch (error) {
        return { ...unknown, problem: wordsFor(error) };
      }
    },
  };
}

/**
 * Checks whether a path is within a folder. Both are absolute and have no `..`. A folder is within itself.
 */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Returns the path relative to the first of these folders that contains it. */
export function shortPath(absolute: string, folders: readonly string[]): string {
  const folder = folders.find((each) => isWithin(absolute, each));
  return folder === undefined ? absolute : relative(folder, absolute) || ".";
}

interface Roots {
  readonly realCwd: string;
  readonly inside: readonly string[];
}

async function findRoots(cwd: string, home: string, allowed: readonly string[]): Promise<Roots> {
  const [realCwd, ...others] = await Promise.all([cwd, ...allowed].map(realPathOrNone));
  const inside = (await isTooWide(cwd, home)) ? others : [realCwd, ...others];
  return { realCwd: realCwd ?? cwd, inside: inside.filter((root) => root !== undefined) };
}

/** Resolves a path, or returns undefined. A path that cannot be resolved allows nothing. */
const realPathOrNone = (path: string): Promise<string | undefined> => realPathOf(path).catch(() => undefined);

function withHome(path: string, home: string): string {
  if (path === "~") return home;
  return path.startsWith("~/") || path.startsWith(`~${sep}`) ? join(home, path.slice(2)) : path;
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ["ENAMETOOLONG", "the name is too long for the system"],
  ["ELOOP", "its links form a loop"],
  ["EACCES", "this user has no permission to read a folder in the path"],
  ["EPERM", "this user has no permission to read a folder in the path"],
]);

function wordsFor(error: unknown): string {
  const code = systemCode(error);
  return WORDS.get(code) ?? `it cannot be resolved (${code || String(error)})`;
}

/** Maximum number of links. Linux reports a loop after the same number. */
const MAX_LINKS = 40;

/**
 * Resolves a path as far as it exists. If the file does not exist yet, the result is the place that a write
 * would use. For this, it follows links in the path of the folder and links to a missing target. Rejects with
 * the system's errors.
 */
export async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return await asOnDisk(await followed(path));
  }
}

const isMissing = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(systemCode(error));

/** Resolves name by name, like the system: `..` after a link leads to the parent of the link's target. */
async function followed(path: string): Promise<string> {
  let real = parse(path).root;
  const names = path.slice(real.length).split(sep);
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      real = dirname(real);
      continue;
    }
    const next = join(real, name);
    const target = await targetOf(next);
    if (target === undefined) {
      real = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw Object.assign(new Error("The links form a loop."), { code: "ELOOP" });
    if (isAbsolute(target)) real = parse(target).root;
    names.unshift(...target.split(sep));
  }
  return real;
}

/** Returns the target of a link, or undefined if the path is not a link. */
async function targetOf(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    // EINVAL: the path exists and is not a link.
    if (isMissing(error) || systemCode(error) === "EINVAL") return undefined;
    throw error;
  }
}

/**
 * Returns the existing part of the path in the disk's own spelling, because some disks ignore case in names.
 */
async function asOnDisk(path: string): Promise<string> {
  const folder = dirname(path);
  if (folder === path) return path;
  try {
    return join(await realpath(folder), basename(path));
  } catch (error) {
    if (!isMissing(error)) throw error;
    return join(await asOnDisk(folder), basename(path));
  }
}

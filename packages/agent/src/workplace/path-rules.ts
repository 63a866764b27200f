import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import { isTooWide } from "@longhaul/sessions";
import type { PathRules, ResolvedPath } from "../workplace.ts";
import { systemCode } from "./file-contents.ts";

interface PathRulesOptions {
  /** Absolute. Nothing is inside a wide folder: it would be no limit. */
  readonly cwd: string;
  /** Folders and files that are as good as in it. Links are followed once: what one leads to later was not meant. */
  readonly allowed?: readonly string[] | undefined;
  /** What `~` means. */
  readonly home: string;
}

/** Paths come from a model: they are never trusted, and what cannot be told is outside. */
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
      if (path.includes("\0")) return { ...unknown, problem: "no path can hold a NUL character" };
      try {
        const realPath = await realPathOf(absolute);
        return { ...unknown, realPath, isInside: inside.some((root) => isWithin(realPath, root)) };
      } catch (error) {
        return { ...unknown, problem: wordsFor(error) };
      }
    },
  };
}

/** Both absolute and without `..`. A folder is within itself. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Relative to the first of these folders that it is in. */
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

/** What cannot be resolved allows nothing. */
const realPathOrNone = (path: string): Promise<string | undefined> => realPathOf(path).catch(() => undefined);

function withHome(path: string, home: string): string {
  if (path === "~") return home;
  return path.startsWith("~/") || path.startsWith(`~${sep}`) ? join(home, path.slice(2)) : path;
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ["ENAMETOOLONG", "the name is longer than the system takes"],
  ["ELOOP", "links in it lead in a circle"],
  ["EACCES", "a folder on the way may not be looked into"],
  ["EPERM", "a folder on the way may not be looked into"],
]);

function wordsFor(error: unknown): string {
  const code = systemCode(error);
  return WORDS.get(code) ?? `it cannot be looked up (${code || String(error)})`;
}

/** As many as Linux follows before it calls them a circle. */
const MOST_LINKS = 40;

/**
 * Where a path really is, links followed as far as it exists. Also the name of a file that is not there yet is right:
 * a link in its folder's name, or one that points at nothing, is where a write would go. Rejects as the system does.
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

/** Name by name, as the system walks: `..` behind a link leads to where the link's target lies. */
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
    if (links > MOST_LINKS) throw Object.assign(new Error("Links lead in a circle."), { code: "ELOOP" });
    if (isAbsolute(target)) real = parse(target).root;
    names.unshift(...target.split(sep));
  }
  return real;
}

/** Undefined where there is no link. */
async function targetOf(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    // EINVAL: it is there, and no link.
    if (isMissing(error) || systemCode(error) === "EINVAL") return undefined;
    throw error;
  }
}

/** Some disks know a folder by its name in any case: the part that exists is called what the disk calls it. */
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

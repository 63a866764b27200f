import { join, relative, resolve, sep } from "node:path";
import { isTooWide } from "../../node.ts";
import type { PathRules, ResolvedPath } from "../workplace.ts";
import { realPathOf, systemCode } from "./real-path.ts";

export interface PathRulesOptions {
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

function wordsFor(error: unknown): string {
  switch (systemCode(error)) {
    case "ENAMETOOLONG":
      return "the name is longer than the system takes";
    case "ELOOP":
      return "links in it lead in a circle";
    case "EACCES":
    case "EPERM":
      return "a folder on the way may not be looked into";
    default:
      return `it cannot be looked up (${systemCode(error) || String(error)})`;
  }
}

import type { Dirent } from "node:fs";
import { access, lstat, readdir, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import ignore, { type Ignore } from "ignore";
import { isWithin, shortPath } from "../../workplace/path-rules.ts";
import type { ResolvedPath } from "../../workplace.ts";
import type { FilePlace } from "../files/file-place.ts";
import { type GlobPattern, globPattern } from "./glob-pattern.ts";

interface WalkRequest {
  /** Start folder: absolute, with links resolved. */
  readonly root: string;
  /** Patterns relative to the root. A pattern that begins with `!` excludes its matches. */
  readonly patterns: readonly string[];
  readonly signal: AbortSignal;
  /** Reports the number of files and folders seen so far. */
  onSeen?(count: number): void;
}

interface Walked {
  /** Absolute paths, sorted by name. */
  readonly files: readonly string[];
  /** True if there are more files than the limit, so the list is incomplete. */
  readonly isCut: boolean;
  /** Number of folders that could not be read. */
  readonly unreadable: number;
}

/** Maximum number of files. Without a limit, a disk full of files would exhaust the memory. */
const MAX_FILES = 200_000;
/** Folders to skip unless the search names them: git's data and installed packages. */
const USUALLY_SKIPPED: readonly string[] = [".git", "node_modules"];
/** Number of parallel file system calls. More calls than threads in the system's pool would not be faster. */
const STATS_AT_ONCE = 64;

/**
 * Lists the files below a folder that match the patterns. Does not follow links, because a link could lead
 * out of the folder or in a circle. Skips files that `.gitignore` files exclude, unless the search starts in
 * an excluded folder.
 */
export async function walk(request: WalkRequest): Promise<Walked> {
  const { root, patterns, signal } = request;
  const named = new Set([root, ...patterns].flatMap((text) => text.split(/[\\/{},]/)));
  const skipped = USUALLY_SKIPPED.filter((name) => !named.has(name));
  // If the search names one of the usually skipped folders, the model wants to see its contents. In that case
  // no .gitignore rules apply, because most .gitignore files exclude these folders.
  const rules = skipped.length < USUALLY_SKIPPED.length ? undefined : await rulesAround(root);
  const search = new TreeSearch(request, new Set(skipped), rules);
  await search.visit([]);
  signal.throwIfAborted();
  const files = search.found.sort().map((path) => join(root, path));
  return { files, isCut: search.isCut, unreadable: search.unreadable };
}

/** Returns notes for the model on files and folders that a walk left out. */
export const walkNotes = ({ isCut, unreadable }: Omit<Walked, "files">): readonly string[] => [
  isCut ? "[There are too many files to search. Name a folder in path.]" : "",
  unreadable > 0 ? `[${unreadable} ${unreadable === 1 ? "folder" : "folders"} could not be read.]` : "",
];

/** Sorts by modification time, then by name. */
export async function newestFirst(files: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
  const aged: { readonly file: string; readonly changed: number }[] = [];
  for (let at = 0; at < files.length; at += STATS_AT_ONCE) {
    signal.throwIfAborted();
    const some = files.slice(at, at + STATS_AT_ONCE).map(async (file) => {
      const found = await stat(file).catch(() => undefined);
      return { file, changed: found?.mtimeMs ?? 0 };
    });
    aged.push(...(await Promise.all(some)));
  }
  return aged.sort((a, b) => b.changed - a.changed).map(({ file }) => file);
}

/**
 * Returns the path of a file for display. It starts with the path that the call requested, even if that path
 * is a link. If the result is inside the working directory, it is relative.
 */
export const shownBelow = ({ cwd }: FilePlace, root: ResolvedPath, absolute: string): string =>
  shortPath(resolve(root.path, relative(root.realPath, absolute)), [cwd]);

/**
 * Returns the ignore rules. If the search starts inside an excluded folder, returns undefined, because the
 * model wants the files of that folder.
 */
async function rulesAround(root: string): Promise<IgnoreRules | undefined> {
  const rules = new IgnoreRules((await gitRootOf(root)) ?? root);
  return (await rules.excludes(root)) ? undefined : rules;
}

/**
 * Finds the nearest folder, at or above this one, that has a `.git` entry. In worktrees and submodules,
 * `.git` is a file. Runs no command.
 */
export async function gitRootOf(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const isHere = await access(join(at, ".git")).then(
      () => true,
      () => false,
    );
    if (isHere) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** Walk through a tree. Skipped entries do not count as seen. */
class TreeSearch {
  readonly #request: WalkRequest;
  readonly #rules: IgnoreRules | undefined;
  readonly #skipped: ReadonlySet<string>;
  readonly #wanted: readonly GlobPattern[];
  readonly #unwanted: readonly GlobPattern[];
  #seen = 0;
  /** Matching files relative to the root, with `/` between the names. */
  readonly found: string[] = [];
  isCut = false;
  unreadable = 0;

  constructor(request: WalkRequest, skipped: ReadonlySet<string>, rules: IgnoreRules | undefined) {
    this.#request = request;
    this.#skipped = skipped;
    this.#rules = rules;
    const { patterns } = request;
    this.#wanted = patterns.filter((each) => !each.startsWith("!")).map(globPattern);
    this.#unwanted = patterns
      .filter((each) => each.startsWith("!"))
      .map((each) => globPattern(each.slice(1)));
  }

  /** Searches a folder. `names`: path from the root to the folder. */
  async visit(names: readonly string[]): Promise<void> {
    const below: (readonly string[])[] = [];
    for (const entry of await this.#list(join(this.#request.root, ...names))) {
      const path = [...names, entry.name];
      if (entry.isFile() && this.#isMeant(path)) this.found.push(path.join("/"));
      if (entry.isDirectory() && this.#wanted.some((pattern) => pattern.reaches(path))) below.push(path);
    }
    await Promise.all(below.map((path) => this.visit(path)));
  }

  async #list(folder: string): Promise<readonly Dirent[]> {
    if (this.isCut || this.#request.signal.aborted) return [];
    try {
      // A folder that has become a link meanwhile may lead outside the allowed folders.
      if (!isWithin(await realpath(folder), this.#request.root)) return [];
      const isIgnored = await this.#rules?.filterFor(folder);
      const entries = (await readdir(folder, { withFileTypes: true })).filter(
        (entry) =>
          !(this.#skipped.has(entry.name) && entry.isDirectory()) &&
          isIgnored?.(entry.name, entry.isDirectory()) !== true,
      );
      this.#seen += entries.length;
      this.isCut = this.#seen > MAX_FILES;
      this.#request.onSeen?.(this.#seen);
      return entries;
    } catch {
      this.unreadable++;
      return [];
    }
  }

  #isMeant(path: readonly string[]): boolean {
    return (
      this.#wanted.some((pattern) => pattern.matches(path)) &&
      !this.#unwanted.some((pattern) => pattern.matches(path))
    );
  }
}

/** Maximum size of a `.gitignore` file. Nobody writes a longer one. */
const LONGEST_LIST_BYTES = 1_000_000;

interface Rules {
  readonly folder: string;
  readonly list: Ignore;
}

/** Rules of the `.gitignore` files of one tree. Each file applies to the paths below it. */
class IgnoreRules {
  readonly #top: string;
  readonly #known = new Map<string, Promise<readonly Rules[]>>();

  /**
   * Creates the rules. `.gitignore` files above the folder `top` do not count. Usually `top` is the root of
   * the repository.
   */
  constructor(top: string) {
    this.#top = top;
  }

  /**
   * Returns a filter for the entries of a folder. Callers walk from the top down and never enter an excluded
   * folder.
   */
  async filterFor(folder: string): Promise<(name: string, isFolder: boolean) => boolean> {
    const rules = await this.#rulesFor(folder);
    return (name, isFolder) => isIgnored(rules, join(folder, name), isFolder);
  }

  /** Checks if a folder or any folder above it is excluded. */
  async excludes(folder: string): Promise<boolean> {
    for (let at = folder; isBelow(at, this.#top); at = dirname(at)) {
      if (isIgnored(await this.#rulesFor(dirname(at)), at, true)) return true;
    }
    return false;
  }

  /** Returns the rules for a folder. The rules of the nearest `.gitignore` file come first. */
  #rulesFor(folder: string): Promise<readonly Rules[]> {
    const known = this.#known.get(folder);
    if (known !== undefined) return known;
    const found = this.#read(folder);
    this.#known.set(folder, found);
    return found;
  }

  async #read(folder: string): Promise<readonly Rules[]> {
    const above = isBelow(folder, this.#top) ? await this.#rulesFor(dirname(folder)) : [];
    const text = await listAt(join(folder, ".gitignore")).catch(() => "");
    if (text.trim() === "") return above;
    return [{ folder, list: ignore().add(harmless(text)) }, ...above];
  }
}

/**
 * Reads a `.gitignore` file. Follows no links, like git. Opens no pipes, because a pipe would block forever.
 */
async function listAt(path: string): Promise<string> {
  const found = await lstat(path);
  return found.isFile() && found.size <= LONGEST_LIST_BYTES ? await readFile(path, "utf8") : "";
}

/**
 * Pattern that recognizes a `.gitignore` rule with many stars in one name. The library turns rules into
 * regular expressions, and such a rule could take forever to match a long name.
 */
const MANY_STARS = /(?:\*+[^*/]+){3}\*/;
const LONGEST_RULE_CHARS = 1_000;

const harmless = (text: string): string[] =>
  text.split(/\r?\n/).filter((line) => line.length <= LONGEST_RULE_CHARS && !MANY_STARS.test(line));

function isIgnored(rules: readonly Rules[], path: string, isFolder: boolean): boolean {
  for (const { folder, list } of rules) {
    const inside = relative(folder, path).split(sep).join("/");
    const { ignored, unignored } = list.test(isFolder ? `${inside}/` : inside);
    if (ignored) return true;
    if (unignored) return false;
  }
  return false;
}

const isBelow = (path: string, top: string): boolean => path !== top && isWithin(path, top);

import type { Dirent } from "node:fs";
import { access, lstat, readdir, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import ignore, { type Ignore } from "ignore";
import { isWithin, shortPath } from "../../workplace/path-rules.ts";
import type { ResolvedPath } from "../../workplace.ts";
import type { FilePlace } from "../files/file-place.ts";
import { type GlobPattern, globPattern } from "./glob-pattern.ts";

interface WalkRequest {
  /** Where to begin: absolute, links followed. */
  readonly root: string;
  /** Relative to the root. One that begins with `!` leaves out what it matches. */
  readonly patterns: readonly string[];
  readonly signal: AbortSignal;
  /** How many files and folders were seen so far. */
  onSeen?(count: number): void;
}

interface Walked {
  /** Absolute, in the order of their names. */
  readonly files: readonly string[];
  /** There are more than anybody can look through: these are only some. */
  readonly isCut: boolean;
  /** Folders that could not be looked into. */
  readonly unreadable: number;
}

/** A disk full of files ends in memory otherwise. */
const MOST_FILES = 200_000;
/** What nobody searches unless they say so: what git keeps, and what others wrote. */
const USUALLY_SKIPPED: readonly string[] = [".git", "node_modules"];
/** Looked at together. More than the system has threads for it is of no use. */
const STATS_AT_ONCE = 64;

/**
 * The files below a folder, whatever the patterns say. Links are not followed, so that none leads out or in a circle.
 * Files that `.gitignore` files leave out are left out, unless the search begins there.
 */
export async function walk(request: WalkRequest): Promise<Walked> {
  const { root, patterns, signal } = request;
  const named = new Set([root, ...patterns].flatMap((text) => text.split(/[\\/{},]/)));
  const skipped = USUALLY_SKIPPED.filter((name) => !named.has(name));
  // Whoever names one of these means what is in it, which hardly any .gitignore file lets through.
  const rules = skipped.length < USUALLY_SKIPPED.length ? undefined : await rulesAround(root);
  const search = new TreeSearch(request, new Set(skipped), rules);
  await search.lookInto([]);
  signal.throwIfAborted();
  const files = search.found.sort().map((path) => join(root, path));
  return { files, isCut: search.isCut, unreadable: search.unreadable };
}

/** Notes for the model on files and folders that a walk left out. */
export const walkNotes = ({ isCut, unreadable }: Omit<Walked, "files">): readonly string[] => [
  isCut ? "[There are more files than can be looked through: name a folder in path.]" : "",
  unreadable > 0
    ? `[${unreadable} ${unreadable === 1 ? "folder" : "folders"} could not be looked into.]`
    : "",
];

/** Of the same age: in the order of their names. */
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

/** Found below the real path, shown below the path that was meant: relative where it is in the working directory. */
export const shownBelow = ({ cwd }: FilePlace, root: ResolvedPath, absolute: string): string =>
  shortPath(resolve(root.path, relative(root.realPath, absolute)), [cwd]);

/** Undefined where the search begins in what is left out: then it was asked for. */
async function rulesAround(root: string): Promise<IgnoreRules | undefined> {
  const rules = new IgnoreRules((await gitRootOf(root)) ?? root);
  return (await rules.leavesOut(root)) ? undefined : rules;
}

/** The folder at or above this one that has a `.git`, which is a file in worktrees and submodules. Runs nothing. */
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

/** One walk through a tree. What is skipped is not seen. */
class TreeSearch {
  readonly #request: WalkRequest;
  readonly #rules: IgnoreRules | undefined;
  readonly #skipped: ReadonlySet<string>;
  readonly #wanted: readonly GlobPattern[];
  readonly #unwanted: readonly GlobPattern[];
  #seen = 0;
  /** Files that are meant, relative to the root, with `/` between the names. */
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

  /** `names` lead from the root to the folder. */
  async lookInto(names: readonly string[]): Promise<void> {
    const below: (readonly string[])[] = [];
    for (const entry of await this.#list(join(this.#request.root, ...names))) {
      const path = [...names, entry.name];
      if (entry.isFile() && this.#isMeant(path)) this.found.push(path.join("/"));
      if (entry.isDirectory() && this.#wanted.some((pattern) => pattern.reaches(path))) below.push(path);
    }
    await Promise.all(below.map((path) => this.lookInto(path)));
  }

  async #list(folder: string): Promise<readonly Dirent[]> {
    if (this.isCut || this.#request.signal.aborted) return [];
    try {
      // One that has become a link meanwhile may lead where nobody was asked about.
      if (!isWithin(await realpath(folder), this.#request.root)) return [];
      const isIgnored = await this.#rules?.filterFor(folder);
      const entries = (await readdir(folder, { withFileTypes: true })).filter(
        (entry) =>
          !(this.#skipped.has(entry.name) && entry.isDirectory()) &&
          isIgnored?.(entry.name, entry.isDirectory()) !== true,
      );
      this.#seen += entries.length;
      this.isCut = this.#seen > MOST_FILES;
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

/** A list of more than this was not written by anybody. */
const LONGEST_LIST_BYTES = 1_000_000;

interface Rules {
  readonly folder: string;
  readonly list: Ignore;
}

/** What `.gitignore` files say about the paths of one tree, each about what lies below it. */
class IgnoreRules {
  readonly #top: string;
  readonly #known = new Map<string, Promise<readonly Rules[]>>();

  /** `top`: the folder above which no list counts, as a rule that of the repository. */
  constructor(top: string) {
    this.#top = top;
  }

  /** Whether one thing in a folder is left out. Whoever asks goes from the top down: what is in it is not asked about. */
  async filterFor(folder: string): Promise<(name: string, isFolder: boolean) => boolean> {
    const rules = await this.#rulesFor(folder);
    return (name, isFolder) => isIgnored(rules, join(folder, name), isFolder);
  }

  /** Whether a folder is left out, or anything above it is. */
  async leavesOut(folder: string): Promise<boolean> {
    for (let at = folder; isBelow(at, this.#top); at = dirname(at)) {
      if (isIgnored(await this.#rulesFor(dirname(at)), at, true)) return true;
    }
    return false;
  }

  /** The nearest list first. */
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

/** As git does, no link is followed; and a pipe of that name would be waited for without end. */
async function listAt(path: string): Promise<string> {
  const found = await lstat(path);
  return found.isFile() && found.size <= LONGEST_LIST_BYTES ? await readFile(path, "utf8") : "";
}

/** The library makes regular expressions of them: with more stars in a name, one long name takes it for ever. */
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

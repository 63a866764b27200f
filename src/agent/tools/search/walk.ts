import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { type FileSystemAdapter, glob } from "tinyglobby";
import { isWithin } from "../../workplace/paths.ts";
import { type GlobPattern, globPattern } from "./glob-pattern.ts";
import { IgnoreRules } from "./ignore-rules.ts";

export interface WalkRequest {
  /** Where to begin: absolute, links followed. */
  readonly root: string;
  /** Relative to the root. One that begins with `!` leaves out what it matches. */
  readonly patterns: readonly string[];
  readonly signal: AbortSignal;
  /** How many files and folders were seen so far. */
  onSeen?(count: number): void;
}

export interface Walked {
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

/**
 * The files below a folder, whatever the patterns say. Links are not followed, so that none leads out or in a circle; what `.gitignore` files leave
 * out is left out, unless the search begins there.
 */
export async function walk(request: WalkRequest): Promise<Walked> {
  const { root, patterns, signal } = request;
  const named = new Set([root, ...patterns].flatMap((text) => text.split(/[\\/{},]/)));
  const skipped = USUALLY_SKIPPED.filter((name) => !named.has(name));
  // Whoever names one of these means what is in it, which hardly any .gitignore file lets through.
  const rules = skipped.length < USUALLY_SKIPPED.length ? undefined : await rulesAround(root);
  const view = new FolderView(request, new Set(skipped), rules);
  const found = await glob(["**/*"], {
    cwd: root,
    dot: true,
    expandDirectories: false,
    followSymbolicLinks: false,
    fs: view.fileSystem,
    signal,
  });
  signal.throwIfAborted();
  const files = found.sort().map((path) => join(root, path));
  return { files, isCut: view.isCut, unreadable: view.unreadable };
}

/** Undefined where the search begins in what is left out: then it was asked for. */
async function rulesAround(root: string): Promise<IgnoreRules | undefined> {
  const rules = new IgnoreRules(await repositoryOf(root));
  return (await rules.leavesOut(root)) ? undefined : rules;
}

async function repositoryOf(root: string): Promise<string> {
  for (let at = root; ; at = dirname(at)) {
    if ((await stat(join(at, ".git")).catch(() => undefined)) !== undefined) return at;
    if (dirname(at) === at) return root;
  }
}

/** The file system as a search is to see it: what is skipped is not there. */
class FolderView {
  readonly #request: WalkRequest;
  readonly #rules: IgnoreRules | undefined;
  readonly #skipped: ReadonlySet<string>;
  readonly #wanted: readonly GlobPattern[];
  readonly #unwanted: readonly GlobPattern[];
  #seen = 0;
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

  get fileSystem(): FileSystemAdapter {
    const list = (path: string, _: unknown, done: (error: Error | null, entries: Dirent[]) => void): void => {
      void this.#list(path).then((entries) => done(null, entries));
    };
    return { readdir: list as FileSystemAdapter["readdir"] & {} };
  }

  async #list(folder: string): Promise<Dirent[]> {
    if (this.isCut || this.#request.signal.aborted) return [];
    try {
      const path = join(folder);
      // One that has become a link meanwhile may lead where nobody was asked about.
      if (!isWithin(await realpath(path), this.#request.root)) return [];
      const names = relative(this.#request.root, path)
        .split(sep)
        .filter((name) => name !== "");
      const isIgnored = await this.#rules?.filterFor(stripped(path));
      const entries = (await readdir(path, { withFileTypes: true })).filter(
        (entry) =>
          !(this.#skipped.has(entry.name) && entry.isDirectory()) &&
          isIgnored?.(entry.name, entry.isDirectory()) !== true,
      );
      this.#seen += entries.length;
      this.isCut = this.#seen > MOST_FILES;
      this.#request.onSeen?.(this.#seen);
      return entries.filter((entry) => this.#isMeant([...names, entry.name], entry.isDirectory()));
    } catch {
      this.unreadable++;
      return [];
    }
  }

  #isMeant(path: readonly string[], isFolder: boolean): boolean {
    if (isFolder) return this.#wanted.some((pattern) => pattern.reaches(path));
    return (
      this.#wanted.some((pattern) => pattern.matches(path)) &&
      !this.#unwanted.some((pattern) => pattern.matches(path))
    );
  }
}

/** Folders come with a separator at their end. */
const stripped = (path: string): string => (dirname(path) === path ? path : path.replace(/[\\/]$/, ""));

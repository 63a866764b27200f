import { lstat, readFile } from "node:fs/promises";
import { dirname, join, parse, relative, sep } from "node:path";
import ignore, { type Ignore } from "ignore";

/** A list of more than this was not written by anybody. */
const LONGEST_LIST_BYTES = 1_000_000;

interface Rules {
  readonly folder: string;
  readonly list: Ignore;
}

/** What `.gitignore` files say about the paths of one tree, each about what lies below it. */
export class IgnoreRules {
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

const isBelow = (path: string, top: string): boolean =>
  path !== top && path !== parse(path).root && path.startsWith(top.endsWith(sep) ? top : top + sep);

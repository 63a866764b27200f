import { ruleFolderOf } from "./governing.ts";
import { isLasting, type LoadedMemory, type MemoryReader, type SkippedMemory } from "./memory-reader.ts";
import { type PathPatterns, pathPatterns } from "./path-patterns.ts";
import { absolutePath, isBelow, type PlacedPath } from "./placed-paths.ts";

/** Maximum number of rule files per folder. All of them are read to find their patterns. */
const MAX_RULES = 200;

export interface Rule {
  readonly file: PlacedPath;
  readonly base: string;
  /** Undefined means that the rule applies to everything. */
  readonly patterns: PathPatterns | undefined;
}

type Load = (path: PlacedPath) => Promise<LoadedMemory>;

/** Finds the rules of a project once. Searches again after {@link forget} or after a rule was touched. */
export class RuleFiles {
  readonly #reader: MemoryReader;
  #rules: readonly Rule[] | undefined;

  constructor(reader: MemoryReader) {
    this.#reader = reader;
  }

  forget(): void {
    this.#rules = undefined;
  }

  async governing(
    touched: readonly string[],
    load: Load,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly paths: readonly PlacedPath[]; readonly skipped: readonly SkippedMemory[] }> {
    const { project, ruleFolders } = this.#reader.governance;
    const isOfRules = (relative: string): boolean =>
      ruleFolders.some(({ folder }) => isBelow({ place: project, relative }, folder.relative));
    if (touched.some(isOfRules)) this.forget();
    const skipped: SkippedMemory[] = [];
    const rules = this.#rules ?? (await this.#find(load, signal, skipped));
    const paths = rules.filter((rule) => appliesToAny(rule, touched)).map(({ file }) => file);
    return { paths, skipped };
  }

  /** Finds the rules. Remembers the result only if there was no temporary failure. */
  async #find(
    load: Load,
    signal: AbortSignal | undefined,
    skipped: SkippedMemory[],
  ): Promise<readonly Rule[]> {
    const { governance } = this.#reader;
    const skip = (path: PlacedPath, reason: string): unknown =>
      skipped.push({ path: absolutePath(path), reason });
    const found: Rule[] = [];
    let isWhole = true;
    for (const { folder, base } of governance.ruleFolders) {
      const listed = await this.#reader.list(folder, { signal });
      if ("reason" in listed) {
        skip(folder, listed.reason);
        isWhole = false;
        continue;
      }
      const files = listed.filter((file) => ruleFolderOf(file, governance)?.folder === folder);
      if (files.length > MAX_RULES) skip(folder, "too-many-rules");
      const asked = files.slice(0, MAX_RULES).map(async (file) => ({ file, memory: await load(file) }));
      for (const { file, memory } of await Promise.all(asked)) {
        if (memory.state === "refused") {
          skip(file, memory.reason);
          isWhole &&= isLasting(memory.reason);
        } else if (memory.state === "read") {
          const { patterns: written = [] } = memory.file;
          const patterns = pathPatterns(written, { ignoreCase: file.place.isWindows });
          if (patterns === undefined) skip(file, "too-many-patterns");
          found.push({ file, base, patterns: written.length === 0 ? undefined : patterns });
        }
      }
    }
    if (isWhole) this.#rules = found;
    return found;
  }
}

/** Returns true if the rule applies to any of these paths. */
export function appliesToAny({ file, base, patterns }: Rule, touched: Iterable<string>): boolean {
  for (const relative of touched) {
    if (!isBelow({ place: file.place, relative }, base)) continue;
    const below = base === "" ? relative : relative.slice(base.length + 1);
    if (patterns === undefined || patterns.matches(below)) return true;
  }
  return false;
}

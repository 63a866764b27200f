import { governsAny, type Rule, type RuleFolder, ruleFolderOf } from "./governing.ts";
import type { SkippedMemory } from "./memory-reader.ts";
import { isLasting, type LoadedMemory, type MemoryReader } from "./memory-reader.ts";
import { absolutePath, isBelow, type PlacedPath } from "./placed-paths.ts";
import { pathPatterns } from "./rule-text.ts";

/** All of them are read to learn what they are about. */
const MOST_RULES = 200;

export interface GoverningRules {
  readonly paths: readonly PlacedPath[];
  readonly skipped: readonly SkippedMemory[];
}

type Load = (path: PlacedPath) => Promise<LoadedMemory>;

/** The rules of a project: looked for once, and again when all is forgotten or one of them was touched. */
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
  ): Promise<GoverningRules> {
    const { project, ruleFolders } = this.#reader.governance;
    const isOfRules = (relative: string): boolean =>
      ruleFolders.some(({ folder }) => isBelow({ place: project, relative }, folder.relative));
    if (touched.some(isOfRules)) this.forget();
    const skipped: SkippedMemory[] = [];
    const rules = this.#rules ?? (await this.#find(load, signal, skipped));
    const paths = rules.filter((rule) => governsAny(rule, touched)).map(({ file }) => file);
    return { paths, skipped };
  }

  /** What fails now may go better next time: only a search that went well is remembered. */
  async #find(
    load: Load,
    signal: AbortSignal | undefined,
    skipped: SkippedMemory[],
  ): Promise<readonly Rule[]> {
    const found: Rule[] = [];
    let isWhole = true;
    for (const folder of this.#reader.governance.ruleFolders) {
      const files = await this.#filesIn(folder, signal, skipped);
      if (files === undefined) isWhole = false;
      const memories = await Promise.all((files ?? []).map(load));
      for (const [index, memory] of memories.entries()) {
        const file = files?.[index];
        if (file === undefined) continue;
        if (memory.state === "refused") {
          skipped.push({ path: absolutePath(file), reason: memory.reason });
          if (!isLasting(memory.reason)) isWhole = false;
        } else if (memory.state === "read") {
          found.push(ruleOf(file, folder.base, memory.file.patterns, skipped));
        }
      }
    }
    if (isWhole) this.#rules = found;
    return found;
  }

  async #filesIn(
    { folder }: RuleFolder,
    signal: AbortSignal | undefined,
    skipped: SkippedMemory[],
  ): Promise<readonly PlacedPath[] | undefined> {
    const files = await this.#reader.list(folder, { signal });
    if ("reason" in files) {
      skipped.push({ path: absolutePath(folder), reason: files.reason });
      return undefined;
    }
    const { governance } = this.#reader;
    const rules = files.filter((file) => ruleFolderOf(file, governance)?.folder === folder);
    if (rules.length > MOST_RULES) skipped.push({ path: absolutePath(folder), reason: "too-many-rules" });
    return rules.slice(0, MOST_RULES);
  }
}

function ruleOf(
  file: PlacedPath,
  base: string,
  written: readonly string[] | undefined,
  skipped: SkippedMemory[],
): Rule {
  if (written === undefined || written.length === 0) return { file, base, patterns: undefined };
  const patterns = pathPatterns(written, { ignoreCase: file.place.isWindows });
  if (patterns === undefined) skipped.push({ path: absolutePath(file), reason: "too-many-patterns" });
  return { file, base, patterns };
}

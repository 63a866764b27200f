import type { LoadedMemory, MemoryPlaces, ReadMemory, SkippedMemory } from "./memory-reader.ts";
import { absolutePath, folderOf, keyOf, type PlacedPath, placedIn } from "./placed-paths.ts";

/** Maximum depth of a memory file's imports. */
const IMPORT_DEPTH = 5;
/**
 * Maximum number of files that are loaded together. A file that imports a thousand others is a mistake or an
 * attack, and each import would need permission.
 */
const MAX_FILES = 200;

export interface ImportTree {
  /** The loaded files. Each file occurs once, before its imports. */
  readonly files: readonly ReadMemory[];
  readonly skipped: readonly SkippedMemory[];
}

interface ImportTreeOptions {
  readonly places: MemoryPlaces;
  readonly load: (path: PlacedPath) => Promise<LoadedMemory>;
  /** True for files that the agent already has. They are not read again. */
  readonly isKnown: (path: PlacedPath) => boolean;
}

/**
 * Loads files and their imports level by level. The depth of a file is therefore the length of the shortest
 * import path, and import cycles end.
 */
export async function loadWithImports(
  roots: readonly PlacedPath[],
  { places, load, isKnown }: ImportTreeOptions,
): Promise<ImportTree> {
  const loaded = new Map<string, LoadedMemory>();
  const imported = new Map<string, readonly PlacedPath[]>();
  /**
   * Real paths of the processed files. The imports of a file are not processed again for a link to that file.
   */
  const understood = new Set<string>();
  const skipped: SkippedMemory[] = [];
  const skip = (path: string, reason: string): unknown => skipped.push({ path, reason });
  let level = firstOfEachKey(roots);
  for (let depth = 0; level.length > 0; depth++) {
    const next: PlacedPath[] = [];
    const isNew = (path: PlacedPath): boolean => !loaded.has(keyOf(path)) && !isKnown(path);
    const fresh = firstOfEachKey(level).filter(isNew);
    const reason = depth > IMPORT_DEPTH ? "too-deep" : "too-many-imports";
    const room = depth > IMPORT_DEPTH ? 0 : depth === 0 ? fresh.length : Math.max(0, MAX_FILES - loaded.size);
    for (const path of fresh.slice(room)) skip(absolutePath(path), reason);
    const asked = fresh.slice(0, room).map(async (path) => ({ path, memory: await load(path) }));
    for (const { path, memory } of await Promise.all(asked)) {
      loaded.set(keyOf(path), memory);
      if (memory.state === "refused") skip(absolutePath(path), memory.reason);
      if (memory.state !== "read" || understood.has(keyOf(memory.path))) continue;
      understood.add(keyOf(memory.path));
      if (memory.problem !== undefined) skip(memory.file.path, memory.problem);
      const found = importsIn(memory.file.content).flatMap((reference) => {
        const target = importedPath(reference, memory.path, places);
        if (target === undefined) skip(reference, "outside-project");
        return target ?? [];
      });
      imported.set(keyOf(path), found);
      next.push(...found);
    }
    level = next;
  }
  return { files: inReadingOrder(roots, loaded, imported), skipped };
}

/** Lists each file before its imports. Each real path occurs once. */
function inReadingOrder(
  roots: readonly PlacedPath[],
  loaded: ReadonlyMap<string, LoadedMemory>,
  imported: ReadonlyMap<string, readonly PlacedPath[]>,
): readonly ReadMemory[] {
  const files = new Map<string, ReadMemory>();
  const visited = new Set<string>();
  const visit = (path: PlacedPath): void => {
    const key = keyOf(path);
    if (visited.has(key)) return;
    visited.add(key);
    const memory = loaded.get(key);
    if (memory?.state !== "read") return;
    const realKey = keyOf(memory.path);
    if (!files.has(realKey)) files.set(realKey, memory);
    for (const next of imported.get(key) ?? []) visit(next);
  };
  for (const root of roots) visit(root);
  return [...files.values()];
}

function firstOfEachKey(paths: readonly PlacedPath[]): readonly PlacedPath[] {
  const byKey = new Map<string, PlacedPath>();
  for (const path of paths) if (!byKey.has(keyOf(path))) byKey.set(keyOf(path), path);
  return [...byKey.values()];
}

const LONGEST_REFERENCE = 1_000;

/**
 * Matches `@` and a possible path after it. The `@` is after a space or at the start of a line, not inside a
 * word, as in an email address. A space in the path needs a backslash before it.
 */
const REFERENCE = /(?<![^\s([{"'*_])@((?:\\ |[^\s`])+)/g;
const FIRST_CHARACTER = /^[\p{L}\p{N}_.~/\\-]/u;
/** Marks after a path that end a sentence or close a bracket. They do not belong to the path. */
const AFTER_REFERENCE = /[.,;:!?)\]}>'"*_]+$/;

/**
 * Lists the paths that a text imports with `@path/to/file`. Each path occurs once, as written. Ignores code.
 */
export function importsIn(text: string): readonly string[] {
  const references = new Set<string>();
  if (!text.includes("@")) return [];
  for (const [, found = ""] of withoutCode(text).matchAll(REFERENCE)) {
    // Check the length first, because the search for the end of a long reference would restart at each
    // character.
    if (found.length > LONGEST_REFERENCE) continue;
    const path = (found.split("#", 1)[0] ?? "").replace(AFTER_REFERENCE, "").replaceAll("\\ ", " ");
    if (FIRST_CHARACTER.test(path) && !path.includes("://")) references.add(path);
  }
  return [...references];
}

/**
 * Resolves an import that is absolute, relative to the importing file, or in the home folder (`~/`). A
 * relative import must stay in the project or home folder that contains the importing file. An absolute
 * import must stay in that folder or in the project. Returns undefined for all other imports.
 */
export function importedPath(
  reference: string,
  from: PlacedPath,
  { project, home }: MemoryPlaces,
): PlacedPath | undefined {
  if (reference.startsWith("~"))
    return home && /^~[\\/]/.test(reference) ? placedIn(home, reference.slice(2)) : undefined;
  if (/^(?:[\\/]|[A-Za-z]:)/.test(reference))
    return placedIn(project, reference) ?? placedIn(from.place, reference);
  return placedIn(from.place, `${folderOf(from.relative)}/${reference}`.replace(/^\//, ""));
}

/** Blanks out fenced blocks and code spans. All other characters stay. */
function withoutCode(text: string): string {
  return withoutFences(text)
    .split(/\n[ \t]*\r?\n/)
    .map(withoutSpans)
    .join("\n\n");
}

/**
 * Start or end of a fenced block. Fences may be in lists and quotes. A fence that is never closed extends to
 * the end.
 */
const FENCE = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)$/;

function withoutFences(text: string): string {
  let fence: string | undefined;
  const kept: string[] = [];
  for (const line of text.split("\n")) {
    const [, marks = "", rest = ""] = FENCE.exec(line) ?? [];
    if (fence !== undefined) {
      if (marks.startsWith(fence) && rest.trim() === "") fence = undefined;
      kept.push("");
      // If more backticks follow in the line, the line contains a code span and does not open a fence.
    } else if (marks !== "" && !(marks.startsWith("`") && rest.includes("`"))) {
      fence = marks;
      kept.push("");
    } else kept.push(line);
  }
  return kept.join("\n");
}

/**
 * Blanks out code spans. A code span ends with as many backticks as it began with. Backticks without a match
 * are plain text.
 */
function withoutSpans(paragraph: string): string {
  const runs = [...paragraph.matchAll(/`+/g)];
  /**
   * For each run of backticks, the next run of the same length. The search starts at the end, so that it
   * visits each run once.
   */
  const closing = new Array<number | undefined>(runs.length);
  const lastOfLength = new Map<number, number>();
  for (let index = runs.length - 1; index >= 0; index--) {
    const length = runs[index]?.[0].length ?? 0;
    closing[index] = lastOfLength.get(length);
    lastOfLength.set(length, index);
  }
  const kept: string[] = [];
  let at = 0;
  for (let index = 0; index < runs.length; index++) {
    const end = closing[index];
    if (end === undefined) continue;
    const close = runs[end];
    // Two backticks replace the span. They separate the text before it from the text or the `@` after it.
    kept.push(paragraph.slice(at, runs[index]?.index), "``");
    at = (close?.index ?? 0) + (close?.[0].length ?? 0);
    index = end;
  }
  return kept.join("") + paragraph.slice(at);
}

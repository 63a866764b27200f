import { IMPORT_DEPTH, type ImportPlaces, importedPath, importsIn } from "./imports.ts";
import type { SkippedMemory } from "./memory-files.ts";
import type { LoadedMemory, ReadMemory } from "./memory-reader.ts";
import { absolutePath, keyOf, type PlacedPath } from "./paths.ts";

/** A file that names a thousand others is a mistake or an attack; each would be asked for. */
const MOST_FILES = 200;

export interface ImportTree {
  /** Each once: a file, then what it imports. */
  readonly files: readonly ReadMemory[];
  readonly skipped: readonly SkippedMemory[];
}

export interface ImportTreeOptions {
  readonly places: ImportPlaces;
  readonly load: (path: PlacedPath) => Promise<LoadedMemory>;
  /** What the agent has already is not read again. */
  readonly isKnown: (path: PlacedPath) => boolean;
}

/** Files and what they import, level by level: so the shortest way to a file counts, and no loop has an end to miss. */
export async function loadWithImports(
  roots: readonly PlacedPath[],
  { places, load, isKnown }: ImportTreeOptions,
): Promise<ImportTree> {
  const loaded = new Map<string, LoadedMemory>();
  const imported = new Map<string, readonly PlacedPath[]>();
  /** By where they really are: a link has nothing to say that its file has not said. */
  const understood = new Set<string>();
  const skipped: SkippedMemory[] = [];
  const skip = (path: string, reason: string): unknown => skipped.push({ path, reason });
  let level = firstOfEachKey(roots);
  for (let depth = 0; level.length > 0; depth++) {
    const next: PlacedPath[] = [];
    const isNew = (path: PlacedPath): boolean => !loaded.has(keyOf(path)) && !isKnown(path);
    const fresh = firstOfEachKey(level).filter(isNew);
    const reason = depth > IMPORT_DEPTH ? "too-deep" : "too-many-imports";
    const room =
      depth > IMPORT_DEPTH ? 0 : depth === 0 ? fresh.length : Math.max(0, MOST_FILES - loaded.size);
    for (const path of fresh.slice(room)) skip(absolutePath(path), reason);
    const taken = fresh.slice(0, room);
    const answers = await Promise.all(taken.map(load));
    for (const [index, memory] of answers.entries()) {
      const path = taken[index];
      if (path === undefined) continue;
      loaded.set(keyOf(path), memory);
      if (memory.state === "refused") skip(absolutePath(path), memory.reason);
      if (memory.state !== "read" || understood.has(keyOf(memory.path))) continue;
      understood.add(keyOf(memory.path));
      const { problem, file } = memory;
      if (problem !== undefined) skip(file.path, problem);
      const found = importsOf(memory, places);
      for (const reference of found.outside) skip(reference, "outside-project");
      imported.set(keyOf(path), found.paths);
      next.push(...found.paths);
    }
    level = next;
  }
  return { files: inReadingOrder(roots, loaded, imported), skipped };
}

function importsOf(
  { path, file }: ReadMemory,
  places: ImportPlaces,
): { readonly paths: readonly PlacedPath[]; readonly outside: readonly string[] } {
  const paths: PlacedPath[] = [];
  const outside: string[] = [];
  for (const reference of importsIn(file.content)) {
    const found = importedPath(reference, path, places);
    if (found === undefined) outside.push(reference);
    else paths.push(found);
  }
  return { paths, outside };
}

/** A file before what it imports, and each once, by the place where it really is. */
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

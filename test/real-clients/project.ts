import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes a small project, for a client to work on. */
export function writeProject(folder: string): void {
  mkdirSync(join(folder, "src"), { recursive: true });
  writeFileSync(join(folder, "README.md"), "# A small project\n\nIt adds numbers.\n");
  writeFileSync(
    join(folder, "src", "index.ts"),
    "export const add = (a: number, b: number): number => a + b;\n",
  );
  writeFileSync(join(folder, "src", "index.test.ts"), 'import { add } from "./index.ts";\n\nadd(1, 2);\n');
}

/** Returns a hash of each file in the folders. */
export function fingerprints(folders: readonly string[]): ReadonlyMap<string, string> {
  const entries = folders.flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }));
  const files = entries.filter((one) => one.isFile());
  const paths = files.map((file) => join(file.parentPath, file.name));
  return new Map(paths.map((path) => [path, createHash("sha256").update(readFileSync(path)).digest("hex")]));
}

/** Lists the files that differ between two results of {@link fingerprints}. */
export function changesBetween(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).map((path) => `${path} changed`);
}

// Prints the sizes that users download: `npm run sizes`. The installed size of each package, and what bundled
// programs load at first, beside their budgets. `-- --parts` lists all chunks of the first program.
import { parseArgs } from "node:util";
import { BUDGETS, FIRST_LOADS } from "../test/packages/budgets.ts";
import { type Bundle, bundle, gzipBytesOf } from "../test/support/bundles.ts";
import { packPackages } from "../test/support/packed-packages.ts";

const { values } = parseArgs({ options: { parts: { type: "boolean", default: false } } });
const project = packPackages();
try {
  const bundles = await Promise.all(FIRST_LOADS.map(({ code }) => bundle(project.folder, code)));
  print(["bundled program", "at first", "budget", "later"], bundles.map(rowOf));
  print(
    ["installed package", "files", "bytes", "budget"],
    project.packages.map(({ name, files }) => [
      name,
      String(files.length),
      count(files.reduce((sum, { size }) => sum + size, 0)),
      count(BUDGETS[name]?.bytes ?? 0),
    ]),
  );
  const [compactor] = bundles;
  if (values.parts && compactor !== undefined) print(["chunk", "loaded", "gzip"], partsOf(compactor));
} finally {
  project.remove();
}

/** Returns the gzipped bytes of a bundled program, before and after it needs more. */
function rowOf(made: Bundle, index: number): readonly string[] {
  const { name = "", gzipBytes = 0 } = FIRST_LOADS[index] ?? {};
  const first = gzipBytesOf(made.first);
  return [name, count(first), count(gzipBytes), count(gzipBytesOf(made.chunks) - first)];
}

function partsOf({ chunks, first }: Bundle): readonly (readonly string[])[] {
  return chunks.map((chunk) => [
    chunk.name,
    first.includes(chunk) ? "at first" : "later",
    count(chunk.gzipBytes),
  ]);
}

function print(heads: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = heads.map((head, at) =>
    Math.max(...[head, ...rows.map((row) => row[at] ?? "")].map(lengthOf)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join("  ");
  process.stdout.write(`${[heads, ...rows].map(line).join("\n")}\n\n`);
}

function lengthOf(text: string): number {
  return text.length;
}

function count(bytes: number): string {
  return bytes.toLocaleString("en-US");
}

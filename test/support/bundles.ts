/** Bundles of the packed packages, as a user's bundler makes them: nothing is external. */
import { basename } from "node:path";
import { gzipSync } from "node:zlib";
import { type BuildOptions, build, type Metafile } from "esbuild";

/** Settings of the bundlers for the places in which the core runs. */
export const TARGETS: Readonly<Record<"browser" | "worker" | "node", BuildOptions>> = {
  browser: { platform: "browser" },
  // A neutral platform knows no module of Node, and resolves no "main" fields.
  worker: { platform: "neutral", conditions: ["workerd", "worker", "browser"], mainFields: ["module"] },
  node: { platform: "node" },
};

export interface BundledChunk {
  readonly name: string;
  readonly code: string;
  /** Bytes after gzip at its highest level, which servers use for files that never change. */
  readonly gzipBytes: number;
}

export interface Bundle {
  readonly entry: string;
  readonly chunks: readonly BundledChunk[];
  /** Chunks that a page loads before it calls anything: the entry and its static imports. */
  readonly first: readonly BundledChunk[];
  /** Specifiers that the bundler left for the runtime to resolve. */
  readonly unresolved: readonly string[];
  readonly warnings: readonly string[];
}

/** Bundles a program whose imports are resolved from `folder`. */
export async function bundle(
  folder: string,
  code: string,
  target: keyof typeof TARGETS = "browser",
): Promise<Bundle> {
  const { outputFiles, metafile, warnings } = await build({
    ...TARGETS[target],
    stdin: { contents: code, resolveDir: folder, sourcefile: "program.js" },
    absWorkingDir: folder,
    outdir: "bundle",
    entryNames: "program",
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    // Newer syntax that esbuild would have to transform only adds bytes.
    target: "es2023",
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  const chunks = outputFiles.map(({ path, contents, text }) => ({
    name: basename(path),
    code: text,
    gzipBytes: gzipSync(contents, { level: 9 }).length,
  }));
  const first = loadedFirst(metafile, "bundle/program.js");
  return {
    entry: "program.js",
    chunks,
    first: chunks.filter(({ name }) => first.has(name)),
    unresolved: Object.values(metafile.outputs).flatMap(({ imports }) =>
      imports.filter(({ external }) => external).map(({ path }) => path),
    ),
    warnings: warnings.map(({ text }) => text),
  };
}

/** Returns the names of a chunk and of all chunks that it imports statically, directly or not. */
function loadedFirst(
  { outputs }: Metafile,
  path: string,
  seen: Set<string> = new Set(),
): ReadonlySet<string> {
  if (seen.has(basename(path))) return seen;
  seen.add(basename(path));
  for (const { kind, path: imported, external } of outputs[path]?.imports ?? []) {
    if (kind === "import-statement" && !external) loadedFirst({ outputs, inputs: {} }, imported, seen);
  }
  return seen;
}

export const gzipBytesOf = (chunks: readonly BundledChunk[]): number =>
  chunks.reduce((sum, { gzipBytes }) => sum + gzipBytes, 0);

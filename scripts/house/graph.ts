// Import graph of the packages' files, including type imports, with figures about it.
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { parseSync } from "oxc-parser";

/** If a file has fewer lines than this and only one importer, it usually belongs in that importer. */
const SPLINTER_LINES = 40;
const LONGEST_FILE_LINES = 500;
/** Maximum number of files with the same name. */
const MAX_NAMESAKES = 2;

/** Returns true for an entry of a package. The names of entries repeat in every package. */
const isEntry = (file: string): boolean => /^[^/]+\/src\/(?:internal\/)?[\w-]+\.ts$/.test(file);

const isTest = (file: string): boolean => /\.(test|case)\.ts$/.test(file);

export interface SourceFile {
  readonly text: string;
  readonly lines: number;
  /** Paths under `packages`. */
  readonly imports: ReadonlySet<string>;
}

export type Graph = ReadonlyMap<string, SourceFile>;

/**
 * Returns every file of the packages under `root` that is not a test. The key is the path under `packages`.
 */
export function readGraph(root: string): Graph {
  const packages = join(root, "packages");
  const names = readdirSync(packages)
    .map((each) => join(each, "src"))
    .flatMap((each) =>
      readdirSync(join(packages, each), { recursive: true, encoding: "utf8" }).map((name) =>
        join(each, name),
      ),
    );
  const files = new Map<string, SourceFile>();
  for (const name of names.filter((each) => each.endsWith(".ts") && !isTest(each))) {
    const path = join(packages, name);
    const text = readFileSync(path, "utf8");
    const imports = requestsIn(path, text).flatMap((request) => targetOf(packages, path, request) ?? []);
    files.set(toSlashes(name), {
      text,
      lines: text.split("\n").length - 1,
      imports: new Set(imports.map((each) => toSlashes(relative(packages, each)))),
    });
  }
  return files;
}

const toSlashes = (path: string): string => path.split(sep).join("/");

/** Returns the import specifiers of a file, as written. */
export function requestsIn(path: string, text: string): readonly string[] {
  const { module } = parseSync(path, text);
  return [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap((entry) => entry.moduleRequest?.value ?? []),
    ),
  ];
}

/** Returns the modules that a file imports dynamically. The graph leaves them out, because they load on use. */
export function laterRequestsIn(path: string, text: string): readonly string[] {
  return parseSync(path, text)
    .module.dynamicImports.map(({ moduleRequest }) => text.slice(moduleRequest.start, moduleRequest.end))
    .filter((source) => /^"[^"]+"$/.test(source))
    .map((source) => source.slice(1, -1));
}

/** Returns the file that an import refers to: a relative file, or the source of an entry of our packages. */
export function targetOf(packages: string, from: string, request: string): string | undefined {
  if (request.startsWith(".")) return resolve(dirname(from), request);
  const [, name = "", entry = ""] = /^@longhaul\/([^/]+)(\/.+)?$/.exec(request) ?? [];
  if (name === "") return undefined;
  const { exports } = JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8"));
  const source: string | undefined = exports[`.${entry}`]?.["@longhaul/source"];
  if (source === undefined) throw new Error(`${from} imports ${request}, which ${name} does not export.`);
  return join(packages, name, source);
}

/** Returns the groups of files that import each other, largest first. */
export function cyclesIn(files: Graph): readonly (readonly string[])[] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const lowOf = (file: string): number => low.get(file) ?? 0;
  const visit = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.get(file) ?? 0);
    stack.push(file);
    for (const next of files.get(file)?.imports ?? []) {
      if (!files.has(next)) continue;
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(file, Math.min(lowOf(file), lowOf(next)));
    }
    if (low.get(file) !== index.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1) found.push(group.sort());
  };
  for (const file of files.keys()) if (!index.has(file)) visit(file);
  return found.sort((one, other) => other.length - one.length);
}

/** Returns a file and everything that it imports, directly or indirectly. */
function closureOf(files: Graph, start: string): { readonly files: number; readonly lines: number } {
  const reached = new Set([start]);
  for (const file of reached)
    for (const next of files.get(file)?.imports ?? []) if (files.has(next)) reached.add(next);
  return { files: reached.size, lines: sum([...reached].map((file) => files.get(file)?.lines ?? 0)) };
}

export interface Figures {
  readonly files: number;
  readonly lines: number;
  readonly median: number;
  readonly splinters: number;
  readonly tooLong: readonly string[];
  readonly namesakes: readonly string[];
  readonly cycles: readonly (readonly string[])[];
  readonly fanIn: readonly Leader[];
  readonly fanOut: readonly Leader[];
  readonly closure: { readonly files: number; readonly lines: number };
}

type Leader = readonly [file: string, times: number];

export function figuresOf(files: Graph): Figures {
  const importers = new Map([...files.keys()].map((file): [string, number] => [file, 0]));
  for (const { imports } of files.values()) {
    for (const file of imports) if (files.has(file)) importers.set(file, (importers.get(file) ?? 0) + 1);
  }
  const lengths = [...files.values()].map(({ lines }) => lines).sort((one, other) => one - other);
  const byName = new Map<string, string[]>();
  for (const file of [...files.keys()].filter((each) => !isEntry(each)))
    byName.set(basename(file), [...(byName.get(basename(file)) ?? []), file]);
  return {
    files: files.size,
    lines: sum(lengths),
    median: lengths[Math.floor(lengths.length / 2)] ?? 0,
    splinters: [...files].filter(([file, { lines }]) => lines < SPLINTER_LINES && importers.get(file) === 1)
      .length,
    tooLong: [...files].filter(([, { lines }]) => lines > LONGEST_FILE_LINES).map(([file]) => file),
    namesakes: [...byName]
      .filter(([, all]) => all.length > MAX_NAMESAKES)
      .map(([name, all]) => `${name} (${all.length})`),
    cycles: cyclesIn(files),
    fanIn: leaders(importers),
    fanOut: leaders(new Map([...files].map(([file, { imports }]) => [file, imports.size]))),
    closure: closureOf(files, "core/src/engine/create-compactor.ts"),
  };
}

const leaders = (counts: ReadonlyMap<string, number>): readonly Leader[] =>
  [...counts].sort(([, one], [, other]) => other - one).slice(0, 5);
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

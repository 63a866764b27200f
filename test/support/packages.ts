/** The packages of this workspace: their manifests, the names they export and the names they import. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type EcmaScriptModule, parseSync } from "oxc-parser";

const PACKAGES: string = join(import.meta.dirname, "..", "..", "packages");
const SOURCE = "@longhaul/source";

export interface ExportedPath {
  readonly [SOURCE]: string;
  readonly types?: string;
  /** The built file. Missing in an entry that is for development only. */
  readonly default?: string;
}

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly exports: Readonly<Record<string, ExportedPath | string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Entry {
  /** Path in the manifest: `.` or `./clear`. */
  readonly path: string;
  /** The specifier of an import: `@longhaul/core/clear`. */
  readonly specifier: string;
  /** True if only our own packages use the entry, without any promise of stability. */
  readonly isInternal: boolean;
  /** False for an entry that is for development only. */
  readonly isPublished: boolean;
  readonly names: readonly ExportedName[];
}

export interface ExportedName {
  readonly name: string;
  readonly isType: boolean;
}

export interface ImportedName {
  readonly file: string;
  readonly specifier: string;
  /** The imported name. Undefined if the import refers to the whole module. */
  readonly name: string | undefined;
}

export interface Package {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly entries: readonly Entry[];
}

export function readPackages(): readonly Package[] {
  return readdirSync(PACKAGES)
    .map((name) => join(PACKAGES, name))
    .filter((folder) => existsSync(join(folder, "package.json")))
    .map((folder) => {
      const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
      return { folder, manifest, entries: entriesOf(folder, manifest) };
    });
}

function entriesOf(folder: string, manifest: Manifest): readonly Entry[] {
  return Object.entries(manifest.exports).flatMap(([path, entry]) => {
    if (typeof entry === "string") return [];
    return [
      {
        path,
        specifier: manifest.name + path.slice(1),
        isInternal: path.startsWith("./internal"),
        isPublished: entry.default !== undefined,
        names: exportedNames(join(folder, entry[SOURCE])),
      },
    ];
  });
}

function exportedNames(file: string): readonly ExportedName[] {
  const { module } = parseSync(file, readFileSync(file, "utf8"));
  return module.staticExports
    .flatMap(({ entries }) => entries)
    .map(({ exportName, isType }) => {
      if (exportName.name === null) throw new Error(`${file} has an export without a name`);
      return { name: exportName.name, isType };
    });
}

/** Returns the names that the sources of a package, without its tests, import from our other packages. */
export function importsOf({ folder }: Package): readonly ImportedName[] {
  const files = readdirSync(join(folder, "src"), { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .flatMap((file) => importedNames(join(folder, "src", file)))
    .filter(({ specifier }) => specifier.startsWith("@longhaul/"));
}

function importedNames(file: string): readonly ImportedName[] {
  const code = readFileSync(file, "utf8");
  const { module } = parseSync(file, code);
  return [
    ...module.staticImports.flatMap(({ moduleRequest, entries }) =>
      entries.map(({ importName }) => ({
        file,
        specifier: moduleRequest.value,
        name: importName.name ?? undefined,
      })),
    ),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, importName }) =>
        moduleRequest ? [{ file, specifier: moduleRequest.value, name: importName.name ?? undefined }] : [],
      ),
    ),
    ...dynamicImportsIn(code, module).map((specifier) => ({ file, specifier, name: undefined })),
  ];
}

/** Returns the specifiers of dynamic imports. A computed specifier appears as its code in parentheses. */
function dynamicImportsIn(code: string, { dynamicImports }: EcmaScriptModule): readonly string[] {
  return dynamicImports.map(({ moduleRequest }) => {
    const text = code.slice(moduleRequest.start, moduleRequest.end);
    return /^["'`]/.test(text) ? text.slice(1, -1) : `(${text})`;
  });
}

/** Returns the specifiers that a file imports, including side effects and dynamic imports. */
export function importsIn(file: string): readonly string[] {
  const code = readFileSync(file, "utf8");
  const { module } = parseSync(file, code);
  return [...staticImportsOf(module), ...dynamicImportsIn(code, module)];
}

/** Returns the specifiers of the files that load together with a file. */
export const staticImportsIn = (file: string): readonly string[] =>
  staticImportsOf(parseSync(file, readFileSync(file, "utf8")).module);

const staticImportsOf = (module: EcmaScriptModule): readonly string[] => [
  ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
  ...module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
  ),
];

/**
 * Returns the file and all files of the same package that it imports, directly or indirectly. With
 * `staticImportsIn`, these are the files that load together.
 */
export function filesBehind(
  file: string,
  read: (file: string) => readonly string[] = importsIn,
  seen: Set<string> = new Set(),
): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const name of read(file)) {
    if (name.startsWith(".")) filesBehind(resolve(dirname(file), name), read, seen);
  }
  return seen;
}

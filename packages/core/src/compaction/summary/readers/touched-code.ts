import { headOf } from "../../../messages/text.ts";
import { fileUseOf, writesWholeFile } from "../../../messages/tool-kinds.ts";
import { listField, stringField } from "../../../messages/untrusted.ts";
import { slashed } from "./shell/paths.ts";

export { fileName } from "./shell/paths.ts";

/** Code that a session works on: its files, and the names, packages and languages in them. */

export interface FileRecord {
  readonly path: string;
  readonly isRead: boolean;
  /** Number of edits with file tools. */
  readonly edits: number;
  /** True if a shell command of the agent changed the file. The number of such changes is not known. */
  readonly byShell: boolean;
  readonly created: boolean;
  /** True if somebody else changed the file while the agent worked. */
  readonly changedOutside: boolean;
  readonly removed: boolean;
  /** Path of the file before it was moved, or undefined if it was not moved. */
  readonly movedFrom?: string | undefined;
  /** Position of the last change, or of the last read if nothing was changed. */
  readonly lastAt: number;
  /** Last edits, the newest last. */
  readonly lastEdits: readonly Edit[];
  /** The agent's words right before it changed the file, newest last. */
  readonly reasons: readonly string[];
  readonly defines: readonly string[];
}

/** Text of the file before and after an edit. */
export interface Edit {
  readonly was: string;
  readonly now: string;
}

/** Returns how a call uses the file that it names, or undefined for tools without a single file. */
export function fileUseIn(tool: string, input: unknown): "read" | "write" | "edit" | undefined {
  const use = fileUseOf(tool, input);
  if (use !== "change") return use;
  return writesWholeFile(tool, input) ? "write" : "edit";
}

/** Record of a file without any known use. */
export const UNTOUCHED_FILE: FileRecord = Object.freeze({
  path: "",
  isRead: false,
  edits: 0,
  byShell: false,
  created: false,
  changedOutside: false,
  removed: false,
  lastAt: 0,
  lastEdits: [],
  reasons: [],
  defines: [],
});

/** Characters stored of an edit. A file written whole is recorded by its definitions. */
const KEPT_EDIT_CHARS = 3_000;

/** Returns true for a file in a temporary folder or in `/dev`. */
export function isScratch(path: string): boolean {
  return /^\/dev\/|(?:^|[\\/])(?:tmp|temp|scratch(?:pad)?)[\\/]/i.test(path);
}

/** Returns the replacements of a call, in order. */
export function editsIn(input: unknown): readonly Edit[] {
  return [input, ...listField(input, "edits")].flatMap((edit) => {
    const now = firstText(edit, "new_string", "new_source", "new_str");
    const was = firstText(edit, "old_string", "old_str") ?? "";
    return now === undefined
      ? []
      : [{ was: headOf(was, KEPT_EDIT_CHARS), now: headOf(now, KEPT_EDIT_CHARS) }];
  });
}

/** Returns the first text field. Unlike `firstString`, it accepts an empty text. */
function firstText(value: unknown, ...names: readonly string[]): string | undefined {
  return names.map((name) => stringField(value, name)).find((text) => text !== undefined);
}

/** Returns the shortest path that still identifies the file. */
export function shortPath(path: string, cwd: string | undefined): string {
  const whole = slashed(path);
  const base = slashed(cwd ?? "").replace(/\/+$/, "");
  if (base !== "" && whole.startsWith(`${base}/`)) return whole.slice(base.length + 1);
  return whole.replace(SCRATCH_FOLDER, "…/$1");
}

/** Folders of a session, with generated names that nobody needs to remember. */
const SCRATCH_FOLDER = /^.*\/[0-9a-f-]{30,}\/(?=[^/]+\/|[^/]+$)((?:[^/]+\/)?[^/]+)$/;

/** Returns true if one path ends with the other. Summaries name files relative to any folder. */
export function isSamePath(one: string, other: string): boolean {
  const a = slashed(one);
  const b = slashed(other);
  if (a === b) return true;
  const [long, short] = a.length > b.length ? [a, b] : [b, a];
  return short.includes("/") && long.endsWith(`/${short.replace(/^(?:\.\.?)?\//, "")}`);
}

/**
 * Counts names by frequency and spread. A name that is repeated only in one place weighs less than a name
 * that occurs again and again.
 */
export class NameTally {
  readonly #counts = new Map<string, { count: number; readonly places: Set<number> }>();

  add(names: Iterable<string>, place: number): void {
    for (const name of names) {
      const known = this.#counts.get(name) ?? { count: 0, places: new Set() };
      known.count++;
      known.places.add(place);
      this.#counts.set(name, known);
    }
  }

  /** Returns the heaviest names with at least this many occurrences. */
  heaviest(limit: number, least: number): readonly string[] {
    return [...this.#counts]
      .filter(([, { count }]) => count >= least)
      .map(([name, { count, places }]) => ({ name, score: count * places.size }))
      .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
      .slice(0, limit)
      .map(({ name }) => name);
  }
}

const LANGUAGE_BY_EXTENSION: Readonly<Record<string, string>> = {
  c: "C",
  cc: "C++",
  clj: "Clojure",
  cpp: "C++",
  cs: "C#",
  css: "CSS",
  dart: "Dart",
  eex: "EEx",
  erl: "Erlang",
  ex: "Elixir",
  exs: "Elixir",
  fs: "F#",
  go: "Go",
  graphql: "GraphQL",
  h: "C",
  heex: "HEEx",
  hs: "Haskell",
  html: "HTML",
  ipynb: "Jupyter",
  java: "Java",
  jl: "Julia",
  js: "JavaScript",
  jsx: "JavaScript (JSX)",
  kt: "Kotlin",
  less: "Less",
  lua: "Lua",
  mdx: "MDX",
  mjs: "JavaScript",
  ml: "OCaml",
  php: "PHP",
  pl: "Perl",
  prisma: "Prisma",
  proto: "Protocol Buffers",
  ps1: "PowerShell",
  py: "Python",
  r: "R",
  rb: "Ruby",
  rs: "Rust",
  scala: "Scala",
  scss: "SCSS",
  sh: "Shell",
  sol: "Solidity",
  sql: "SQL",
  svelte: "Svelte",
  swift: "Swift",
  tf: "Terraform",
  ts: "TypeScript",
  tsx: "TypeScript (TSX)",
  vue: "Vue",
  zig: "Zig",
};

const FENCE_BY_EXTENSION: Readonly<Record<string, string>> = {
  h: "c",
  mjs: "js",
  exs: "elixir",
  ex: "elixir",
  ipynb: "python",
};

function extensionOf(path: string): string {
  return /\.(\w{1,8})$/.exec(path)?.[1]?.toLowerCase() ?? "";
}

export function languageOf(path: string): string | undefined {
  return LANGUAGE_BY_EXTENSION[extensionOf(path)];
}

export function fenceLanguage(path: string): string {
  const extension = extensionOf(path);
  return FENCE_BY_EXTENSION[extension] ?? extension;
}

/** Definition of a name in code, in the languages that agents mostly write. */
const DEFINITION =
  /(?:^|[\s;{(])(?:function\*?|func(?:\s*\([^)]*\))?|def|defp|class|interface|struct|enum|trait|fn|defmodule|module|protocol|type|impl|sub|fun|record)\s+([A-Za-z_$][\w$.]{2,60})|(?:^|\n)\s*(?:export\s+)?(?:const|let|var|val)\s+([A-Za-z_$][\w$]{2,60})\s*(?::[^=\n]{0,80})?=\s*(?:async\s*)?(?:\(|function|<|[a-z]\w*\s*=>)/g;
const SCANNED_CHARS = 4_000;
const SCANNED_PROSE_CHARS = 20_000;
const COMMON: ReadonlySet<string> = new Set(
  "main init test setup default string number boolean error errors object array value values that this the are from with true false null none undefined describe expect return interface function class module import export async await".split(
    " ",
  ),
);

export function definedNames(code: string): Set<string> {
  const names = new Set<string>();
  for (const match of code.slice(0, SCANNED_CHARS).matchAll(DEFINITION)) {
    const name = match[1] ?? match[2];
    if (name !== undefined && isDistinctive(name)) names.add(name);
  }
  return names;
}

/** Returns true for a name of two words, or for one long enough to be specific. */
function isDistinctive(name: string): boolean {
  if (COMMON.has(name.toLowerCase()) || /^__\w+__$|^[a-z]+ing$/.test(name)) return false;
  return COMPOUND.test(name) || /^[A-Z]\w{4,}/.test(name) || name.length >= 8;
}

const COMPOUND = /[a-z][A-Z]|[A-Z]{2}|\w[_.:-]\w|::/;

/**
 * Import patterns with the words before them. A pattern is tried only if the code contains one of its words.
 */
const IMPORTS: readonly (readonly [words: readonly string[], pattern: RegExp])[] = [
  [["from", "import", "require"], /(?:from|import|require\()\s*["']([^"'\n]{2,80})["']/g],
  [["from", "import"], /^\s*(?:from|import)\s+([a-zA-Z_]\w*)(?:\.\w+)*(?:\s+import\b|\s+as\b|\s*$)/gm],
  [["::"], /^\s*use\s+([a-z_]\w*)::/gm],
  [["/"], /^\s*(?:_\s+|\w+\s+)?"((?:[\w-]+\.)+[a-z]{2,}\/[\w./-]+)"\s*$/gm],
];

/** Returns the packages that code imports. Files of the project are not packages. */
export function importedPackages(code: string): Set<string> {
  const packages = new Set<string>();
  const scanned = code.slice(0, SCANNED_CHARS);
  for (const [words, pattern] of IMPORTS) {
    if (!words.some((word) => scanned.includes(word))) continue;
    for (const match of scanned.matchAll(pattern)) {
      const name = packageName(match[1] ?? "");
      if (name !== undefined) packages.add(name);
    }
  }
  return packages;
}

/** Modules of standard libraries, which every program uses. */
const STANDARD: ReadonlySet<string> = new Set(
  "abc argparse asyncio base64 bytes collections contextlib copy csv dataclasses datetime enum fmt functools glob hashlib http io itertools json logging math os path pathlib pickle random re shutil std string subprocess sys tempfile threading time traceback types typing unittest urllib uuid warnings __future__ core alloc crate self super fs child_process util events".split(
    " ",
  ),
);

function packageName(specifier: string): string | undefined {
  if (STANDARD.has(specifier.split("/")[0] ?? "")) return undefined;
  if (/^[./~#$]|^@\/|\s/.test(specifier) || specifier.startsWith("node:")) return undefined;
  const parts = specifier.split("/");
  if (specifier.startsWith("@")) return parts.slice(0, 2).join("/");
  if (parts[0]?.includes(".") && parts.length >= 3) return parts.slice(0, 3).join("/");
  return parts[0];
}

/** Returns inline code in prose that looks like a name. The names that the agent mentions are important. */
export function mentionedNames(prose: string): readonly string[] {
  const names: string[] = [];
  if (!prose.includes("`")) return names;
  for (const match of prose
    .slice(0, SCANNED_PROSE_CHARS)
    .matchAll(/`([A-Za-z_$@.#-][\w$.:#@/-]{2,48})(\(\))?`/g)) {
    const name = match[1];
    if (name !== undefined && !COMMON.has(name.toLowerCase()) && isName(name, match[2] !== undefined))
      names.push(name);
  }
  return names;
}

/**
 * Returns true for a name. Paths, numbers, flags and file names are listed elsewhere, and a plain word in
 * code marks is no name.
 */
function isName(text: string, isCalled: boolean): boolean {
  if (/[/\\]|\.\w{1,5}$|^-|^[0-9a-f]{7,40}$|\d+\.\d+/.test(text)) return false;
  return isCalled || COMPOUND.test(text);
}

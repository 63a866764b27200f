/** Names that a session works with, and the languages of its files. */

/** Counts names by frequency and by spread: what one burst repeats weighs less than what keeps returning. */
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

  /** The heaviest of those that occurred at least so often. */
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

/** A name that code gives to a thing, in the languages agents mostly write. */
const DEFINITION =
  /(?:^|[\s;{(])(?:function\*?|func(?:\s*\([^)]*\))?|def|defp|class|interface|struct|enum|trait|fn|defmodule|module|protocol|type|impl|sub|fun|record)\s+([A-Za-z_$][\w$.]{2,60})|(?:^|\n)\s*(?:export\s+)?(?:const|let|var|val)\s+([A-Za-z_$][\w$]{2,60})\s*(?::[^=\n]{0,80})?=\s*(?:async\s*)?(?:\(|function|<|[a-z]\w*\s*=>)/g;
const SCANNED_CHARS = 4_000;
const SCANNED_PROSE_CHARS = 20_000;
const COMMON: ReadonlySet<string> = new Set(
  "main init test setup default string number boolean error errors object array value values that this the are from with true false null none undefined describe expect return string interface function class module import export async await".split(
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

/** Two words in one, or one long enough to be chosen with care; the rest could be anything. */
function isDistinctive(name: string): boolean {
  if (COMMON.has(name.toLowerCase()) || /^__\w+__$|^[a-z]+ing$/.test(name)) return false;
  return COMPOUND.test(name) || /^[A-Z]\w{4,}/.test(name) || name.length >= 8;
}

const COMPOUND = /[a-z][A-Z]|[A-Z]{2}|\w[_.:-]\w|::/;

/** A pattern is tried only if the code has one of its words. */
const IMPORTS: readonly (readonly [words: readonly string[], pattern: RegExp])[] = [
  [["from", "import", "require"], /(?:from|import|require\()\s*["']([^"'\n]{2,80})["']/g],
  [["from", "import"], /^\s*(?:from|import)\s+([a-zA-Z_]\w*)(?:\.\w+)*(?:\s+import\b|\s+as\b|\s*$)/gm],
  [["::"], /^\s*use\s+([a-z_]\w*)::/gm],
  [["/"], /^\s*(?:_\s+|\w+\s+)?"((?:[\w-]+\.)+[a-z]{2,}\/[\w./-]+)"\s*$/gm],
];

/** Packages that a piece of code brings in; files of the project itself are not packages. */
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

/** Parts of a language's own library, which every program uses. */
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

/** Inline code in prose that looks like a name: the agent speaks of what matters. */
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

/** Paths, numbers, flags and file names are told elsewhere; a plain word in code marks is no name. */
function isName(text: string, isCalled: boolean): boolean {
  if (/[/\\]|\.\w{1,5}$|^-|^[0-9a-f]{7,40}$|\d+\.\d+/.test(text)) return false;
  return isCalled || COMPOUND.test(text);
}

import { importedPackages, mentionedNames } from "./identifiers.ts";

/** How often and in how many places something occurred. */
interface Occurrence {
  count: number;
  readonly places: Set<number>;
}

export interface RankedName {
  readonly name: string;
  readonly count: number;
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

/** Counts names by frequency and by spread: what one burst repeats weighs less than what keeps returning. */
export class ConceptCounter {
  readonly #names = new Map<string, Occurrence>();
  readonly #packages = new Map<string, Occurrence>();
  readonly #programs = new Map<string, Occurrence>();

  prose(round: number, text: string): void {
    for (const name of mentionedNames(text)) count(this.#names, name, round);
  }

  code(place: number, text: string): void {
    for (const name of importedPackages(text)) count(this.#packages, name, place);
  }

  defined(round: number, names: Iterable<string>): void {
    for (const name of names) count(this.#names, name, round);
  }

  program(round: number, name: string): void {
    count(this.#programs, name, round);
  }

  names(limit: number): readonly RankedName[] {
    return ranked(this.#names, limit, 2);
  }

  packages(limit: number): readonly RankedName[] {
    return ranked(this.#packages, limit, 1);
  }

  programs(limit: number): readonly RankedName[] {
    return ranked(this.#programs, limit, 2);
  }
}

function count(counts: Map<string, Occurrence>, name: string, place: number): void {
  const known = counts.get(name);
  if (known) {
    known.count++;
    known.places.add(place);
  } else counts.set(name, { count: 1, places: new Set([place]) });
}

function ranked(
  counts: ReadonlyMap<string, Occurrence>,
  limit: number,
  least: number,
): readonly RankedName[] {
  return [...counts]
    .filter(([, occurrence]) => occurrence.count >= least)
    .map(([name, { count, places }]) => ({ name, count, score: count * places.size }))
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name, count }) => ({ name, count }));
}

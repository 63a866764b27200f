// Collects all texts of the repository that people and models read: comments, string literals, test titles
// and pages.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Comment, type Node, parseSync } from "oxc-parser";

export interface Text {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

export interface Texts {
  /** Each comment as one text, with its line breaks. Adjacent line comments are one comment. */
  readonly comments: readonly Text[];
  /**
   * String literals, and the fixed parts of template strings. Only the sources of the packages count, without
   * tests.
   */
  readonly literals: readonly Text[];
  /** First arguments of `it`, `test` and `describe`. */
  readonly titles: readonly Text[];
  /** Markdown pages, line by line. */
  readonly pages: readonly Text[];
}

/** Comments that are instructions to tools. */
const DIRECTIVE = /^\s*(?:biome-ignore|@ts-|v8 |#!)/;

const isTest = (file: string): boolean => /\.(?:test|case)\.ts$/.test(file) || file.startsWith("test/");
const isShipped = (file: string): boolean => /^packages\/[^/]+\/src\//.test(file) && !isTest(file);

export function trackedFiles(root: string, ...patterns: readonly string[]): readonly string[] {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", ...patterns];
  const deleted = new Set(git(root, ["ls-files", "--deleted"]));
  return git(root, args).filter((file) => !deleted.has(file));
}

const git = (root: string, args: readonly string[]): readonly string[] =>
  execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);

export function readTexts(root: string): Texts {
  const texts = { comments: [] as Text[], literals: [] as Text[], titles: [] as Text[], pages: [] as Text[] };
  for (const file of trackedFiles(root, "*.ts", "*.mts", "*.mjs")) {
    const source = readFileSync(join(root, file), "utf8");
    const { program, comments } = parseSync(file, source);
    const lineAt = lineFinder(source);
    texts.comments.push(...joinComments(comments, source).map((each) => ({ ...each, file })));
    for (const { start, text, isTitle } of stringsIn(program)) {
      const found = { file, line: lineAt(start), text };
      if (isTitle && isTest(file)) texts.titles.push(found);
      else if (isShipped(file)) texts.literals.push(found);
    }
  }
  for (const file of trackedFiles(root, "*.md"))
    texts.pages.push(...linesOf(file, readFileSync(join(root, file), "utf8")));
  return texts;
}

const linesOf = (file: string, page: string): readonly Text[] =>
  page.split("\n").map((text, at) => ({ file, line: at + 1, text }));

function lineFinder(source: string): (offset: number) => number {
  const starts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return (offset) => {
    const next = starts.findIndex((start) => start > offset);
    return next === -1 ? starts.length : next;
  };
}

function joinComments(comments: readonly Comment[], source: string): readonly Omit<Text, "file">[] {
  const joined: { line: number; text: string; end: number; isLine: boolean }[] = [];
  const lineAt = lineFinder(source);
  for (const { type, value, start, end } of comments) {
    if (DIRECTIVE.test(value)) continue;
    const isLine = type === "Line";
    const text = isLine ? value.trim() : plainBlock(value);
    const previous = joined.at(-1);
    if (isLine && previous?.isLine && /^[ \t]*\r?\n[ \t]*$/.test(source.slice(previous.end, start))) {
      previous.text += `\n${text}`;
      previous.end = end;
    } else joined.push({ line: lineAt(start), text, end, isLine });
  }
  return joined.map(({ line, text }) => ({ line, text }));
}

/** Returns the lines of a block comment without the stars in front of them. */
const plainBlock = (value: string): string =>
  value
    .split("\n")
    .map((line) => line.replace(/^\s*\*+ ?/, "").trimEnd())
    .join("\n")
    .trim();

interface FoundString {
  readonly start: number;
  readonly text: string;
  readonly isTitle: boolean;
}

function stringsIn(program: Node): readonly FoundString[] {
  const found: FoundString[] = [];
  const titles = new Set<unknown>();
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(visit);
    if (!isNode(node)) return;
    if (node.type === "ImportDeclaration") return;
    if (node.type === "CallExpression" && isTestFunction(node.callee)) titles.add(node.arguments[0]);
    const isTitle = titles.has(node);
    if (node.type === "Literal" && typeof node.value === "string")
      found.push({ start: node.start, text: node.value, isTitle });
    if (node.type === "TemplateLiteral") {
      const text = node.quasis.map(({ value }) => value.cooked ?? value.raw).join("…");
      found.push({ start: node.start, text, isTitle });
      node.expressions.forEach(visit);
      return;
    }
    for (const [name, child] of Object.entries(node)) if (name !== "parent") visit(child);
  };
  visit(program);
  return found;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value;

/** Returns true for `it`, `it.each(…)`, `describe.skipIf(…)` and similar calls. */
function isTestFunction(callee: Node): boolean {
  if (callee.type === "Identifier") return ["it", "test", "describe"].includes(callee.name);
  if (callee.type === "MemberExpression") return isTestFunction(callee.object);
  if (callee.type === "CallExpression") return isTestFunction(callee.callee);
  return callee.type === "TaggedTemplateExpression" && isTestFunction(callee.tag);
}

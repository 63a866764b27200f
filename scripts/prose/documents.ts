// Compares the facts of the Markdown pages with the facts of an earlier revision. Facts are numbers, code,
// commands and links. A fact may move to another page. It is missing only if no page has it now.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { trackedFiles } from "./texts.ts";

export interface Comparison {
  readonly pages: number;
  readonly facts: number;
  readonly missing: readonly { readonly page: string; readonly facts: readonly string[] }[];
}

export function compareDocuments(root: string, revision: string): Comparison {
  const git = (...args: readonly string[]): string =>
    execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28 });
  const old = git("ls-tree", "-r", "--name-only", revision)
    .split("\n")
    .filter((file) => file.endsWith(".md"));
  const now = new Set(
    trackedFiles(root, "*.md").flatMap((page) => factsIn(page, readFileSync(join(root, page), "utf8"))),
  );
  const everyPage = old.map((page) => ({
    page,
    facts: [...new Set(factsIn(page, git("show", `${revision}:${page}`)))],
  }));
  const missing = everyPage
    .map(({ page, facts }) => ({ page, facts: facts.filter((fact) => !now.has(fact)) }))
    .filter(({ facts }) => facts.length > 0);
  return { pages: old.length, facts: everyPage.reduce((sum, { facts }) => sum + facts.length, 0), missing };
}

/**
 * Returns the facts of a page. Each fact starts with its kind. A link counts as the path of its target page,
 * so that equal links on different pages are equal facts.
 */
export function factsIn(page: string, text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```[^\n]*\n([\s\S]*?)^```/gm)].flatMap(([, body = ""]) =>
    body.split("\n"),
  );
  const prose = text.replace(/^```[\s\S]*?^```/gm, "");
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => linkedPage(page, target));
  const code = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, words = ""]) => words);
  const numbers = prose
    .replace(/`[^`\n]*`|\]\([^)]*\)/g, " ")
    .match(/(?<![\w.,-])[$€]?\d[\d,.]*\d%?|(?<![\w.,-])[$€]?\d%?(?![\w,.]*\d)/g);
  return [
    ...links.map((each) => `link     ${each}`),
    ...code.map((each) => `code     ${each}`),
    ...blocks
      .map(commandIn)
      .filter(Boolean)
      .map((each) => `command  ${each}`),
    ...(numbers ?? []).map((each) => `number   ${each}`),
  ];
}

function linkedPage(page: string, target: string): string {
  if (/^https?:/.test(target)) return target;
  const [path = ""] = target.split("#");
  return path === "" ? page : posix.join(posix.dirname(page), path);
}

/**
 * Returns the command in a line of a code block. A comment after the command, and the padding before that
 * comment, are removed.
 */
const commandIn = (line: string): string =>
  line
    .replace(/\s+(?:#|\/\/) .*$/, "")
    .trim()
    .replace(/\s+/g, " ");

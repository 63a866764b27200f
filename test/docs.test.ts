import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const pages = [
  ...["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md"].map((name) => join(ROOT, name)),
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(ROOT, "docs", name)),
].filter((page) => existsSync(page));

/** As the sites that show markdown make them of headings. */
const anchorsOf = (text: string): readonly string[] =>
  [...text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-"),
  );

describe.each(pages.map((page) => [relative(ROOT, page), page]))("%s", (_, page) => {
  const text = readFileSync(page, "utf8");

  it("links only to what exists", () => {
    const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target = ""]) => target);
    expect(targets.filter((target) => !existsSync(join(dirname(page), target)))).toEqual([]);
  });

  it("links only to headings that exist", () => {
    const targets = [...text.matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)];
    const missing = targets.filter(([, file = "", anchor = ""]) => {
      const target = file === "" ? page : join(dirname(page), file);
      return target.endsWith(".md") && !anchorsOf(readFileSync(target, "utf8")).includes(anchor);
    });
    expect(missing.map(([link]) => link)).toEqual([]);
  });

  it("names only files that exist", () => {
    const paths = [...text.matchAll(/`((?:src|test|docs|scripts|examples|bench|\.ci)\/[\w./-]*)`/g)].map(
      ([, path = ""]) => path,
    );
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

describe("the command line's documentation", () => {
  it("names no option that the program does not have", () => {
    const folder = join(ROOT, "src", "cli");
    const program = readdirSync(folder)
      .filter((name) => /(?:program|-command)\.ts$/.test(name))
      .map((name) => readFileSync(join(folder, name), "utf8"))
      .join("\n");
    const options = new Set(
      pages.flatMap((page) => readFileSync(page, "utf8").match(/(?<=longhaul[^\n|]*)--[a-z][a-z-]+/g) ?? []),
    );
    expect([...options].filter((option) => !program.includes(option) && option !== "--help")).toEqual([]);
  });
});

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const pages = [
  ...[
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    "bench/README.md",
  ].map((name) => join(ROOT, name)),
  ...readdirSync(join(ROOT, "packages")).map((name) => join(ROOT, "packages", name, "README.md")),
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(ROOT, "docs", name)),
].filter((page) => existsSync(page));

/** Anchors that Markdown sites generate from headings. */
const anchorsOf = (text: string): readonly string[] =>
  [...text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-"),
  );

describe.each(pages.map((page) => [relative(ROOT, page), page]))("links and file names in %s", (_, page) => {
  const text = readFileSync(page, "utf8");

  it("a page links only to files that exist", () => {
    const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target = ""]) => target);
    expect(targets.filter((target) => !existsSync(join(dirname(page), target)))).toEqual([]);
  });

  it("a page links only to headings that exist", () => {
    const targets = [...text.matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)];
    const missing = targets.filter(([, file = "", anchor = ""]) => {
      const target = file === "" ? page : join(dirname(page), file);
      return target.endsWith(".md") && !anchorsOf(readFileSync(target, "utf8")).includes(anchor);
    });
    expect(missing.map(([link]) => link)).toEqual([]);
  });

  it("a page names only files that exist", () => {
    const paths = [
      ...text.matchAll(/`((?:src|packages|test|docs|scripts|examples|bench|\.ci|\.github)\/[\w./-]*)`/g),
    ].map(([, path = ""]) => path);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

it.each(pages.map((page) => relative(ROOT, page)))("%s has no unfinished part", (page) => {
  expect(readFileSync(join(ROOT, page), "utf8").match(/^.*TODO-.*$/gm) ?? []).toEqual([]);
});

describe("package tarballs that pages name", () => {
  const manifestOf = (name: string) =>
    JSON.parse(readFileSync(join(ROOT, "packages", name, "package.json"), "utf8"));
  const { version } = manifestOf("longhaul");
  // npm pack writes @longhaul/core to longhaul-core-VERSION.tgz.
  const tarballs = readdirSync(join(ROOT, "packages"))
    .map(manifestOf)
    .filter((manifest) => manifest.private !== true)
    .map(({ name }) => `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
  // The changelog and the release process may name other versions.
  const naming = pages
    .map((page) => relative(ROOT, page))
    .filter((page) => !["CHANGELOG.md", join("docs", "releasing.md")].includes(page))
    .map(
      (page) =>
        [page, readFileSync(join(ROOT, page), "utf8").match(/\blonghaul[\w.-]*\.tgz/g) ?? []] as const,
    )
    .filter(([, names]) => names.length > 0);

  it("the README, the installation guide, the loop guide and package READMEs name tarballs", () => {
    const named = naming.map(([page]) => page);
    expect(named).toContain("README.md");
    expect(named).toContain(join("docs", "guides", "install.md"));
    expect(named).toContain(join("docs", "guides", "use-it-in-your-loop.md"));
    expect(named.filter((page) => page.startsWith("packages")).length).toBeGreaterThanOrEqual(8);
  });

  it.each(naming)("%s names only tarballs of public packages in the current version", (_, names) => {
    expect(names.filter((name) => !tarballs.includes(name))).toEqual([]);
  });
});

describe("package names on documentation pages", () => {
  const packages = readdirSync(join(ROOT, "packages")).map((name) =>
    JSON.parse(readFileSync(join(ROOT, "packages", name, "package.json"), "utf8")),
  );
  const entries = packages.flatMap(({ name, exports }) =>
    Object.keys(exports).map((entry) => `${name}${entry.slice(1)}`),
  );
  const publicEntries = entries.filter((entry) => !/\/(?:internal\b|package\.json)/.test(entry));

  it.each(pages.map((page) => relative(ROOT, page)))("%s imports only public package entries", (page) => {
    const text = readFileSync(join(ROOT, page), "utf8");
    const imported = [...text.matchAll(/(?:from|import) "(@?longhaul[^"]*)"/g)].map(([, name = ""]) => name);
    expect(imported.filter((name) => !publicEntries.includes(name))).toEqual([]);
  });

  // The changelog names former entries.
  const current = pages.map((page) => relative(ROOT, page)).filter((page) => page !== "CHANGELOG.md");
  it.each(current)("%s names only package entries that exist", (page) => {
    const text = readFileSync(join(ROOT, page), "utf8");
    const named = [...text.matchAll(/`(@?longhaul\/[a-z][\w/-]*)`/g)].map(([, name = ""]) => name);
    const known = [...entries, "@longhaul/source"]; // This name is the export condition for development.
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe("command line options on documentation pages", () => {
  it("documentation pages name only options that the command line has", () => {
    const folder = join(ROOT, "packages", "longhaul", "src");
    const program = readdirSync(folder)
      .filter((name) => /(?:program|-command)\.ts$/.test(name))
      .map((name) => readFileSync(join(folder, name), "utf8"))
      .join("\n");
    // If a line names a package such as `@longhaul/core`, later options in the line belong to another
    // program.
    const options = new Set(
      pages.flatMap(
        (page) => readFileSync(page, "utf8").match(/(?<=(?<!@)longhaul[^\n|]*)--[a-z][a-z-]+/g) ?? [],
      ),
    );
    expect([...options].filter((option) => !program.includes(option) && option !== "--help")).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { governanceOf, memoryPathsFor, ruleFolderOf } from "./governing.ts";
import { pathPatterns } from "./path-patterns.ts";
import { absolutePath, type Place, type PlacedPath, placeOf } from "./placed-paths.ts";
import { governsAny } from "./rule-files.ts";

const place = (folder: string): Place => placeOf(folder) ?? expect.fail("no place");
const project = place("/p");
const at = (relative: string, where: Place = project): PlacedPath => ({ place: where, relative });

describe("memory files that may govern a file", () => {
  it("are in the working directory and in each folder down to the file, the outermost first", () => {
    const paths = memoryPathsFor(["a/b/c.ts"], governanceOf(project)).map(absolutePath);
    expect(paths).toEqual([
      "/p/AGENTS.md",
      "/p/CLAUDE.md",
      "/p/a/AGENTS.md",
      "/p/a/CLAUDE.md",
      "/p/a/b/AGENTS.md",
      "/p/a/b/CLAUDE.md",
    ]);
  });

  it("are looked for once, however many files they govern", () => {
    const governance = governanceOf(project, ["M.md"]);
    const paths = memoryPathsFor(["x/y/z/1.ts", "a/2.ts", "x/3.ts", "a/4.ts"], governance).map(absolutePath);
    expect(paths).toEqual(["/p/M.md", "/p/x/M.md", "/p/a/M.md", "/p/x/y/M.md", "/p/x/y/z/M.md"]);
  });

  it("have the names that the host gives, as long as these stay inside", () => {
    const governance = governanceOf(project, ["RULES.md", ".x/MEMORY.md", "../M.md", "/etc/M.md"]);
    expect(memoryPathsFor(["a.ts"], governance).map(absolutePath)).toEqual([
      "/p/RULES.md",
      "/p/.x/MEMORY.md",
    ]);
  });

  it("are written as the system writes paths", () => {
    const windows = place("D:\\p");
    const [, first] = memoryPathsFor(["a/b.ts"], governanceOf(windows, ["M.md"])).map(absolutePath);
    expect(first).toBe("D:\\p\\a\\M.md");
  });
});

describe("rules", () => {
  const rule = (patterns: readonly string[] | undefined, base = "") => ({
    file: at(".claude/rules/r.md"),
    base,
    patterns: patterns && pathPatterns(patterns),
  });

  it("govern what their patterns match, and everything without patterns", () => {
    expect(governsAny(rule(["src/**/*.ts"]), ["docs/a.md", "src/x/a.ts"])).toBe(true);
    expect(governsAny(rule(["src/**/*.ts"]), ["docs/a.md"])).toBe(false);
    expect(governsAny(rule(undefined), ["docs/a.md"])).toBe(true);
    expect(governsAny(rule(undefined), [])).toBe(false);
  });

  it("of a hidden folder are about the folder that holds it", () => {
    const { ruleFolders } = governanceOf(
      project,
      [],
      [".claude/rules", "web/.claude/rules", "docs/rules", "../x"],
    );
    expect(ruleFolders.map(({ folder, base }) => [folder.relative, base])).toEqual([
      [".claude/rules", ""],
      ["web/.claude/rules", "web"],
      ["docs/rules", ""],
    ]);
    expect(governsAny(rule(["/src/**"], "web"), ["web/src/a.ts"])).toBe(true);
    expect(governsAny(rule(["/src/**"], "web"), ["src/a.ts"])).toBe(false);
    expect(governsAny(rule(undefined, "web"), ["webs/a.ts"])).toBe(false);
  });

  it("are text for people, at any depth of a rule folder", () => {
    const governance = governanceOf(project);
    const isRule = (path: string): boolean => ruleFolderOf(at(path), governance) !== undefined;
    expect(isRule(".claude/rules/a.md")).toBe(true);
    expect(isRule(".claude/rules/x/y/A.MD")).toBe(true);
    expect(isRule(".claude/rules/a.txt")).toBe(false);
    expect(isRule(".claude/rulesets/a.md")).toBe(false);
    expect(isRule("src/.claude/rules/a.md")).toBe(false);
    expect(ruleFolderOf(at(".claude/rules/a.md", place("/home/u")), governance)).toBeUndefined();
  });
});

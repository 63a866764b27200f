import { describe, expect, it } from "vitest";
import { memoryPathsFor, memoryRulesOf, ruleFolderOf } from "./governing.ts";
import { pathPatterns } from "./path-patterns.ts";
import { absolutePath, type Place, type PlacedPath, placeOf } from "./placed-paths.ts";
import { appliesToAny } from "./rule-files.ts";

const place = (folder: string): Place => placeOf(folder) ?? expect.fail("no place");
const project = place("/p");
const at = (relative: string, where: Place = project): PlacedPath => ({ place: where, relative });

describe("memoryPathsFor", () => {
  it("looks for memory files in the working directory and in each folder down to the touched file", () => {
    const paths = memoryPathsFor(["a/b/c.ts"], memoryRulesOf(project)).map(absolutePath);
    expect(paths).toEqual([
      "/p/AGENTS.md",
      "/p/CLAUDE.md",
      "/p/a/AGENTS.md",
      "/p/a/CLAUDE.md",
      "/p/a/b/AGENTS.md",
      "/p/a/b/CLAUDE.md",
    ]);
  });

  it("looks for each memory file once, however many touched files it applies to", () => {
    const governance = memoryRulesOf(project, ["M.md"]);
    const paths = memoryPathsFor(["x/y/z/1.ts", "a/2.ts", "x/3.ts", "a/4.ts"], governance).map(absolutePath);
    expect(paths).toEqual(["/p/M.md", "/p/x/M.md", "/p/a/M.md", "/p/x/y/M.md", "/p/x/y/z/M.md"]);
  });

  it("looks for memory files by the host's names, except names that lead out of the working directory", () => {
    const governance = memoryRulesOf(project, ["RULES.md", ".x/MEMORY.md", "../M.md", "/etc/M.md"]);
    expect(memoryPathsFor(["a.ts"], governance).map(absolutePath)).toEqual([
      "/p/RULES.md",
      "/p/.x/MEMORY.md",
    ]);
  });

  it("returns paths of memory files with the separators of the operating system", () => {
    const windows = place("D:\\p");
    const [, first] = memoryPathsFor(["a/b.ts"], memoryRulesOf(windows, ["M.md"])).map(absolutePath);
    expect(first).toBe("D:\\p\\a\\M.md");
  });
});

describe("rule files", () => {
  const rule = (patterns: readonly string[] | undefined, base = "") => ({
    file: at(".claude/rules/r.md"),
    base,
    patterns: patterns && pathPatterns(patterns),
  });

  it("a rule applies to the files that its patterns match, and a rule without patterns applies to every file", () => {
    expect(appliesToAny(rule(["src/**/*.ts"]), ["docs/a.md", "src/x/a.ts"])).toBe(true);
    expect(appliesToAny(rule(["src/**/*.ts"]), ["docs/a.md"])).toBe(false);
    expect(appliesToAny(rule(undefined), ["docs/a.md"])).toBe(true);
    expect(appliesToAny(rule(undefined), [])).toBe(false);
  });

  it("rules in a hidden folder apply to the folder that contains the hidden folder", () => {
    const { ruleFolders } = memoryRulesOf(
      project,
      [],
      [".claude/rules", "web/.claude/rules", "docs/rules", "../x"],
    );
    expect(ruleFolders.map(({ folder, base }) => [folder.relative, base])).toEqual([
      [".claude/rules", ""],
      ["web/.claude/rules", "web"],
      ["docs/rules", ""],
    ]);
    expect(appliesToAny(rule(["/src/**"], "web"), ["web/src/a.ts"])).toBe(true);
    expect(appliesToAny(rule(["/src/**"], "web"), ["src/a.ts"])).toBe(false);
    expect(appliesToAny(rule(undefined, "web"), ["webs/a.ts"])).toBe(false);
  });

  it("accepts Markdown files at any depth of a rule folder as rules", () => {
    const governance = memoryRulesOf(project);
    const isRule = (path: string): boolean => ruleFolderOf(at(path), governance) !== undefined;
    expect(isRule(".claude/rules/a.md")).toBe(true);
    expect(isRule(".claude/rules/x/y/A.MD")).toBe(true);
    expect(isRule(".claude/rules/a.txt")).toBe(false);
    expect(isRule(".claude/rulesets/a.md")).toBe(false);
    expect(isRule("src/.claude/rules/a.md")).toBe(false);
    expect(ruleFolderOf(at(".claude/rules/a.md", place("/home/u")), governance)).toBeUndefined();
  });
});

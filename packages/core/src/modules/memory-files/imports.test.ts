import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { importedPath, importsIn } from "./imports.ts";
import { absolutePath, type Place, placeOf } from "./placed-paths.ts";

describe("importsIn", () => {
  it.each([
    ["@docs/style.md", ["docs/style.md"]],
    ["See @README and @./package.json.", ["README", "./package.json"]],
    ["- git workflow @docs/git.md\n- @~/.claude/mine.md", ["docs/git.md", "~/.claude/mine.md"]],
    ['(@a.md), [@b.md]: "@c.md"; **@d.md**!', ["a.md", "b.md", "c.md", "d.md"]],
    ["@../up.md @/abs.md", ["../up.md", "/abs.md"]],
    ["@my\\ notes.md now", ["my notes.md"]],
    ["@docs/a.md#part", ["docs/a.md"]],
    ["@a.md @b.md @a.md", ["a.md", "b.md"]],
    ["@文書/規則.md", ["文書/規則.md"]],
    ["@docs\\win.md", ["docs\\win.md"]],
  ])("finds the imports in %j", (text, expected) => {
    expect(importsIn(text)).toEqual(expected);
  });

  it.each([
    "me@example.com",
    "a@b",
    "@",
    "@ a",
    "@@a",
    "@#a",
    "@(a)",
    "@https://x.y/z.md",
    "no at",
    "x@docs/a.md",
  ])("finds no import in %s", (text) => {
    expect(importsIn(text)).toEqual([]);
  });

  it.each([
    ["a span", "a `@b.md` c"],
    ["a span with more backticks", "a ``x ` @b.md`` c"],
    ["a span after lone backticks", "`` and `x @b.md`"],
    ["a span over two lines", "a `x\n@b.md` c"],
    ["a fence", "```\n@b.md\n```"],
    ["a fence with a language", "```ts\n@Decorator\n```"],
    ["a fence of tildes", "~~~\n@b.md\n```\n@c.md\n~~~"],
    ["a longer fence", "````\n```\n@b.md\n```\n@c.md\n````"],
    ["a fence in a list", "- item\n\n  ```\n  @b.md\n  ```"],
    ["a fence in a quote", "> ```\n> @b.md\n> ```"],
    ["a fence that never closes", "```\n@b.md\n\n@c.md"],
  ])("finds no import in code: %s", (_what, text) => {
    expect(importsIn(text)).toEqual([]);
    expect(importsIn(`@before.md\n\n${text}`)).toEqual(["before.md"]);
  });

  it("finds imports in the text after code", () => {
    expect(importsIn("```\n@a\n```\n@b.md")).toEqual(["b.md"]);
    expect(importsIn("`@a` and @b.md and ``` `` @c ```")).toEqual(["b.md"]);
    expect(importsIn("a lone ` and @b.md")).toEqual(["b.md"]);
    expect(importsIn("a lone `\n\n@b.md and ` another")).toEqual(["b.md"]);
    expect(importsIn("```not a fence``` @b.md")).toEqual(["b.md"]);
  });

  it("importsIn accepts any text without an error and finds no import in fenced code", () => {
    const text = fc.string({ unit: fc.constantFrom(..."@a./~`\n \\#)", "```", "~~~", "\n\n", "> ", "- ") });
    fc.assert(
      fc.property(text, (words) => {
        for (const found of importsIn(words)) expect(words.replaceAll("\\ ", " ")).toContain(`@${found}`);
        const fenced = `\`\`\`\`\`\`\`\`\n${words.replaceAll("`", "'")}\n\`\`\`\`\`\`\`\``;
        expect(importsIn(fenced)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

describe("importedPath", () => {
  const place = (folder: string): Place => placeOf(folder) ?? expect.fail("no place");
  const project = place("/home/u/p");
  const home = place("/home/u");
  const from = { place: project, relative: "docs/rules.md" };
  const resolved = (
    reference: string,
    places = { project, home: undefined as Place | undefined },
  ): string | undefined => {
    const found = importedPath(reference, from, places);
    return found && absolutePath(found);
  };

  it.each([
    ["style.md", "/home/u/p/docs/style.md"],
    ["./a/b.md", "/home/u/p/docs/a/b.md"],
    ["../README.md", "/home/u/p/README.md"],
    ["/home/u/p/x.md", "/home/u/p/x.md"],
  ])("resolves %s from the importing file to %s", (reference, expected) => {
    expect(resolved(reference)).toBe(expected);
  });

  it.each([
    "../../secret",
    "/etc/passwd",
    "/home/u/x.md",
    "~/x.md",
    "~other/x.md",
    "C:\\x.md",
    "..",
    "../..",
  ])("rejects the import %s, which leads out of the working directory", (reference) => {
    expect(resolved(reference)).toBeUndefined();
  });

  it("resolves imports in the home folder only when the host allows it and the import starts with ~/", () => {
    const places = { project, home };
    expect(resolved("~/.claude/mine.md", places)).toBe("/home/u/.claude/mine.md");
    expect(resolved("~/../other/x.md", places)).toBeUndefined();
    expect(resolved("../../x.md", places)).toBeUndefined();
    expect(resolved("/home/u/x.md", places)).toBeUndefined();
    const mine = { place: home, relative: ".claude/mine.md" };
    const next = importedPath("more.md", mine, places);
    expect(next && absolutePath(next)).toBe("/home/u/.claude/more.md");
  });
});

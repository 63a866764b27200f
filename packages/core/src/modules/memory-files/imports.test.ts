import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { importedPath, importsIn } from "./imports.ts";
import { absolutePath, type Place, placeOf } from "./placed-paths.ts";

describe("imports in a memory file", () => {
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
  ])("%j", (text, expected) => {
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
  ])("%s is none", (text) => {
    expect(importsIn(text)).toEqual([]);
  });

  it.each([
    ["a span", "a `@b.md` c"],
    ["a span with more backticks", "a ``x ` @b.md`` c"],
    ["a span after lone backticks", "`` and `x @b.md`"],
    ["a span over two lines", "a `x\n@b.md` c"],
    ["a fence", "```\n@b.md\n```"],
    ["a fence with a language", "```ts\n@Decorator\n```"],
    ["a fence of waves", "~~~\n@b.md\n```\n@c.md\n~~~"],
    ["a longer fence", "````\n```\n@b.md\n```\n@c.md\n````"],
    ["a fence in a list", "- item\n\n  ```\n  @b.md\n  ```"],
    ["a fence in a quote", "> ```\n> @b.md\n> ```"],
    ["a fence that never closes", "```\n@b.md\n\n@c.md"],
  ])("code is not meant: %s", (_what, text) => {
    expect(importsIn(text)).toEqual([]);
    expect(importsIn(`@before.md\n\n${text}`)).toEqual(["before.md"]);
  });

  it("what follows code is meant again", () => {
    expect(importsIn("```\n@a\n```\n@b.md")).toEqual(["b.md"]);
    expect(importsIn("`@a` and @b.md and ``` `` @c ```")).toEqual(["b.md"]);
    expect(importsIn("a lone ` and @b.md")).toEqual(["b.md"]);
    expect(importsIn("a lone `\n\n@b.md and ` another")).toEqual(["b.md"]);
    expect(importsIn("```not a fence``` @b.md")).toEqual(["b.md"]);
  });

  it("nothing makes it fail, and none is found in code whatever stands in it", () => {
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

describe("where an import leads", () => {
  const place = (folder: string): Place => placeOf(folder) ?? expect.fail("no place");
  const project = place("/home/u/p");
  const home = place("/home/u");
  const from = { place: project, relative: "docs/rules.md" };
  const led = (
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
  ])("%s is relative to the file that names it, or absolute: %s", (reference, expected) => {
    expect(led(reference)).toBe(expected);
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
  ])("%s leads out of the working directory, and nowhere", (reference) => {
    expect(led(reference)).toBeUndefined();
  });

  it("the user's own folder is open only where the host says so, and only for what names it", () => {
    const places = { project, home };
    expect(led("~/.claude/mine.md", places)).toBe("/home/u/.claude/mine.md");
    expect(led("~/../other/x.md", places)).toBeUndefined();
    expect(led("../../x.md", places)).toBeUndefined();
    expect(led("/home/u/x.md", places)).toBeUndefined();
    const mine = { place: home, relative: ".claude/mine.md" };
    const next = importedPath("more.md", mine, places);
    expect(next && absolutePath(next)).toBe("/home/u/.claude/more.md");
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { globPattern } from "./glob-pattern.ts";

const matches = (pattern: string, path: string): boolean => globPattern(pattern).matches(path.split("/"));

describe("globPattern", () => {
  it.each([
    ["*.ts", "a.ts", "src/a.ts"],
    ["**/*.ts", "a.ts", "a.tsx"],
    ["**/*.ts", "src/deep/.b.ts", "src/deep"],
    ["src/**", "src/a/b", "lib/a"],
    ["src/**/x/*.css", "src/x/a.css", "src/x/y/a.css"],
    ["src/{app,lib}/**/*.css", "src/lib/a.css", "src/other/a.css"],
    ["{src/a,lib}/*", "src/a/x", "src/x"],
    ["a{b,c{d,e}}", "ace", "ac"],
    ["./a?c", "abc", "ac"],
    ["[a-c]x[!0-9]", "bxy", "bx1"],
    ["[]]", "]", "a"],
    ["app/(group)/[[]id]/*.tsx", "app/(group)/[id]/page.tsx", "app/group/id/page.tsx"],
    ["\\*", "*", "a"],
    ["{a}", "{a}", "a"],
    ["ä*€?", "äöü€😀", "ao€😀"],
  ])("the glob %s matches %s but not %s", (pattern, meant, other) => {
    expect(matches(pattern, meant)).toBe(true);
    expect(matches(pattern, other)).toBe(false);
  });

  it("a glob selects every folder above a match for the search, and selects few other folders", () => {
    const name = fc.constantFrom("a", "b", "ab");
    const step = fc.constantFrom("a", "*", "**", "?b", "{a,b}", "*b");
    fc.assert(
      fc.property(fc.array(step, { minLength: 1 }), fc.array(name, { minLength: 1 }), (steps, names) => {
        const pattern = globPattern(steps.join("/"));
        if (!pattern.matches(names)) return;
        for (let depth = 0; depth < names.length; depth++)
          expect(pattern.reaches(names.slice(0, depth))).toBe(true);
      }),
    );
    expect(globPattern("src/*.ts").reaches(["lib"])).toBe(false);
    expect(globPattern("src/*.ts").reaches(["src", "deep"])).toBe(false);
  });

  it("a glob with stars matches like the equivalent regular expression", () => {
    const unit = fc.constantFrom("a", "b", "*", "?");
    fc.assert(
      fc.property(
        fc.string({ unit, minLength: 1, maxLength: 6 }),
        fc.stringMatching(/^[ab]{1,8}$/),
        (glob, name) => {
          fc.pre(glob !== "**");
          const same = new RegExp(`^${glob.replaceAll(/\*+/g, ".*").replaceAll("?", ".")}$`);
          expect(matches(glob, name)).toBe(same.test(name));
        },
      ),
    );
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesRuns } from "./name-pattern.ts";
import { pathPatterns } from "./path-patterns.ts";

const matches = (patterns: string | readonly string[], path: string, ignoreCase = false): boolean =>
  pathPatterns([patterns].flat(), { ignoreCase })?.matches(path) ?? expect.fail("too much to try");

describe("pathPatterns", () => {
  it.each([
    // One star matches within a name, two match across names.
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "src/x/a.ts", false],
    ["src/**/*.ts", "src/a.ts", true],
    ["src/**/*.ts", "src/x/y/a.ts", true],
    ["src/**/*.ts", "lib/a.ts", false],
    ["**/*.md", "README.md", true],
    ["**/*.md", "docs/a/b.md", true],
    ["src/**", "src/a/b.ts", true],
    ["src/**", "src", false],
    ["a**b/c", "axxb/c", true],
    ["**", "any/thing", true],
    // `?` matches any single character, `[…]` one character of a set, `[!…]` one character outside a set.
    ["?.ts", "a.ts", true],
    ["?.ts", "ab.ts", false],
    ["?.ts", "🙂.ts", true],
    ["[abc].ts", "b.ts", true],
    ["[a-c][0-9].ts", "c7.ts", true],
    ["[!abc].ts", "b.ts", false],
    ["[^abc].ts", "d.ts", true],
    ["[]x].ts", "].ts", true],
    ["a[b.ts", "a[b.ts", true],
    // Braces list alternatives.
    ["src/**/*.{ts,tsx}", "src/a.tsx", true],
    ["{src,lib}/*.ts", "lib/a.ts", true],
    ["{src,lib}/*.ts", "docs/a.ts", false],
    ["{a,b{1,2}}.ts", "b2.ts", true],
    ["{a,b{1,2}}.ts", "b.ts", false],
    ["{a/**,b}/c.ts", "a/c.ts", true],
    ["{a,{b},c}.ts", "{b}.ts", true],
    ["{a,{b},c}.ts", "c.ts", true],
    ["{x{a,b}", "{xb", true],
    ["{,x}a.ts", "a.ts", true],
    ["{a}.ts", "{a}.ts", true],
    ["a{b,c", "a{b,c", true],
    // A pattern without a slash matches at any depth, a pattern with one matches from the start.
    ["*.ts", "src/x/a.ts", true],
    ["/*.ts", "src/a.ts", false],
    ["/*.ts", "a.ts", true],
    ["./src", "src/a.ts", true],
    ["src/api", "src/api/x/a.ts", true],
    ["src/api", "x/src/api/a.ts", false],
    // A slash at the end means a folder and everything below it.
    ["generated/", "a/generated/b.ts", true],
    ["generated/", "a/generated", false],
    // Hidden files match too.
    ["**/*.yml", ".github/workflows/ci.yml", true],
    // A backslash escapes special characters. Any other backslash is a separator.
    ["\\*.ts", "*.ts", true],
    ["\\*.ts", "a.ts", false],
    ["src\\api\\a.ts", "src/api/a.ts", true],
    // Special characters of regular expressions have no meaning here.
    ["a.c", "abc", false],
    ["a+(b)|c$", "a+(b)|c$", true],
  ])("the pattern %s matches the path %s: %s", (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  it("the last matching pattern decides whether a path matches, and a pattern with `!` excludes paths", () => {
    const patterns = ["src/**", "!src/**/*.test.ts", "src/keep.test.ts"];
    expect(matches(patterns, "src/a.ts")).toBe(true);
    expect(matches(patterns, "src/a.test.ts")).toBe(false);
    expect(matches(patterns, "src/keep.test.ts")).toBe(true);
    expect(matches(patterns, "lib/a.ts")).toBe(false);
  });

  it("a list with only excluding patterns matches all paths that it does not exclude", () => {
    expect(matches("!**/*.test.ts", "src/a.ts")).toBe(true);
    expect(matches("!**/*.test.ts", "src/a.test.ts")).toBe(false);
  });

  it("an empty pattern matches nothing", () => {
    for (const pattern of ["", "/", ".", "!", "!/"]) expect(matches(pattern, "a")).toBe(false);
  });

  it("matches paths case-sensitively unless ignoreCase is set", () => {
    expect(matches("SRC/*.TS", "src/a.ts")).toBe(false);
    expect(matches("SRC/[A-Z].TS", "src/a.ts", true)).toBe(true);
  });

  it("pathPatterns returns undefined for patterns that expand to too many alternatives or characters", () => {
    expect(pathPatterns(["{a,b}".repeat(6)])).toBeDefined();
    expect(pathPatterns(["{a,b}".repeat(7)])).toBeUndefined();
    expect(pathPatterns(["{a,b}".repeat(2_000)])).toBeUndefined();
    expect(pathPatterns(["{".repeat(9_000)])).toBeDefined();
    expect(pathPatterns([`${"x".repeat(300)}${"{a,b}".repeat(6)}`])).toBeUndefined();
    expect(pathPatterns(Array.from({ length: 6_000 }, () => "a"))).toBeUndefined();
  });
});

describe("matchesRuns", () => {
  type Piece = string;
  const isRun = (piece: Piece): boolean => piece === "*";

  /** Reference implementation that tries every combination. */
  function tryEverything(pattern: readonly Piece[], text: readonly string[]): boolean {
    const [piece, ...rest] = pattern;
    if (piece === undefined) return text.length === 0;
    if (!isRun(piece)) return text[0] === piece && tryEverything(rest, text.slice(1));
    return tryEverything(rest, text) || (text.length > 0 && tryEverything(pattern, text.slice(1)));
  }

  it("matchesRuns finds the same matches as a search that tries every combination", () => {
    const pattern = fc.array(fc.constantFrom("a", "b", "*"), { maxLength: 7 });
    const text = fc.array(fc.constantFrom("a", "b"), { maxLength: 9 });
    fc.assert(
      fc.property(pattern, text, (pieces, items) => {
        const found = matchesRuns(pieces, items, isRun, (piece, item) => piece === item);
        expect(found).toBe(tryEverything(pieces, items));
      }),
      { numRuns: 2_000 },
    );
  });

  it("the number of match steps is at most pattern length times text length, even for hostile patterns", () => {
    const hostile = fc.oneof(
      fc.array(fc.constantFrom("a", "b", "*"), { maxLength: 60 }),
      fc.nat(60).map((times) => [..."*a".repeat(times), "b"]),
    );
    fc.assert(
      fc.property(hostile, fc.nat(200), (pieces, length) => {
        let steps = 0;
        const items = Array.from({ length }, () => "a");
        matchesRuns(pieces, items, isRun, (piece, item) => {
          steps++;
          return piece === item;
        });
        expect(steps).toBeLessThanOrEqual((pieces.length + 1) * (items.length + 1));
      }),
      { numRuns: 500 },
    );
  });

  it("compiles any pattern text without an error", () => {
    const text = fc.string({ unit: fc.constantFrom(..."ab*?[]{},!/\\^-🙂. ") });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), text, fc.boolean(), (patterns, path, ignoreCase) => {
        expect(pathPatterns(patterns, { ignoreCase })?.matches(path) ?? false).toBeTypeOf("boolean");
      }),
      { numRuns: 500 },
    );
  });
});

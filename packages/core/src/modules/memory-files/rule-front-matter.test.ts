import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readRule } from "./rule-front-matter.ts";

const patternsOf = (...lines: readonly string[]): readonly string[] | string => {
  const { patterns, problem } = readRule(["---", ...lines, "---", "Body."].join("\n"));
  return problem ?? patterns;
};

describe("readRule", () => {
  it("removes the front matter and the blank lines after it from the text of a rule", () => {
    expect(readRule("---\npaths: a\n---\n\n  \n# Title\n\nText\n").body).toBe("# Title\n\nText\n");
    expect(readRule("---\r\npaths: a\r\n---\r\nText\r\n")).toEqual({ body: "Text\r\n", patterns: ["a"] });
    expect(readRule("\uFEFF---\npaths: a\n...\nText")).toEqual({ body: "Text", patterns: ["a"] });
    expect(readRule("---\npaths: a\n---")).toEqual({ body: "", patterns: ["a"] });
    expect(readRule("---\n---\nText")).toEqual({ body: "Text", patterns: [] });
  });

  it("a rule without front matter has no patterns", () => {
    for (const text of ["", "Text", "# Title\n---\npaths: a\n---\n", " ---\npaths: a\n---\n", "----\n"])
      expect(readRule(text)).toEqual({ body: text, patterns: [] });
  });

  it.each([
    [
      "a list",
      ["paths:", '  - "src/**/*.ts"', "  - 'lib/*'", "  - docs/**"],
      ["src/**/*.ts", "lib/*", "docs/**"],
    ],
    ["a list at the left edge", ["paths:", "- a", "- b"], ["a", "b"]],
    [
      "a list with comments and gaps",
      ["paths: # those", "  # first", "  - a # one", "", "  - b"],
      ["a", "b"],
    ],
    ["brackets", ["paths: [\"a\", b, 'c']"], ["a", "b", "c"]],
    ["brackets over several lines", ["paths: [", '  "a",', "  b", "]"], ["a", "b"]],
    ["empty brackets", ["paths: []"], []],
    ["one pattern", ["paths: src/**/*.ts"], ["src/**/*.ts"]],
    ["one pattern with braces", ["paths: src/**/*.{ts,tsx}"], ["src/**/*.{ts,tsx}"]],
    ["a list with commas", ["paths: src/*.{ts,tsx}, lib/**"], ["src/*.{ts,tsx}", "lib/**"]],
    ["commas in quotes", ['paths: "a, b"'], ["a", "b"]],
    ["commas between quotes", ['paths: "a", "b"'], ["a", "b"]],
    ["a list with some quotes", ['paths: a, "b"'], ["a", "b"]],
    ["the globs key of other tools", ["globs: *.ts,*.tsx"], ["*.ts", "*.tsx"]],
    ["both keys", ["paths: a", "globs: b"], ["a", "b"]],
    ["a key in quotes", ['"paths": a'], ["a"]],
    ["an empty key", ["paths:"], []],
    ["null", ["paths: null"], []],
    ["quotes within quotes", ["paths: ['it''s', \"a\\\"b\\\\c\"]"], ["it's", 'a"b\\c']],
    [
      "patterns that YAML would read differently",
      ["paths:", "  - **/*.ts", "  - !src/x", "  - {a,b}/**"],
      ["**/*.ts", "!src/x", "{a,b}/**"],
    ],
  ] as const)("reads path patterns from the front matter of a rule with %s", (_how, lines, expected) => {
    expect(patternsOf(...lines)).toEqual(expected);
  });

  it("ignores all keys in the front matter of a rule except paths and globs", () => {
    const lines = [
      "name: a rule",
      "description: >",
      "  paths: not these",
      "",
      "  - nor these",
      "alwaysApply: false",
      "with space and: colon: b",
      "nested:",
      "  paths: nor these",
      "list:",
      "- globs: nor these",
      "# paths: nor these",
      "paths: these",
      "map: {a: [b, c]}",
    ];
    expect(patternsOf(...lines)).toEqual(["these"]);
  });

  it.each([
    ["a map", ["paths:", "  a: b"]],
    ["a map in a list", ["paths:", "  - a: b"]],
    ["a map in braces", ["paths: {a: b}"]],
    ["a list in a list", ["paths:", "  - - a"]],
    ["brackets in a list", ["paths:", "  - [a, b]"]],
    ["brackets that do not close", ["paths: [a, b"]],
    ["brackets with comments in between", ["paths: [", "  a, # one", "  b", "]"]],
    ["quotes that do not close", ['paths: "a']],
    ["text after quotes", ['paths: "a" b']],
    ["an unsupported escape", ['paths: "\\u0041"']],
    ["a block of text", ["paths: |", "  a", "  b"]],
    ["an anchor", ["paths: &these a"]],
    ["a pattern over two lines", ["paths: a", "  b"]],
    ["a line that is not a key", ["paths: a", "hello"]],
    ["a key indented with a tab", ["paths:", "\tglobs: a"]],
  ])("reports unreadable front matter of a rule and returns no patterns: %s", (_what, lines) => {
    expect(patternsOf(...lines)).toBe("front-matter-not-understood");
    expect(readRule(["---", ...lines, "---", "Body."].join("\n")).body).toBe("Body.");
  });

  it("reports front matter that is never closed and keeps the whole text of the rule", () => {
    const text = "---\npaths: a\n\nText";
    expect(readRule(text)).toEqual({ body: text, patterns: [], problem: "front-matter-unclosed" });
    const late = `---\n${"a: b\n".repeat(2_000)}---\nText`;
    expect(readRule(late).problem).toBe("front-matter-unclosed");
  });

  it("readRule accepts any text without an error and loses nothing outside the front matter", () => {
    const line = fc.oneof(
      fc.constantFrom(
        "---",
        "paths:",
        "paths: [",
        "- a",
        '  - "b"',
        "]",
        "# x",
        "",
        "globs: 'a'",
        "key: |",
        "  text",
      ),
      fc.string({ unit: fc.constantFrom(..."ab:-#[]{}\"',*!&|> \t\\") }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.string(), (lines, body) => {
        const text = [...lines, body].join("\n");
        const rule = readRule(text);
        expect(text.endsWith(rule.body)).toBe(true);
        if (!text.startsWith("---")) expect(rule).toEqual({ body: text, patterns: [] });
        for (const pattern of rule.patterns) expect(pattern.trim()).not.toBe("");
        if (rule.problem !== undefined) expect(rule.patterns).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

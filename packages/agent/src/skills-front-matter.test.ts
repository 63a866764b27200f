import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readFrontMatter } from "./skills.ts";

const read = (...lines: readonly string[]) => {
  const { fields, body } = readFrontMatter(lines.join("\n"));
  return { ...Object.fromEntries(fields), body };
};

describe("readFrontMatter", () => {
  it("reads plain, quoted, folded and multi-line fields of front matter", () => {
    expect(read("---", "name: a", "description: b: c", "---", "", "do it")).toEqual({
      name: "a",
      description: "b: c",
      body: "do it",
    });
    expect(read("---", 'name: "a \\"b\\""', "description: 'it''s'", "---")).toMatchObject({
      name: 'a "b"',
      description: "it's",
    });
    expect(read("---", "description: >-", "  one", "  two", "", "name: a", "---")).toMatchObject({
      description: "one two",
      name: "a",
    });
    expect(read("---", "description: |", "  one", "  two", "---")).toMatchObject({ description: "one\ntwo" });
    expect(read("---", "description: one", "  two", "---")).toMatchObject({ description: "one two" });
  });

  it("ignores other fields, lists and comments in front matter", () => {
    const lines = [
      "---",
      "# remark",
      "tools:",
      "- a",
      "- b",
      "meta: {x: 1}",
      "name: a",
      "name: b",
      "---",
      "x",
    ];
    expect(read(...lines)).toMatchObject({ name: "a", body: "x" });
  });

  it("reads a text whose front matter is missing, is unclosed or has Windows line ends", () => {
    expect(read("# Title", "text")).toEqual({ body: "# Title\ntext" });
    expect(read("---", "name: a", "text")).toEqual({ body: "---\nname: a\ntext" });
    expect(readFrontMatter("\uFEFF---\r\nname: a\r\n---\r\ntext\r\n")).toEqual({
      fields: new Map([["name", "a"]]),
      body: "text",
    });
  });

  it("never throws on any front matter, and returns all text after the front matter", () => {
    const line = fc.oneof(fc.string(), fc.constantFrom("a:", "a: |", "a: >", "  b", "- c", 'a: "', ""));
    fc.assert(
      fc.property(fc.array(line), fc.string(), (lines, body) => {
        fc.pre(!lines.some((each) => /^---[ \t]*$|\r|\n/.test(each)) && !body.includes("\r"));
        expect(readFrontMatter(["---", ...lines, "---", body].join("\n")).body).toBe(body.trim());
      }),
    );
  });
});

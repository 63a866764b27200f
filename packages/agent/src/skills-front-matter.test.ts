import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readFrontMatter } from "./skills.ts";

const read = (...lines: readonly string[]) => {
  const { fields, body } = readFrontMatter(lines.join("\n"));
  return { ...Object.fromEntries(fields), body };
};

describe("the front matter of a skill", () => {
  it("is read however a text is written in it", () => {
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

  it("may have fields of every kind beside those: they hurt nothing", () => {
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

  it("may be missing, unclosed, or written on Windows", () => {
    expect(read("# Title", "text")).toEqual({ body: "# Title\ntext" });
    expect(read("---", "name: a", "text")).toEqual({ body: "---\nname: a\ntext" });
    expect(readFrontMatter("\uFEFF---\r\nname: a\r\n---\r\ntext\r\n")).toEqual({
      fields: new Map([["name", "a"]]),
      body: "text",
    });
  });

  it("whatever stands there, nothing is thrown and the text behind it is whole", () => {
    const line = fc.oneof(fc.string(), fc.constantFrom("a:", "a: |", "a: >", "  b", "- c", 'a: "', ""));
    fc.assert(
      fc.property(fc.array(line), fc.string(), (lines, body) => {
        fc.pre(!lines.some((each) => /^---[ \t]*$|\r|\n/.test(each)) && !body.includes("\r"));
        expect(readFrontMatter(["---", ...lines, "---", body].join("\n")).body).toBe(body.trim());
      }),
    );
  });
});

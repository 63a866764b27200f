import { describe, expect, it } from "vitest";
import { image } from "../../test/support/builders.ts";
import { asList, contentText, field, firstString, listField, stringField } from "./fields.ts";

const NO_RECORDS = [null, undefined, 7, "text", ["name"]];

describe("fields of what anybody may have written", () => {
  it("are absent where there is no object", () => {
    for (const odd of NO_RECORDS) {
      expect(field(odd, "length")).toBeUndefined();
      expect(stringField(odd, "name")).toBeUndefined();
      expect(listField(odd, "name")).toEqual([]);
      expect(firstString(odd, "name")).toBeUndefined();
    }
    expect(field({ name: null }, "name")).toBeNull();
  });

  it("are absent where their type is another than the one asked for", () => {
    const record = { text: "a", number: 7, list: ["b"] };
    expect([stringField(record, "text"), stringField(record, "number")]).toEqual(["a", undefined]);
    expect([listField(record, "list"), listField(record, "text")]).toEqual([["b"], []]);
    expect(asList({ 0: "a", length: 1 })).toEqual([]);
  });

  it("first of several: the first that holds text", () => {
    const record = { a: 7, b: "", c: "third", d: "fourth" };
    expect(firstString(record, "a", "b", "c", "d")).toBe("third");
    expect(firstString(record, "a", "b")).toBeUndefined();
    expect(firstString(record)).toBeUndefined();
  });
});

describe("the text of content", () => {
  it("is the text itself, or that of its blocks, with marks for media and nothing for the rest", () => {
    expect(contentText("as it is")).toBe("as it is");
    const blocks = [
      { type: "text", text: "one" },
      image(),
      { type: "document", source: {} },
      { type: "text", text: "" },
      { type: "text" },
      { type: "tool_use", text: "not this" },
      null,
      { type: "text", text: "two" },
    ];
    expect(contentText(blocks)).toBe("one\n[image]\n[document]\ntwo");
    expect(contentText(undefined)).toBe("");
  });
});

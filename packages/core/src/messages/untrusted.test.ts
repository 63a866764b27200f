import { describe, expect, it } from "vitest";
import { ConversationBuilder, image } from "../../../../test/support/builders.ts";
import { parsedInput } from "../models/call-input.ts";
import type { AssistantEntry, UserEntry } from "./entry.ts";
import { entryBlocks, isEntry, rawContent, responseIdOf } from "./entry.ts";
import { isBlock } from "./message.ts";
import {
  asList,
  contentText,
  field,
  firstString,
  isNestedTooDeep,
  isRecord,
  listField,
  MAX_NESTED_LEVELS,
  mayNestTooDeep,
  parseJson,
  stringField,
  withoutDeepParts,
} from "./untrusted.ts";

const withMessage = (message: unknown): UserEntry & AssistantEntry =>
  ({ type: "assistant", message }) as unknown as UserEntry & AssistantEntry;

describe("untrusted values", () => {
  it("isRecord returns true only for an object that is no list", () => {
    expect([{}, Object.create(null)].every(isRecord)).toBe(true);
    for (const odd of [null, undefined, [], "text", 7, () => undefined]) expect(isRecord(odd)).toBe(false);
  });

  it("isEntry and isBlock return true only for an object whose type is a string", () => {
    for (const is of [isEntry, isBlock]) {
      expect(is({ type: "whatever" })).toBe(true);
      for (const odd of [null, [], {}, { type: 7 }, { type: null }, "type"]) expect(is(odd)).toBe(false);
    }
  });

  it("rawContent returns content only if the message of an entry is an object", () => {
    expect(rawContent(withMessage({ content: "text" }))).toBe("text");
    for (const odd of [undefined, null, "text", ["content"]])
      expect(rawContent(withMessage(odd))).toBeUndefined();
  });

  it("entryBlocks returns the valid blocks of an entry, or the entry's own list if all blocks are valid", () => {
    const block = { type: "text", text: "a" };
    const content = [block, block];
    expect(entryBlocks(withMessage({ content }))).toBe(content);
    expect(entryBlocks(withMessage({ content: [null, block, 7, {}] }))).toEqual([block]);
    expect(entryBlocks(new ConversationBuilder().user("words"))).toEqual([{ type: "text", text: "words" }]);
    for (const odd of [undefined, null, 7, { 0: block }])
      expect(entryBlocks(withMessage({ content: odd }))).toEqual([]);
  });

  it("the id of a response is absent unless it is a non-empty string", () => {
    expect(responseIdOf(withMessage({ id: "m" }))).toBe("m");
    for (const odd of [{ id: "" }, { id: 7 }, {}, null, undefined, "id"])
      expect(responseIdOf(withMessage(odd))).toBeUndefined();
  });

  it("parseJson returns undefined for invalid JSON", () => {
    expect([parseJson("[1]"), parseJson("null")]).toEqual([[1], null]);
    expect([parseJson("{"), parseJson("")]).toEqual([undefined, undefined]);
  });
});

const NO_RECORDS = [null, undefined, 7, "text", ["name"]];

describe("fields of untrusted values", () => {
  it("all fields count as absent if a value is not an object", () => {
    for (const odd of NO_RECORDS) {
      expect(field(odd, "length")).toBeUndefined();
      expect(stringField(odd, "name")).toBeUndefined();
      expect(listField(odd, "name")).toEqual([]);
      expect(firstString(odd, "name")).toBeUndefined();
    }
    expect(field({ name: null }, "name")).toBeNull();
  });

  it("a field is absent if its type is not the requested one", () => {
    const record = { text: "a", number: 7, list: ["b"] };
    expect([stringField(record, "text"), stringField(record, "number")]).toEqual(["a", undefined]);
    expect([listField(record, "list"), listField(record, "text")]).toEqual([["b"], []]);
    expect(asList({ 0: "a", length: 1 })).toEqual([]);
  });

  it("firstString returns the first of the named fields that is a non-empty string", () => {
    const record = { a: 7, b: "", c: "third", d: "fourth" };
    expect(firstString(record, "a", "b", "c", "d")).toBe("third");
    expect(firstString(record, "a", "b")).toBeUndefined();
    expect(firstString(record)).toBeUndefined();
  });
});

describe("contentText", () => {
  it("contentText returns all texts and a placeholder for each image or document, and skips other blocks", () => {
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

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

describe("deeply nested values", () => {
  it("a value counts as nested too deep only if it has more than the maximum number of levels", () => {
    expect(isNestedTooDeep(JSON.parse(nested(MAX_NESTED_LEVELS)))).toBe(false);
    expect(isNestedTooDeep(JSON.parse(nested(MAX_NESTED_LEVELS + 1)))).toBe(true);
    expect(mayNestTooDeep(nested(MAX_NESTED_LEVELS + 1))).toBe(true);
  });

  it("withoutDeepParts cuts a value with 100,000 nested levels so that it can be written as JSON", () => {
    const cut = withoutDeepParts(JSON.parse(nested(100_000)));
    expect(isNestedTooDeep(cut)).toBe(false);
    expect(JSON.stringify(cut)).toContain("nested more than");
  });

  it("parsedInput keeps the JSON text of a tool input that is nested too deep", () => {
    const json = nested(100_000);
    expect(parsedInput(json)).toEqual({ INVALID_JSON: json });
  });
});

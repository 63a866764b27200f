import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { entryFromJson } from "./entry-reader.ts";

const link = { uuid: "u", parentUuid: null, timestamp: "2026-01-01T00:00:00Z" };

describe("entryFromJson", () => {
  it("returns an entry of an unknown type as the same object with all its fields", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (fields, tail) => {
        const { uuid: _, ...rest } = fields;
        const value = { ...rest, type: `later-${tail}` };
        expect(entryFromJson(value)).toBe(value);
      }),
    );
  });

  it("entryFromJson never throws, whatever the JSON value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        entryFromJson(value);
        entryFromJson({ ...link, type: "user", message: value });
        entryFromJson({ ...link, type: "assistant", message: { content: value } });
        entryFromJson({
          ...link,
          type: "user",
          message: { content: [{ type: "tool_result", content: value }] },
        });
      }),
    );
  });

  it.each([
    ["a number", 7],
    ["a list", []],
    ["an object without type", { uuid: "u" }],
    ["a uuid that is not a string", { type: "mode", uuid: 7 }],
    ["a user entry without message", { ...link, type: "user" }],
    ["a user entry without uuid", { type: "user", message: { content: "x" } }],
    ["content that is a number", { ...link, type: "assistant", message: { content: 7 } }],
    ["a block that is null", { ...link, type: "assistant", message: { content: [null] } }],
    [
      "a tool result whose list contains a string",
      { ...link, type: "user", message: { content: [{ type: "tool_result", content: ["x"] }] } },
    ],
    ["an attachment without attachment", { ...link, type: "attachment" }],
    [
      "a microcompact boundary without metadata",
      { ...link, type: "system", subtype: "microcompact_boundary" },
    ],
  ])("rejects %s as an entry", (_, value) => expect(entryFromJson(value)).toBeUndefined());

  it("keeps a boundary without metadata, because dropping it would bring back the compacted history", () => {
    const { compactMetadata: _, ...bare } = new ConversationBuilder().boundary();
    expect(entryFromJson(bare)).toEqual({ ...bare, compactMetadata: { trigger: "auto", preTokens: 0 } });
  });

  it("reads an entry with a __proto__ key without polluting the prototype", () => {
    const value: unknown = JSON.parse('{"type":"x","__proto__":{"uuid":7,"polluted":true}}');
    expect(entryFromJson(value)).toBe(value);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });
});

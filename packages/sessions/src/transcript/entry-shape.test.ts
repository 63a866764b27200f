import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { entryFromJson } from "./entry-reader.ts";

const link = { uuid: "u", parentUuid: null, timestamp: "2026-01-01T00:00:00Z" };

describe("taking JSON for an entry", () => {
  it("passes every kind we do not know, with all its fields, as the very same object", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (fields, tail) => {
        const { uuid: _, ...rest } = fields;
        const value = { ...rest, type: `later-${tail}` };
        expect(entryFromJson(value)).toBe(value);
      }),
    );
  });

  it("never throws, whatever the JSON", () => {
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
    ["no object", 7],
    ["a list", []],
    ["no type", { uuid: "u" }],
    ["a uuid that is no text", { type: "mode", uuid: 7 }],
    ["a user entry without message", { ...link, type: "user" }],
    ["a user entry without uuid", { type: "user", message: { content: "x" } }],
    ["content that is a number", { ...link, type: "assistant", message: { content: 7 } }],
    ["a block that is null", { ...link, type: "assistant", message: { content: [null] } }],
    [
      "a result whose list holds text",
      { ...link, type: "user", message: { content: [{ type: "tool_result", content: ["x"] }] } },
    ],
    ["an attachment without attachment", { ...link, type: "attachment" }],
    ["a micro boundary that names nothing", { ...link, type: "system", subtype: "microcompact_boundary" }],
  ])("refuses %s", (_, value) => expect(entryFromJson(value)).toBeUndefined());

  it("keeps a boundary that has lost its metadata: without it all the old history would come back", () => {
    const { compactMetadata: _, ...bare } = new ConversationBuilder().boundary();
    expect(entryFromJson(bare)).toEqual({ ...bare, compactMetadata: { trigger: "auto", preTokens: 0 } });
  });

  it("is not touched by a key that is called __proto__", () => {
    const value: unknown = JSON.parse('{"type":"x","__proto__":{"uuid":7,"polluted":true}}');
    expect(entryFromJson(value)).toBe(value);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });
});

import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../test/support/builders.ts";
import type { AssistantEntry, UserEntry } from "./entry.ts";
import { entryBlocks, isBlock, isEntry, isRecord, parseJson, rawContent, responseIdOf } from "./untrusted.ts";

const withMessage = (message: unknown): UserEntry & AssistantEntry =>
  ({ type: "assistant", message }) as unknown as UserEntry & AssistantEntry;

describe("what anybody may have written", () => {
  it("is a record only where it is an object and no list", () => {
    expect([{}, Object.create(null)].every(isRecord)).toBe(true);
    for (const odd of [null, undefined, [], "text", 7, () => undefined]) expect(isRecord(odd)).toBe(false);
  });

  it("is an entry or a block only where it says of what type", () => {
    for (const is of [isEntry, isBlock]) {
      expect(is({ type: "whatever" })).toBe(true);
      for (const odd of [null, [], {}, { type: 7 }, { type: null }, "type"]) expect(is(odd)).toBe(false);
    }
  });

  it("has content only where it has a message", () => {
    expect(rawContent(withMessage({ content: "text" }))).toBe("text");
    for (const odd of [undefined, null, "text", ["content"]])
      expect(rawContent(withMessage(odd))).toBeUndefined();
  });

  it("has the blocks that can be read: the very list where all can, and a text as one", () => {
    const block = { type: "text", text: "a" };
    const content = [block, block];
    expect(entryBlocks(withMessage({ content }))).toBe(content);
    expect(entryBlocks(withMessage({ content: [null, block, 7, {}] }))).toEqual([block]);
    expect(entryBlocks(new ConversationBuilder().user("words"))).toEqual([{ type: "text", text: "words" }]);
    for (const odd of [undefined, null, 7, { 0: block }])
      expect(entryBlocks(withMessage({ content: odd }))).toEqual([]);
  });

  it("belongs to a response only where that has an id, and an empty one is none", () => {
    expect(responseIdOf(withMessage({ id: "m" }))).toBe("m");
    for (const odd of [{ id: "" }, { id: 7 }, {}, null, undefined, "id"])
      expect(responseIdOf(withMessage(odd))).toBeUndefined();
  });

  it("is parsed where it is JSON", () => {
    expect([parseJson("[1]"), parseJson("null")]).toEqual([[1], null]);
    expect([parseJson("{"), parseJson("")]).toEqual([undefined, undefined]);
  });
});

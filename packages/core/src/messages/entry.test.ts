import { describe, expect, it } from "vitest";
import { ConversationBuilder, image, thinking, toolUse } from "../../../../test/support/builders.ts";
import {
  type AssistantEntry,
  type Entry,
  isCompactBoundary,
  isMicrocompactBoundary,
  isSummaryEntry,
  isSynthetic,
} from "./entry.ts";
import { contentBlocks, isMedia, isThinking, tagOf } from "./message.ts";

const entryOf = (fields: object): Entry => fields as unknown as Entry;

describe("types of entries", () => {
  it('recognizes a boundary only if it has the type "system" and a boundary subtype', () => {
    const [full, micro] = ["compact_boundary", "microcompact_boundary"];
    const is = (type: string, subtype: string | undefined): readonly boolean[] => {
      const entry = entryOf({ type, subtype });
      return [isCompactBoundary(entry), isMicrocompactBoundary(entry)];
    };
    expect(is("system", full)).toEqual([true, false]);
    expect(is("system", micro)).toEqual([false, true]);
    for (const subtype of ["informational", undefined]) expect(is("system", subtype)).toEqual([false, false]);
    expect([is("user", full), is("user", micro)].flat()).toEqual([false, false, false, false]);
  });

  it("an entry is a summary if it is a user or assistant message with the summary flag", () => {
    const c = new ConversationBuilder();
    expect(isSummaryEntry(c.summary("so far"))).toBe(true);
    expect(isSummaryEntry(entryOf({ type: "assistant", isCompactSummary: true }))).toBe(true);
    expect(isSummaryEntry(c.user("words"))).toBe(false);
    expect(isSummaryEntry(entryOf({ type: "user", isCompactSummary: "yes" }))).toBe(false);
    expect(isSummaryEntry(entryOf({ type: "attachment", isCompactSummary: true }))).toBe(false);
  });

  it("recognizes synthetic assistant entries by their flag or their model", () => {
    const said = new ConversationBuilder().assistant("so");
    expect(isSynthetic(said)).toBe(false);
    expect(isSynthetic({ ...said, isApiErrorMessage: true })).toBe(true);
    expect(isSynthetic({ ...said, message: { ...said.message, model: "<synthetic>" } })).toBe(true);
    expect(isSynthetic({ type: "assistant" } as unknown as AssistantEntry)).toBe(false);
  });
});

describe("types of blocks", () => {
  it("isThinking accepts readable and redacted thinking, and isMedia accepts images and documents", () => {
    const blocks = [
      thinking("hm"),
      { type: "redacted_thinking", data: "x" } as const,
      image(),
      { type: "document", source: { type: "text" } } as const,
      toolUse("a", "Read", {}),
    ];
    expect(blocks.map(isThinking)).toEqual([true, true, false, false, false]);
    expect(blocks.map(isMedia)).toEqual([false, false, true, true, false]);
    expect(blocks.map(tagOf)).toEqual(["thinking", "redacted_thinking", "image", "document", "tool_use"]);
  });

  it("contentBlocks wraps a text in a block, returns a list unchanged, and returns no block for undefined", () => {
    const list = [image()];
    expect(contentBlocks("words")).toEqual([{ type: "text", text: "words" }]);
    expect(contentBlocks(list)).toBe(list);
    expect(contentBlocks(undefined)).toEqual([]);
  });
});

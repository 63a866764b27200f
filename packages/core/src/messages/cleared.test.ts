import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult } from "../../../../test/support/builders.ts";
import type { Entry } from "./entry.ts";
import type { ContentBlock } from "./message.ts";
import { CLEARED_RESULT_TEXT, withClearedResults, withClearedResultsAt } from "./stand-ins.ts";

describe("withClearedResults", () => {
  it("the text of a cleared tool result never changes, because a change would break cached prompts", () => {
    expect(CLEARED_RESULT_TEXT).toBe("[Old tool result content cleared]");
  });

  it("replaces the content of a cleared tool result, and keeps the block, its id and the tool call", () => {
    const talk = new ConversationBuilder();
    talk.tool("a", "Read", {}, "long text");
    talk.tool("b", "Read", {}, "kept");
    const cleared = withClearedResults(talk.entries, new Set(["a"]));
    expect(cleared[1]).toMatchObject({
      message: { content: [{ type: "tool_result", tool_use_id: "a", content: CLEARED_RESULT_TEXT }] },
    });
    expect([cleared[0], cleared[2], cleared[3]]).toEqual([talk.entries[0], talk.entries[2], talk.entries[3]]);
    expect(cleared[3]).toBe(talk.entries[3]);
  });

  it("withClearedResults returns the same list if there is nothing to clear", () => {
    const talk = new ConversationBuilder();
    talk.tool("a", "Read", {}, CLEARED_RESULT_TEXT);
    expect(withClearedResults(talk.entries, new Set(["a", "unknown"]))).toBe(talk.entries);
  });

  it("withClearedResults leaves values that are not entries unchanged", () => {
    const damaged = [
      null,
      { type: "user" },
      { type: "user", message: { content: [null] } },
    ] as unknown as Entry[];
    expect(withClearedResults(damaged, new Set(["a"]))).toBe(damaged);
  });

  it("clears no block of an assistant entry, and no block that only resembles a tool result", () => {
    const talk = new ConversationBuilder();
    talk.assistant([toolResult("a", "text")]);
    talk.user([{ ...toolResult("a", "text"), type: "other_result" } as unknown as ContentBlock]);
    expect(withClearedResults(talk.entries, new Set(["a"]))).toBe(talk.entries);
  });

  it("withClearedResultsAt clears only results in the entries at the given indexes", () => {
    const talk = new ConversationBuilder();
    talk.tool("a", "Read", {}, "long text");
    talk.tool("b", "Read", {}, "kept");
    const ids = new Set(["a", "b"]);
    expect(withClearedResultsAt(talk.entries, [1, 9, 0], ids)).toEqual(
      withClearedResults(talk.entries, new Set(["a"])),
    );
    expect(withClearedResultsAt(talk.entries, [0, 2], ids)).toBe(talk.entries);
    expect(JSON.stringify(talk.entries)).not.toContain(CLEARED_RESULT_TEXT);
    expect(withClearedResultsAt(talk.entries, [1], new Set(["b"]))).toBe(talk.entries);
  });
});

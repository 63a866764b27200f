import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import { ConversationBuilder, thinking } from "../../../../../test/support/builders.ts";
import { readableText } from "./readable-text.ts";

describe("readableText", () => {
  it("readable text contains the messages, tool calls, results and attachments, but no thinking", () => {
    const c = new ConversationBuilder();
    c.user("please\nfix it");
    c.assistant([thinking("secret thoughts"), { type: "text", text: "I will" }]);
    c.tool("t1", "Edit", { file_path: "C:\\work\\a.ts", edits: [{ new_string: "two\nlines" }] }, "edited");
    c.attachment({ type: "queued_command", prompt: "and push" });
    const words = readableText(c.entries);
    for (const said of ["please\nfix it", "I will", "C:\\work\\a.ts", "two\nlines", "edited", "and push"]) {
      expect(words).toContain(said);
    }
    expect(words).not.toContain("secret thoughts");
  });

  it("readableText returns a text for any entries, even damaged ones", () => {
    fc.assert(
      fc.property(arbitraryEntries(), (entries) => {
        expect(typeof readableText(entries)).toBe("string");
      }),
    );
  });
});

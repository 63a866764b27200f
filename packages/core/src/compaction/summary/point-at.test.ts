import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import { ConversationBuilder, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import { pointAt } from "./summary-prompt.ts";

describe("a point in a conversation, in words", () => {
  it("quotes the beginning of the message there, on one line and no more than is needed to find it", () => {
    const built = new ConversationBuilder();
    built.user(`now\n\nthe  ledger ${"x".repeat(500)}`);
    built.assistant("yes");
    const point = pointAt(built.entries);
    expect(point?.description).toMatch(/^the user's message that begins with "now the ledger x+"$/);
    expect(point?.description.length).toBeLessThan(180);
    expect(point?.messages).toBe(2);
  });

  it("names the tool where a message only calls one, and quotes a result", () => {
    const built = new ConversationBuilder();
    built.assistant([toolUse("a", "Read", {})]);
    expect(pointAt(built.entries)?.description).toBe(`the assistant's message that calls "Read"`);
    const answered = new ConversationBuilder();
    answered.user([toolResult("a", "line one")]);
    expect(pointAt(answered.entries)?.description).toBe(`the tool result that begins with "line one"`);
  });

  it("begins with the first thing that was said; where nothing was there is none", () => {
    const built = new ConversationBuilder();
    built.boundary();
    expect(pointAt(built.entries)).toBeUndefined();
    built.attachment({ type: "note" });
    built.user("hello");
    expect(pointAt(built.entries)?.description).toContain('"hello"');
  });

  it("whatever the entries hold: it is one line of a few words", () => {
    fc.assert(
      fc.property(arbitraryEntries(), (entries) => {
        const { description } = pointAt(entries) ?? { description: "" };
        expect(description).not.toContain("\n");
        expect(description.length).toBeLessThan(800);
      }),
    );
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import { ConversationBuilder, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import { pointAt } from "./summary-prompt.ts";

describe("pointAt", () => {
  it("pointAt quotes the beginning of the first message on one short line", () => {
    const built = new ConversationBuilder();
    built.user(`now\n\nthe  ledger ${"x".repeat(500)}`);
    built.assistant("yes");
    const point = pointAt(built.entries);
    expect(point?.description).toMatch(/^the user's message that begins with "now the ledger x+"$/);
    expect(point?.description.length).toBeLessThan(180);
    expect(point?.messages).toBe(2);
  });

  it("names the tool when the first message only calls a tool, and quotes the start of a tool result", () => {
    const built = new ConversationBuilder();
    built.assistant([toolUse("a", "Read", {})]);
    expect(pointAt(built.entries)?.description).toBe(`the assistant's message that calls "Read"`);
    const answered = new ConversationBuilder();
    answered.user([toolResult("a", "line one")]);
    expect(pointAt(answered.entries)?.description).toBe(`the tool result that begins with "line one"`);
  });

  it("pointAt describes the first message among the entries, and returns undefined when there is none", () => {
    const built = new ConversationBuilder();
    built.boundary();
    expect(pointAt(built.entries)).toBeUndefined();
    built.attachment({ type: "note" });
    built.user("hello");
    expect(pointAt(built.entries)?.description).toContain('"hello"');
  });

  it("pointAt describes the first message on one short line, whatever the entries contain", () => {
    fc.assert(
      fc.property(arbitraryEntries(), (entries) => {
        const { description } = pointAt(entries) ?? { description: "" };
        expect(description).not.toContain("\n");
        expect(description.length).toBeLessThan(800);
      }),
    );
  });
});

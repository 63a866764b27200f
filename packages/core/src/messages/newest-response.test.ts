import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../test/support/builders.ts";
import { hasOpenCalls } from "./responses.ts";

function conversation(build: (c: ConversationBuilder) => void): boolean {
  const c = new ConversationBuilder();
  c.user("go");
  build(c);
  return hasOpenCalls(c.entries);
}

describe("hasOpenCalls", () => {
  it("hasOpenCalls returns true while a tool call of the newest response has no result", () => {
    expect(conversation((c) => c.assistant([toolUse("a", "Read", {})], { id: "m1" }))).toBe(true);
    const half = conversation((c) => {
      c.assistant([toolUse("a", "Read", {})], { id: "m1" });
      c.user([toolResult("a", "text")]);
      c.assistant([toolUse("b", "Read", {})], { id: "m1" });
    });
    expect(half).toBe(true);
  });

  it("hasOpenCalls returns false after all results of the newest response arrived, in any order", () => {
    const parallel = conversation((c) => {
      c.assistant([toolUse("a", "Read", {})], { id: "m1" });
      c.assistant([toolUse("b", "Read", {})], { id: "m1" });
      c.user([toolResult("b", "text")]);
      c.user([toolResult("a", "text")]);
    });
    expect(parallel).toBe(false);
    const left = conversation((c) => {
      c.assistant([toolUse("a", "Read", {})], { id: "m1" });
      c.user("never mind");
      c.assistant([{ type: "text", text: "done" }], { id: "m2" });
      c.user("thanks");
    });
    expect(left).toBe(false);
    expect(hasOpenCalls([])).toBe(false);
  });
});

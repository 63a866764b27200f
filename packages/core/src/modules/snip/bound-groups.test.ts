import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import type { Entry } from "../../messages/entry.ts";
import type { ContentBlock } from "../../messages/message.ts";
import { boundGroups } from "./snip.ts";

describe("boundGroups", () => {
  it("boundGroups puts every message of a conversation without tools in its own group", () => {
    const c = new ConversationBuilder();
    c.user("one");
    c.assistant("two");
    c.user("three");
    expect(boundGroups(c.entries)).toEqual([0, 1, 2]);
  });

  it("boundGroups puts all entries of one response in one group, even with other entries between them", () => {
    const c = new ConversationBuilder();
    c.assistant("a", { id: "A" });
    c.assistant("b", { id: "B" });
    c.user("between", { message: { role: "user", id: "A", content: "between" } as never });
    c.assistant("a again", { id: "A" });
    c.assistant("b again", { id: "B" });
    c.assistant("a at last", { id: "A" });
    expect(boundGroups(c.entries)).toEqual([0, 1, 2, 0, 1, 0]);
  });

  it("boundGroups does not join responses that have an empty id", () => {
    const c = new ConversationBuilder();
    c.assistant("one", { id: "" });
    c.assistant("two", { id: "" });
    expect(boundGroups(c.entries)).toEqual([0, 1]);
  });

  it("boundGroups puts tool calls and results with the same id in one group", () => {
    const c = new ConversationBuilder();
    c.user([toolResult("t", "before its call")]);
    c.assistant([toolUse("t", "Read", {})]);
    c.user("words");
    c.user([toolResult("t", "once")]);
    c.assistant([toolUse("t", "Read", {})]);
    c.user([toolResult("t", "again")]);
    expect(boundGroups(c.entries)).toEqual([0, 0, 2, 0, 0, 0]);
  });

  it("boundGroups joins groups that share an entry", () => {
    const c = new ConversationBuilder();
    c.assistant([toolUse("a", "Read", {})], { id: "A" });
    c.assistant([toolUse("b", "Read", {})], { id: "B" });
    c.user([toolResult("b", "of b")]);
    c.assistant([toolUse("c", "Read", {})], { id: "B" });
    c.user([toolResult("c", "of c"), toolResult("a", "of a")]);
    c.user("words");
    expect(boundGroups(c.entries)).toEqual([0, 0, 0, 0, 0, 5]);
  });

  it("boundGroups joins tool results without a call only when they have the same id", () => {
    const c = new ConversationBuilder();
    for (const id of ["x", "y", "x", "y", "x"]) c.user([toolResult(id, "whose?")]);
    expect(boundGroups(c.entries)).toEqual([0, 1, 0, 1, 0]);
  });

  it("boundGroups puts each malformed entry in its own group", () => {
    const odd = [
      null,
      7,
      { type: "assistant" },
      { type: "user", message: { content: [null, { type: "tool_result" } as unknown as ContentBlock] } },
    ] as unknown as readonly Entry[];
    expect(boundGroups(odd)).toEqual([0, 1, 2, 3]);
    expect(boundGroups([])).toEqual([]);
  });
});

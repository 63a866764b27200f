import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import type { Entry } from "../../messages/entry.ts";
import { indexPairs } from "../../messages/pairs.ts";
import { type SessionEvent, sessionEvents } from "./read-state.ts";

/** In words: `told` with its uuid, a call with its name, an attachment with its type. */
const inWords = (events: readonly SessionEvent[]): readonly string[] =>
  events.map((event) => {
    if (event.what === "message") return `told ${event.entry.uuid}`;
    return event.what === "call" ? event.call.name : event.type;
  });

describe("what happened in a conversation", () => {
  it("is told in the order in which the agent came to know of it: calls when they were answered", () => {
    const c = new ConversationBuilder();
    c.assistant([toolUse("a", "First", {}), toolUse("b", "Second", {}), toolUse("c", "Open", {})]);
    c.attachment({ type: "todo" });
    c.user([toolResult("b", "two")]);
    c.user("words");
    c.user([toolResult("a", "one")]);
    expect(inWords(sessionEvents(c.entries))).toEqual([
      "todo",
      "told e-3",
      "Second",
      "told e-4",
      "told e-5",
      "First",
    ]);
  });

  it("has answers that stand in one message in the order in which they stand there", () => {
    const c = new ConversationBuilder();
    c.assistant([toolUse("a", "First", {}), toolUse("b", "Second", {}), toolUse("c", "Third", {})]);
    c.user([toolResult("c", "3"), toolResult("a", "1"), toolResult("b", "2")]);
    expect(inWords(sessionEvents(c.entries))).toEqual(["told e-2", "Third", "First", "Second"]);
  });

  it("has a call once, with its first answer, however often that was written", () => {
    const c = new ConversationBuilder();
    c.tool("a", "Task", { description: "look" });
    const answer = c.user([toolResult("a", "one", true)], { toolUseResult: { agentId: "x" } });
    c.user([toolResult("a", "two")]);
    const calls = sessionEvents([...c.entries, answer]).filter(({ what }) => what === "call");
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({
      call: {
        id: "a",
        input: { description: "look" },
        isError: true,
        result: { content: "one" },
        outcome: { agentId: "x" },
      },
    });
  });

  it("is the same by an index that was made before, and passes over what is no entry", () => {
    const c = new ConversationBuilder();
    c.tool("a", "Read", {}, "x");
    const entries = [null, ...c.entries, 3, { type: "attachment" }] as unknown as readonly Entry[];
    const events = sessionEvents(entries);
    expect(inWords(events)).toEqual(["told e-2", "Read"]);
    expect(inWords(sessionEvents(entries, indexPairs(entries)))).toEqual(inWords(events));
  });
});

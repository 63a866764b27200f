import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import type { Entry } from "../../messages/entry.ts";
import { indexPairs } from "../../messages/pairs.ts";
import { type SessionEvent, sessionEvents } from "./read-state.ts";

/** Describes events: a message by its uuid, a call by its name, an attachment by its type. */
const describeEvents = (events: readonly SessionEvent[]): readonly string[] =>
  events.map((event) => {
    if (event.what === "message") return `told ${event.entry.uuid}`;
    return event.what === "call" ? event.call.name : event.type;
  });

describe("sessionEvents", () => {
  it("lists events in the order in which the agent saw them, and each call at the position of its result", () => {
    const c = new ConversationBuilder();
    c.assistant([toolUse("a", "First", {}), toolUse("b", "Second", {}), toolUse("c", "Open", {})]);
    c.attachment({ type: "todo" });
    c.user([toolResult("b", "two")]);
    c.user("words");
    c.user([toolResult("a", "one")]);
    expect(describeEvents(sessionEvents(c.entries))).toEqual([
      "todo",
      "told e-3",
      "Second",
      "told e-4",
      "told e-5",
      "First",
    ]);
  });

  it("lists calls whose results are in one message in the order of the results", () => {
    const c = new ConversationBuilder();
    c.assistant([toolUse("a", "First", {}), toolUse("b", "Second", {}), toolUse("c", "Third", {})]);
    c.user([toolResult("c", "3"), toolResult("a", "1"), toolResult("b", "2")]);
    expect(describeEvents(sessionEvents(c.entries))).toEqual(["told e-2", "Third", "First", "Second"]);
  });

  it("lists a tool call once, with its first result, even when the result was written again", () => {
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

  it("lists the same events with or without an index of tool calls, and skips values that are not entries", () => {
    const c = new ConversationBuilder();
    c.tool("a", "Read", {}, "x");
    const entries = [null, ...c.entries, 3, { type: "attachment" }] as unknown as readonly Entry[];
    const events = sessionEvents(entries);
    expect(describeEvents(events)).toEqual(["told e-2", "Read"]);
    expect(describeEvents(sessionEvents(entries, indexPairs(entries)))).toEqual(describeEvents(events));
  });
});

import { describe, expect, it } from "vitest";
import {
  ConversationBuilder,
  thinking,
  toolResult,
  toolUse,
  usage,
} from "../../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import { countingPorts } from "../../../../../test/support/long-session.ts";
import type { Entry } from "../../messages/entry.ts";
import { renewEntries } from "./new-entries.ts";

describe("renewEntries", () => {
  it("copies kept messages under new ids, links each copy to the previous copy, and updates the last copy's time", () => {
    const c = new ConversationBuilder();
    const [question, answer] = [c.user("question"), c.assistant("answer")];
    const renewed = renewEntries(deepFreeze(c.entries), "anchor", countingPorts());
    expect(renewed).toEqual([
      {
        ...question,
        copyOf: [question.uuid],
        uuid: "new-1",
        parentUuid: "anchor",
      },
      {
        ...answer,
        copyOf: [answer.uuid],
        uuid: "new-2",
        parentUuid: "new-1",
        timestamp: "2026-06-01T00:00:00.000Z",
        originalTimestamp: answer.timestamp,
        message: {
          ...answer.message,
          id: expect.stringMatching(/^msg_new3$/),
          usage: { input_tokens: 0, output_tokens: 0 },
        },
      },
    ]);
  });

  it("marks copied snip markers and collapsed spans as settled, and removes their bindsThinking flag", () => {
    const c = new ConversationBuilder();
    const snipped = { messages: 1, uuids: ["x"] };
    const collapsed = { spanId: "s", messages: 1, uuids: ["x"], tokensBefore: 9, tokensAfter: 3 };
    c.user("[1 message was removed]", { snipped: { ...snipped, bindsThinking: true } } as object);
    c.user("a summary", { collapsed: { ...collapsed, bindsThinking: true } } as object);
    expect(renewEntries(deepFreeze(c.entries), "anchor", countingPorts())).toMatchObject([
      { snipped: { ...snipped, isSettled: true } },
      { collapsed: { ...collapsed, isSettled: true } },
    ]);
    expect(JSON.stringify(renewEntries(c.entries, "anchor", countingPorts()))).not.toContain("bindsThinking");
  });

  it("records the original id and the ids of the latest copies when a message is copied repeatedly", () => {
    const c = new ConversationBuilder();
    const question = c.user("question");
    const ports = countingPorts();
    let copies = renewEntries(c.entries, "anchor", ports);
    copies = renewEntries(copies, "later", ports);
    expect(copies).toMatchObject([
      { copyOf: [question.uuid, "new-1"], originalTimestamp: question.timestamp },
    ]);
    for (let nth = 0; nth < 20; nth++) copies = renewEntries(copies, "later", ports);
    const ids = copies[0]?.copyOf ?? [];
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([8, question.uuid, "new-21"]);
  });

  it("gives a copied message the current time when its timestamp is missing or invalid", () => {
    const c = new ConversationBuilder();
    c.user("one", { timestamp: "yesterday" });
    c.user("two", { timestamp: 5 as never });
    c.user("three", { timestamp: undefined as never });
    for (const { timestamp } of renewEntries(c.entries, "anchor", countingPorts()))
      expect(timestamp).toBe("2026-06-01T00:00:00.000Z");
  });

  it("gives all copied entries of one response the same new message id, and gives each response a different id", () => {
    const c = new ConversationBuilder();
    c.assistant([toolUse("a", "Read", {})], { id: "A", usage: usage(90_000, 5) });
    c.assistant([toolUse("b", "Read", {})], { id: "A" });
    c.assistant("other", { id: "B" });
    const ids = renewEntries(c.entries, "anchor", countingPorts()).map(
      (entry) => entry.type === "assistant" && entry.message.id,
    );
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[0]);
    expect(ids).not.toContain("A");
    expect(ids).not.toContain("B");
  });

  it("links a copied tool result to the copy of its call, or to the old call if the call was not kept", () => {
    const c = new ConversationBuilder();
    const call = c.assistant([toolUse("a", "Read", {})]);
    c.user([toolResult("a", "one")], { sourceToolAssistantUUID: call.uuid });
    c.user([toolResult("z", "two")], { sourceToolAssistantUUID: "not kept" });
    const renewed = renewEntries(c.entries, "anchor", countingPorts());
    expect(renewed[1]).toMatchObject({ sourceToolAssistantUUID: renewed[0]?.uuid });
    expect(renewed[2]).toMatchObject({ sourceToolAssistantUUID: "not kept" });
    expect(renewEntries([c.user("plain")], "x", countingPorts())[0]).not.toHaveProperty(
      "sourceToolAssistantUUID",
    );
  });

  it("copies no entry that requests never contain: progress, boundaries, empty replies, lines without an id", () => {
    const c = new ConversationBuilder();
    c.push({ ...c.link(), type: "progress", data: {} });
    c.boundary();
    c.assistant([]);
    c.push({ type: "summary", summary: "a title" } as unknown as Entry);
    const files = c.attachment({ type: "file", filename: "a.ts" });
    const message = c.user([], { message: { role: "user", id: "its own", content: [] } as never });
    const renewed = renewEntries(c.entries, "anchor", countingPorts());
    expect(renewed).toEqual([
      { ...files, copyOf: [files.uuid], uuid: "new-1", parentUuid: "anchor" },
      {
        ...message,
        copyOf: [message.uuid],
        uuid: "new-2",
        parentUuid: "new-1",
        timestamp: expect.any(String),
        originalTimestamp: message.timestamp,
      },
    ]);
  });

  it("copies assistant entries even when their message is missing or incomplete", () => {
    const odd = [
      { type: "assistant", uuid: "a" },
      { type: "assistant", uuid: "b", message: {} },
      { type: "assistant", uuid: "c", message: { content: [thinking("x")] } },
    ] as unknown as readonly Entry[];
    const renewed = renewEntries(odd, "anchor", countingPorts());
    expect(renewed.map(({ uuid }) => uuid)).toEqual(["new-1", "new-2", "new-3"]);
    expect(renewed[0]).not.toHaveProperty("message");
    expect(renewed[1]).toMatchObject({ message: { usage: { input_tokens: 0 } } });
    expect(renewed[2]).not.toHaveProperty("message.id");
  });
});

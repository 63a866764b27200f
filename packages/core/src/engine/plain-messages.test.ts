import { describe, expect, it } from "vitest";
import type { ApiMessage } from "../messages/message.ts";
import { PlainMessages } from "./plain-messages.ts";

const link = (uuid: string) => ({ uuid, parentUuid: null, timestamp: "2026-04-01T08:00:00.000Z" });
const usage = { input_tokens: 5, output_tokens: 7 };

describe("PlainMessages", () => {
  it("adds the id and usage of a response to its message if the message itself lacks them", () => {
    const plain = new PlainMessages();
    const message: ApiMessage = { role: "assistant", content: "done" };
    const own = { ...message, id: "msg_own", stop_reason: "end_turn" } as ApiMessage;
    const facts = { id: "msg_reported", usage };
    expect(plain.wrap(message, link("1"), facts)).toEqual({
      ...link("1"),
      type: "assistant",
      message: { id: "msg_reported", usage, role: "assistant", content: "done" },
    });
    expect(plain.wrap(own, link("2"), facts)).toMatchObject({
      message: { id: "msg_own", usage, stop_reason: "end_turn" },
    });
    expect(plain.wrap({ ...message }, link("3"), undefined)).toEqual({
      ...link("3"),
      type: "assistant",
      message,
    });
  });

  it("wraps a message without an id if the id of its response is empty or was used before", () => {
    const plain = new PlainMessages();
    const idOf = (id: string): unknown => {
      const entry = plain.wrap({ role: "assistant", content: "done" }, link("1"), { id, usage });
      return entry.type === "assistant" ? entry.message.id : undefined;
    };
    expect(["one", "one", "two", "one", ""].map(idOf)).toEqual([
      "one",
      undefined,
      "two",
      undefined,
      undefined,
    ]);
  });

  it("messagesFor returns the same message objects from which the entries were created", () => {
    const plain = new PlainMessages();
    const messages: ApiMessage[] = [
      { role: "user", content: "begin" },
      { role: "assistant", content: "done" },
    ];
    const entries = messages.map((message, index) => plain.wrap(message, link(String(index)), undefined));
    for (const [index, message] of plain.messagesFor(entries).entries()) {
      expect(message).toBe(messages[index]);
      expect(plain.entriesFor(message)).toEqual([entries[index]]);
    }
  });

  it("merges a host's message with the engine's entry before it, even if the message has an invalid block", () => {
    const plain = new PlainMessages();
    const odd = { role: "user", content: [null, { type: "text", text: "again" }] } as unknown as ApiMessage;
    const ours = {
      ...link("s"),
      type: "user" as const,
      message: { role: "user" as const, content: "summary" },
    };
    const entry = plain.wrap(odd, link("o"), undefined);
    const [joined] = plain.messagesFor([ours, entry]);
    expect(joined?.content).toEqual([
      { type: "text", text: "summary" },
      null,
      { type: "text", text: "again" },
    ]);
    expect(joined && plain.entriesFor(joined)).toEqual([ours, entry]);
  });
});

import { describe, expect, it } from "vitest";
import {
  ConversationBuilder,
  image,
  thinking,
  toolResult,
  toolUse,
} from "../../../../../test/support/builders.ts";
import type { Entry } from "../../messages/entry.ts";
import type { ApiMessage } from "../../messages/message.ts";
import { FlattenedEntries, flattenChecked } from "../flatten/flatten.ts";
import { checkRequest } from "./check.ts";
import { CheckedMessages } from "./growing-check.ts";
import { MAX_MESSAGES } from "./limits.ts";

const question: ApiMessage = { role: "user", content: "begin" };

function round(number: number, ...answer: ApiMessage["content"][]): ApiMessage[] {
  const id = `toolu_${number}`;
  return [
    { role: "assistant", content: [{ type: "text", text: `look ${number}` }, toolUse(id, "Read", {})] },
    { role: "user", content: [toolResult(id, `read ${number}`)] },
    ...answer.map((content): ApiMessage => ({ role: "user", content })),
  ];
}

const rules = (findings: readonly { readonly rule: string }[]): string[] => findings.map(({ rule }) => rule);

describe("CheckedMessages of a growing conversation", () => {
  it("a valid conversation that grows is checked as a whole only once", () => {
    const checked = new CheckedMessages();
    checked.append([question]);
    for (let number = 0; number < 50; number++) checked.append(round(number));
    expect(checked.messages).toHaveLength(101);
    expect(checked.isUntouched).toBe(true);
    expect(checked.fullPasses).toBe(1);
  });

  it("does not read checked messages again when messages are appended", () => {
    let reads = 0;
    const counted = (message: ApiMessage): ApiMessage =>
      Object.defineProperty({ ...message }, "content", {
        enumerable: true,
        get: () => {
          reads++;
          return message.content;
        },
      });
    const checked = new CheckedMessages();
    checked.replace(
      [question, ...Array.from({ length: 40 }, (_, number) => round(number)).flat()].map(counted),
    );
    reads = 0;
    for (let number = 40; number < 60; number++) checked.append(round(number));
    expect(reads).toBe(0);
  });

  it("a conversation that grows is not checked as a whole again when every turn has the same fault", () => {
    const checked = new CheckedMessages();
    const given = [question];
    checked.append(given);
    for (let number = 0; number < 30; number++) {
      const added = round(number, [{ type: "text", text: " " }], "and this");
      given.push(...added);
      const found = checked.append(added);
      expect(rules(found).sort()).toEqual(["message-empty", "same-role", "text-blank"]);
    }
    expect(checked.messages).toEqual(checkRequest({ messages: given }).request.messages);
    expect(checked.isUntouched).toBe(false);
    expect(checked.fullPasses).toBeLessThanOrEqual(2);
  });

  it("moves a late tool result to its call and removes the error result that was added in place of the late result", () => {
    const checked = new CheckedMessages();
    checked.append([question, { role: "assistant", content: [toolUse("slow", "Bash", {})] }]);
    expect(rules(checked.findings)).toEqual(["tool-use-unanswered"]);
    expect(checked.messages).toHaveLength(3);
    checked.append([{ role: "user", content: "meanwhile" }]);
    for (let number = 0; number < 5; number++) checked.append(round(number));
    checked.append([{ role: "user", content: [toolResult("slow", "done")] }]);
    expect(rules(checked.findings).sort()).toEqual(["same-role", "tool-result-misplaced"]);
    expect(checked.messages[2]?.content).toEqual([
      toolResult("slow", "done"),
      { type: "text", text: "meanwhile" },
    ]);
  });

  it("undoes the repair of a final assistant message when the conversation continues", () => {
    const checked = new CheckedMessages();
    const answer: ApiMessage = { role: "assistant", content: [{ type: "text", text: "so " }] };
    checked.append([question, answer]);
    expect(rules(checked.findings)).toEqual(["final-whitespace"]);
    expect(checked.messages[1]).not.toBe(answer);
    expect(checked.append([{ role: "user", content: "go on" }])).toEqual([]);
    expect(checked.findings).toEqual([]);
    expect(checked.messages[1]).toBe(answer);
  });

  it("reports an exceeded byte limit once and keeps the finding up to date", () => {
    const maxRequestBytes = 3_000;
    const checked = new CheckedMessages({ maxRequestBytes });
    const given = [question];
    const reported = [...checked.append(given)];
    for (let number = 0; number < 60; number++) {
      given.push(...round(number));
      reported.push(...checked.append(round(number)));
      expect(checked.findings).toEqual(checkRequest({ messages: given }, { maxRequestBytes }).findings);
    }
    expect(rules(reported)).toEqual(["request-bytes"]);
    expect(checked.fullPasses).toBe(2);
  });

  it("replaces the oldest images when appended images exceed the limit", () => {
    const checked = new CheckedMessages({ maxMedia: 3 });
    const given = [question];
    checked.append(given);
    for (let number = 0; number < 8; number++) {
      const added = round(number, [image(`picture${number}`), { type: "text", text: "look" }]);
      given.push(...added);
      checked.append(added);
      checked.append(round(100 + number));
      given.push(...round(100 + number));
      expect(checked.messages).toEqual(checkRequest({ messages: given }, { maxMedia: 3 }).request.messages);
    }
    // One full pass for each image over the limit, none for a round without images.
    expect(checked.fullPasses).toBe(1 + 5);
  });

  it("reports when appended messages exceed the number of messages that the API allows", () => {
    const checked = new CheckedMessages();
    const talk = Array.from({ length: MAX_MESSAGES - 1 }, (_, index): ApiMessage => {
      return { role: index % 2 === 0 ? "user" : "assistant", content: "word" };
    });
    expect(checked.replace(talk)).toEqual([]);
    expect(rules(checked.append(round(1)))).toEqual(["message-count"]);
    expect(checked.append(round(2))).toEqual([]);
    expect(checked.findings).toMatchObject([{ rule: "message-count", detail: { count: MAX_MESSAGES + 3 } }]);
    expect(checked.fullPasses).toBe(1);
  });

  it("an outbox still returns the same messages after the conversation is replaced", () => {
    const checked = new CheckedMessages();
    checked.append([question]);
    const first = checked.outbox();
    checked.append(round(1));
    const second = checked.outbox();
    checked.replace([question, ...round(2)]);
    expect(first()).toEqual([question]);
    expect(second()).toEqual([question, ...round(1)]);
    expect(checked.outbox()()).toEqual([question, ...round(2)]);
  });

  it("CheckedMessages copies the host's array, which may grow later", () => {
    const own = [question];
    const checked = new CheckedMessages();
    checked.replace(own);
    own.push(...round(1));
    expect(checked.messages).toEqual([question]);
  });
});

describe("FlattenedEntries of a growing conversation", () => {
  it("entries that arrive one by one are checked as a whole only at the beginning", () => {
    const c = new ConversationBuilder();
    c.user("begin");
    for (let number = 0; number < 30; number++) {
      const id = `msg_${number}`;
      c.assistant([thinking(`thought ${number}`)], { id });
      c.tool(`a_${number}`, "Read", {}, "one", { id });
      c.tool(`b_${number}`, "Read", {}, "two", { id });
      c.attachment({ type: "queued_command", prompt: "hurry" });
    }
    const flattened = new FlattenedEntries();
    for (const entry of c.entries) flattened.append([entry]);
    expect(flattened.messages).toEqual(flattenChecked(c.entries).messages);
    expect(flattened.findings).toEqual([]);
    expect(flattened.fullPasses).toBeLessThanOrEqual(3);
  });

  it("puts late entries of an older response into the message of that response", () => {
    const c = new ConversationBuilder();
    c.user("begin");
    c.tool("first", "Read", {}, "one", { id: "msg_old" });
    for (let number = 0; number < 4; number++)
      c.tool(`t_${number}`, "Read", {}, "x", { id: `msg_${number}` });
    c.assistant([toolUse("second", "Read", {})], { id: "msg_old" });
    c.user([toolResult("second", "two")]);
    const flattened = new FlattenedEntries();
    for (const entry of c.entries) flattened.append([entry]);
    expect(flattened.messages).toEqual(flattenChecked(c.entries).messages);
    expect(flattened.messages[1]?.content).toHaveLength(2);
  });

  it("FlattenedEntries keeps the message objects of finished rounds when entries are appended", () => {
    const c = new ConversationBuilder();
    c.user("begin");
    for (let number = 0; number < 6; number++)
      c.tool(`t_${number}`, "Read", {}, "x", { id: `msg_${number}` });
    const flattened = new FlattenedEntries();
    flattened.append(c.entries.slice(0, 7));
    const before = [...flattened.messages];
    flattened.append(c.entries.slice(7) as Entry[]);
    expect(flattened.messages).toHaveLength(13);
    for (const [index, message] of before.entries()) expect(flattened.messages[index]).toBe(message);
  });

  it("FlattenedEntries keeps the message object of a response while its tool results arrive", () => {
    const c = new ConversationBuilder();
    c.user("begin");
    c.tool("a", "Read", {}, "x", { id: "msg_1" });
    c.tool("b", "Read", {}, "y", { id: "msg_2" });
    const flattened = new FlattenedEntries();
    flattened.append(c.entries.slice(0, 4));
    const called = flattened.messages[3];
    flattened.append(c.entries.slice(4));
    expect(flattened.messages[3]).toBe(called);
  });
});

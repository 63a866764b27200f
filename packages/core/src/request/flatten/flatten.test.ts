import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../../../../test/support/api-rules.ts";
import { ConversationBuilder, thinking, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import { claudeCodeSessions, describeRecorded } from "../../../../../test/support/real-sessions.ts";
import type { Entry } from "../../messages/entry.ts";
import type { ApiMessage, ContentBlock } from "../../messages/message.ts";
import { CLEARED_RESULT_TEXT } from "../../messages/stand-ins.ts";
import { checkRequest } from "../check/check.ts";
import { flatten, flattenChecked } from "./flatten.ts";

const text = (value: string): ContentBlock => ({ type: "text", text: value });
const roles = (messages: readonly ApiMessage[]): string[] => messages.map((message) => message.role);

describe("flatten", () => {
  it("drops progress, system and synthetic API-error entries, and entries of an unknown type", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    talk.push({ ...talk.link(), type: "progress" });
    talk.boundary();
    talk.assistant("API Error: overloaded", { isApiErrorMessage: true });
    talk.push({ type: "custom-title", title: "t" } as unknown as Entry);
    expect(flattenChecked(talk.entries)).toEqual({
      messages: [{ role: "user", content: "go" }],
      findings: [],
    });
  });

  it("merges consecutive user messages and puts tool results first", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    talk.assistant([toolUse("a", "Read", {})]);
    talk.user("while you are at it");
    talk.user([toolResult("a", "one")]);
    const { messages, findings } = flattenChecked(talk.entries);
    expect(messages[2]?.content).toEqual([toolResult("a", "one"), text("while you are at it")]);
    expect(findings).toEqual([]);
  });

  it("merges assistant entries with the same message id, even across tool results", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    talk.assistant([thinking("hm")], { id: "m" });
    talk.tool("a", "Read", {}, "one", { id: "m" });
    talk.tool("b", "Grep", {}, "two", { id: "m" });
    talk.assistant("done", { id: "n" });
    const { messages, findings } = flattenChecked(talk.entries);
    expect(messages.slice(1)).toEqual([
      { role: "assistant", content: [thinking("hm"), toolUse("a", "Read", {}), toolUse("b", "Grep", {})] },
      { role: "user", content: [toolResult("a", "one"), toolResult("b", "two")] },
      { role: "assistant", content: [text("done")] },
    ]);
    expect(findings).toEqual([]);
  });

  it("moves an attachment between a tool call and its result to the place after the result", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    talk.assistant([toolUse("a", "Read", {})]);
    talk.attachment({ type: "queued_command", prompt: "also this" });
    talk.user([toolResult("a", "one")]);
    expect(flatten(talk.entries)[2]?.content).toEqual([toolResult("a", "one"), text("also this")]);
  });

  it("moves an early or late tool result to the turn after its call", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    talk.user([toolResult("a", "early")]);
    talk.assistant([toolUse("a", "Read", {}), toolUse("b", "Task", {})], { id: "m" });
    talk.assistant("meanwhile", { id: "n" });
    talk.user([toolResult("b", "late")]);
    const { messages, findings } = flattenChecked(talk.entries);
    expect(roles(messages)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(messages[2]?.content).toEqual([toolResult("b", "late"), toolResult("a", "early")]);
    expect(findings).toEqual([]);
  });

  it("parses tool inputs to the types of the tool's schema and keeps all other values", () => {
    const tools = [
      {
        name: "Edit",
        input_schema: { type: "object", properties: { edits: { type: "array" }, note: { type: "string" } } },
      },
    ];
    const talk = new ConversationBuilder();
    talk.user("go");
    talk.tool("a", "Edit", '{"edits":"[1,2]","note":"[3]","extra":true}', "ok");
    talk.tool("b", "Edit", { edits: '{"not":"a list"}' }, "ok");
    const messages = flatten(talk.entries, { tools });
    expect(messages[1]?.content).toMatchObject([{ input: { edits: [1, 2], note: "[3]", extra: true } }]);
    expect(messages[3]?.content[0]).toBe((talk.entries[3] as { message: ApiMessage }).message.content[0]);
  });

  it("drops a response that contains only thinking, and reports that", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    talk.assistant([thinking("cut off")], { id: "m" });
    talk.user("again");
    talk.assistant("hello", { id: "n" });
    talk.assistant([thinking("cut off too")], { id: "o" });
    const { messages, findings } = flattenChecked(talk.entries);
    expect(messages).toEqual([
      { role: "user", content: [text("go"), text("again")] },
      { role: "assistant", content: [text("hello")] },
    ]);
    expect(findings.map(({ rule, path }) => `${rule} ${path}`)).toEqual([
      "thinking-only entries.1.message.content.0",
      "thinking-only entries.4.message.content.0",
    ]);
  });

  it("converts compaction summaries and meta entries to messages", () => {
    const talk = new ConversationBuilder();
    talk.boundary();
    talk.summary("so far");
    talk.user("caveat", { isMeta: true });
    expect(flatten(talk.entries)).toEqual([{ role: "user", content: [text("so far"), text("caveat")] }]);
  });

  it("replaces the content of cleared tool results", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    talk.tool("a", "Read", {}, "long");
    const messages = flatten(talk.entries, { clearedToolUseIds: new Set(["a"]) });
    expect(messages[2]?.content).toEqual([toolResult("a", CLEARED_RESULT_TEXT)]);
  });

  it("leaves out the second copy of a response that a resumed session contains twice", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    for (let copy = 0; copy < 2; copy++) {
      talk.assistant([thinking("hm")], { id: "m" });
      talk.assistant([text("hello")], { id: "m" });
    }
    const { messages, findings } = flattenChecked(talk.entries);
    expect(messages[1]?.content).toEqual([thinking("hm"), text("hello")]);
    expect(findings.map((finding) => finding.rule)).toEqual(["block-repeated", "block-repeated"]);
  });

  it("keeps a repeated text of a response when nothing shows that it is a copy", () => {
    const talk = new ConversationBuilder();
    talk.user("go");
    talk.assistant([text("and again")], { id: "m" });
    talk.assistant([thinking("hm")], { id: "m" });
    talk.assistant([text("and again")], { id: "m" });
    expect(flatten(talk.entries)[1]?.content).toHaveLength(3);
  });

  it("the path of a finding names the entry with the fault", () => {
    const talk = new ConversationBuilder();
    talk.push({ ...talk.link(), type: "progress" });
    talk.user("go");
    talk.assistant([text("let me see"), toolUse("a", "Bash", {})]);
    expect(flattenChecked(talk.entries).findings).toMatchObject([
      { rule: "tool-use-unanswered", path: "entries.2.message.content.1", action: "result-added" },
    ]);
  });

  it("keeps the content object of an entry that becomes a whole message", () => {
    const talk = new ConversationBuilder();
    const prompt = talk.user([text("go")]);
    const answer = talk.assistant([thinking("hm"), text("done")]);
    const messages = flatten(talk.entries);
    expect(messages[0]?.content).toBe(prompt.message.content);
    expect(messages[1]).toEqual({ role: "assistant", content: answer.message.content });
    expect(messages[1]?.content).toBe(answer.message.content);
  });

  it("flatten ignores damaged entries instead of failing", () => {
    const damaged = [
      null,
      7,
      {},
      { type: "user" },
      { type: "user", message: { content: 5 } },
      { type: "attachment" },
    ];
    expect(flatten(damaged as unknown as Entry[])).toEqual([]);
  });
});

describeRecorded("flattening recorded sessions", () => {
  it.each(claudeCodeSessions().map((path) => [basename(path), path]))(
    "builds a valid request from the recorded session %s",
    (_, path) => {
      const entries = readFileSync(path, "utf8").split("\n").flatMap(parsedLine);
      const { messages } = flattenChecked(entries);
      expect(messages.length).toBeGreaterThan(1);
      expect(apiRuleViolations(messages)).toEqual([]);
      expect(checkRequest({ messages }).valid).toBe(true);
    },
  );
});

function parsedLine(line: string): Entry[] {
  try {
    return [JSON.parse(line) as Entry];
  } catch {
    return [];
  }
}

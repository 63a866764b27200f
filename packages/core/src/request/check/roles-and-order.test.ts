import { describe, expect, it } from "vitest";
import { thinking, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import type { ApiMessage, ApiRequest, ContentBlock } from "../../messages/message.ts";
import { checkRequest } from "./check.ts";
import {
  CONTINUE_TEXT,
  CONTINUE_WITH_RESULTS_TEXT,
  EARLIER_PART_MISSING_TEXT,
  RESULTS_READ_TEXT,
  refusesPrefill,
} from "./message-rules.ts";

const text = (value: string): ContentBlock => ({ type: "text", text: value });
const user = (content: ApiMessage["content"] = "go"): ApiMessage => ({ role: "user", content });
const assistant = (content: ApiMessage["content"] = "done"): ApiMessage => ({ role: "assistant", content });
const system = (content: ApiMessage["content"] = "rule"): ApiMessage => ({ role: "system", content });
const opaque = (block: object): ContentBlock => block as ContentBlock;
const rules = (request: ApiRequest): string[] =>
  checkRequest(request).findings.map((finding) => finding.rule);
const roles = (messages: readonly ApiMessage[]): string[] => messages.map((message) => message.role);

describe("roles and their order", () => {
  it("returns a valid request as the same object", () => {
    const request = { messages: [user(), assistant([thinking("hm"), text("hi")]), user("more")] };
    expect(checkRequest(request)).toEqual({ valid: true, request, findings: [] });
    expect(checkRequest(request).request).toBe(request);
  });

  it("reports a request without messages, which cannot be repaired", () => {
    expect(checkRequest({ messages: [] })).toMatchObject({
      valid: false,
      findings: [{ rule: "no-messages", action: "reported" }],
    });
  });

  it("adds a user message when the conversation starts with the assistant", () => {
    const { request, findings } = checkRequest({ messages: [assistant(), user()] });
    expect(request.messages[0]).toEqual(user([text(EARLIER_PART_MISSING_TEXT)]));
    expect(findings).toMatchObject([{ rule: "first-role", path: "messages.0", action: "text-added" }]);
  });

  it("accepts a conversation that starts with the provider's own summary and an assistant message", () => {
    const summary = assistant([opaque({ type: "compaction", content: "so far" })]);
    expect(rules({ messages: [summary, assistant([thinking("hm"), text("kept")]), user()] })).toEqual([]);
  });

  it("merges consecutive messages of the same role", () => {
    const messages = [user("a"), user([text("b")]), assistant(), user("c")];
    const { request, findings } = checkRequest({ messages });
    expect(request.messages[0]).toEqual(user([text("a"), text("b")]));
    expect(request.messages[1]).toBe(messages[2]);
    expect(findings).toMatchObject([{ rule: "same-role", path: "messages.1", action: "merged" }]);
  });

  it("sends a message of an unknown role as a user message", () => {
    const messages = [{ role: "narrator", content: "be brief" } as unknown as ApiMessage];
    expect(checkRequest({ messages }).request.messages).toEqual([user("be brief")]);
    expect(rules({ messages })).toEqual(["role-unknown"]);
  });

  it("skips malformed messages and blocks and reports them", () => {
    const messages = [null, user([null, "loose", { type: "text", text: 4 }] as unknown as ContentBlock[])];
    const { request, findings } = checkRequest({ messages: messages as unknown as ApiMessage[] });
    expect(request.messages).toEqual([user([text("loose")])]);
    expect(findings.map(({ rule, path }) => `${rule} ${path}`)).toEqual([
      "message-shape messages.0",
      "block-shape messages.1.content.0",
      "block-shape messages.1.content.1",
      "block-shape messages.1.content.2",
    ]);
  });

  it("passes unknown blocks and fields on unchanged", () => {
    const request = {
      messages: [user([opaque({ type: "of-tomorrow", x: 1 })])],
      novel_field: { deep: true },
    };
    expect(checkRequest(request).request).toBe(request);
  });

  it("removes thinking from user messages", () => {
    const messages = [user([thinking("mine?"), text("go")])];
    expect(checkRequest({ messages }).request.messages).toEqual([user([text("go")])]);
    expect(rules({ messages })).toEqual(["thinking-in-wrong-role"]);
  });

  it("sends a tool call in a user message as text", () => {
    const { request, findings } = checkRequest({ messages: [user([toolUse("a", "Read", {})])] });
    expect(findings).toMatchObject([{ rule: "block-in-wrong-role", action: "replaced-by-text" }]);
    expect(JSON.stringify(request.messages)).toContain("Read");
  });
});

describe("system messages inside the conversation", () => {
  it("accepts a system message after a user turn if the assistant or nothing follows", () => {
    const messages = [user(), system(), system(), assistant(), user(), system()];
    expect(rules({ messages })).toEqual([]);
  });

  it("moves a system message that is before or within a user turn to the end of that turn", () => {
    const { request, findings } = checkRequest({
      messages: [system("first"), user("a"), system("second"), user("b"), assistant()],
    });
    expect(roles(request.messages)).toEqual(["user", "system", "system", "assistant"]);
    expect(findings.filter(({ rule }) => rule === "system-placement").map(({ path }) => path)).toEqual([
      "messages.0",
      "messages.2",
    ]);
  });

  it("moves a system message between a tool call and its result to the place after the result", () => {
    const messages = [user(), assistant([toolUse("a", "Read", {})]), system(), user([toolResult("a", "x")])];
    expect(roles(checkRequest({ messages }).request.messages)).toEqual([
      "user",
      "assistant",
      "user",
      "system",
    ]);
  });

  it("accepts a system message after an assistant turn that ends in a server tool result", () => {
    const search = [
      opaque({ type: "server_tool_use", id: "s1", name: "web_search", input: {} }),
      opaque({ type: "web_search_tool_result", tool_use_id: "s1", content: [] }),
    ];
    expect(rules({ messages: [user(), assistant(search), system()] })).toEqual([]);
  });

  it("turns a system message after an assistant turn into a user message when no user turn follows", () => {
    const { request } = checkRequest({ messages: [user(), assistant(), system("stay calm")] });
    expect(request.messages[2]).toEqual(user([text("stay calm")]));
  });
});

describe("the end of the conversation", () => {
  it("removes whitespace from the end of a final assistant text", () => {
    const { request, findings } = checkRequest({ messages: [user(), assistant("Sure \n")] });
    expect(request.messages[1]?.content).toEqual([text("Sure")]);
    expect(findings).toMatchObject([{ rule: "final-whitespace", path: "messages.1", action: "truncated" }]);
  });

  it("reports a prefilled answer that the model rejects, and adds a user message only if the caller asks for it", () => {
    const request = { model: "claude-opus-4-6", messages: [user(), assistant("Sure")] };
    const reported = checkRequest(request);
    expect(reported).toMatchObject({
      valid: false,
      findings: [{ rule: "prefill-unsupported", action: "reported" }],
    });
    expect(reported.request).toBe(request);
    expect(checkRequest(request, { prefill: "add-user-message" }).request.messages[2]).toEqual(
      user([text(CONTINUE_TEXT)]),
    );
    expect(rules({ ...request, model: "claude-sonnet-4-5-20250929" })).toEqual([]);
  });

  it("derives from the model name whether the model accepts a prefilled answer", () => {
    const refusing = [
      "claude-opus-4-6",
      "claude-sonnet-5",
      "claude-fable-5-1",
      "us.anthropic.claude-opus-4-7-v1:0",
    ];
    const accepting = [
      "claude-3-5-sonnet-20241022",
      "claude-sonnet-4-20250514",
      "claude-haiku-4-5",
      "gpt-5",
      undefined,
    ];
    expect(refusing.map(refusesPrefill)).toEqual(refusing.map(() => true));
    expect(accepting.map(refusesPrefill)).toEqual(accepting.map(() => false));
  });

  it("removes thinking at the end of an assistant message, and messages that contain only thinking", () => {
    const messages = [
      user("a"),
      assistant([thinking("x")]),
      user("b"),
      assistant([text("hi"), thinking("y")]),
      user("c"),
    ];
    const { request, findings } = checkRequest({ messages });
    expect(request.messages).toEqual([user([text("a"), text("b")]), assistant([text("hi")]), user("c")]);
    expect(findings.map(({ rule, path }) => `${rule} ${path}`)).toEqual([
      "thinking-only messages.1",
      "thinking-last messages.3.content.1",
      "same-role messages.2",
    ]);
  });

  it("if thinking is enabled, adds two messages to end a tool turn that does not start with thinking", () => {
    const messages = [user(), assistant([toolUse("a", "Read", {})]), user([toolResult("a", "x")])];
    const { request, findings } = checkRequest({ messages, thinking: { type: "enabled" } });
    expect(findings.map(({ rule, path, action }) => [rule, path, action])).toEqual([
      ["thinking-not-first", "messages.1", "text-added"],
    ]);
    expect(request.messages).toEqual([
      ...messages,
      assistant([text(RESULTS_READ_TEXT)]),
      user([text(CONTINUE_WITH_RESULTS_TEXT)]),
    ]);
    expect(request.messages[2]).toBe(messages[2]);
    expect(rules({ messages, thinking: { type: "adaptive" } })).toEqual([]);
  });

  it("after an ended tool turn, the text after the tool results starts the next turn", () => {
    const messages = [
      user(),
      assistant([toolUse("a", "Read", {})]),
      user([toolResult("a", "x"), text("a summary")]),
    ];
    const { request } = checkRequest({ messages, thinking: { type: "enabled" } });
    expect(request.messages.slice(2)).toEqual([
      user([toolResult("a", "x")]),
      assistant([text(RESULTS_READ_TEXT)]),
      user([text("a summary")]),
    ]);
  });

  it("accepts later tool calls without thinking if the turn starts with thinking, and ends other turns", () => {
    const call = (id: string, ...before: ContentBlock[]): readonly ApiMessage[] => [
      assistant([...before, toolUse(id, "Read", {})]),
      user([toolResult(id, id)]),
    ];
    const request = (...rounds: (readonly ApiMessage[])[]): ApiRequest => ({
      thinking: { type: "enabled" },
      messages: [user(), ...rounds.flat()],
    });
    expect(rules(request(call("a", thinking("hm")), call("b")))).toEqual([]);
    const mixed = request(call("a"), call("b", thinking("hm")), call("c"));
    const after = checkRequest(mixed).request.messages;
    expect(after.filter((message) => !mixed.messages.includes(message)).map(({ role }) => role)).toEqual([
      "assistant",
      "user",
    ]);
    expect(after[3]).toEqual(assistant([text(RESULTS_READ_TEXT)]));
    expect(after[5]).toBe(mixed.messages[3]);
  });
});

describe("server tools", () => {
  const use = opaque({ type: "server_tool_use", id: "s1", name: "web_search", input: {} });
  const result = opaque({ type: "web_search_tool_result", tool_use_id: "s1", content: [] });

  it("removes a server tool call without a result and a server tool result without a call", () => {
    const messages = [user(), assistant([use, text("a")]), user(), assistant([result, text("b")]), user()];
    const { request, findings } = checkRequest({ messages });
    expect([request.messages[1]?.content, request.messages[3]?.content]).toEqual([[text("a")], [text("b")]]);
    expect(findings.map((finding) => finding.rule)).toEqual([
      "server-tool-unanswered",
      "server-result-orphan",
    ]);
  });

  it("accepts a server tool call before other tool results, or without a result in the last turn", () => {
    const called = assistant([use, toolUse("a", "Read", {})]);
    const answered = user([toolResult("a", "x")]);
    expect(rules({ messages: [user(), called, answered, assistant([result, text("b")]), user()] })).toEqual(
      [],
    );
    expect(rules({ messages: [user(), called, answered] })).toEqual([]);
    expect(rules({ messages: [user(), assistant([use])], model: "claude-opus-5" })).toEqual([]);
  });
});

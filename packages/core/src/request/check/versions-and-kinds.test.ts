import { describe, expect, it } from "vitest";
import { thinking, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import type { ApiMessage, ApiRequest, ContentBlock } from "../../messages/message.ts";
import { checkRequest } from "./check.ts";
import type { CheckOptions } from "./rule.ts";

const text = (value: string): ContentBlock => ({ type: "text", text: value });
const user = (content: ApiMessage["content"] = "go"): ApiMessage => ({ role: "user", content });
const assistant = (content: ApiMessage["content"] = "done"): ApiMessage => ({ role: "assistant", content });
const system = (content: ApiMessage["content"] = "rule"): ApiMessage => ({ role: "system", content });
const opaque = (block: object): ContentBlock => block as ContentBlock;
const effort = { role: "system", output_config: { effort: "low" } } as unknown as ApiMessage;
const compaction = (more: object = {}): ContentBlock =>
  opaque({ type: "compaction", content: "so far", ...more });
const rules = (request: ApiRequest, options?: CheckOptions): string[] =>
  checkRequest(request, options).findings.map((finding) => finding.rule);

describe("API versions", () => {
  const document = opaque({ type: "document", source: { type: "file", file_id: "f" } });
  const cited: ContentBlock = { type: "text", text: "as said", citations: [{ type: "char_location" }] };

  it("accepts assistant documents and user citations only before API version 2026-10-21", () => {
    const request = { messages: [user([cited]), assistant([document]), user()] };
    expect(rules(request)).toEqual(["media-in-assistant", "citations-in-user"]);
    expect(rules(request, { apiVersion: "2026-10-21" })).toHaveLength(2);
    expect(checkRequest(request, { apiVersion: "2023-06-01" }).request).toBe(request);
  });

  it("rejects images in assistant messages even in the older API version", () => {
    const image = opaque({ type: "image", source: { type: "file", file_id: "f" } });
    const messages = [user(), assistant([image]), user()];
    expect(rules({ messages }, { apiVersion: "2023-06-01" })).toEqual(["media-in-assistant"]);
  });

  it("removes citations inside search results of a user message", () => {
    const found = (texts: readonly ContentBlock[]): ContentBlock =>
      opaque({ type: "search_result", source: "s", title: "t", content: texts });
    const { request, findings } = checkRequest({ messages: [user([found([cited, text("b")])])] });
    expect(request.messages).toEqual([user([found([text("as said"), text("b")])])]);
    expect(findings).toMatchObject([{ rule: "citations-in-user", path: "messages.0.content.0" }]);
  });
});

describe("consecutive messages of the same role, with the option that accepts them", () => {
  const accepted: CheckOptions = { consecutiveRoles: "accepted" };

  it("with consecutiveRoles accepted, returns a valid request with consecutive messages as the same object", () => {
    const messages = [
      user(),
      assistant([toolUse("a", "Read", {})]),
      assistant([toolUse("b", "Read", {})]),
      user([toolResult("a", "x")]),
      user([toolResult("b", "y")]),
    ];
    const request = { messages };
    expect(checkRequest(request, accepted)).toEqual({ valid: true, request, findings: [] });
    expect(checkRequest(request, accepted).request).toBe(request);
    expect(rules(request)).toEqual(["same-role", "same-role"]);
  });

  it("with consecutiveRoles accepted, checks consecutive messages like one merged message", () => {
    const messages = [
      user(),
      assistant([toolUse("a", "Read", {})]),
      user("well"),
      user([toolResult("a", "x")]),
    ];
    expect(rules({ messages }, accepted)).toEqual(["tool-results-first"]);
  });

  it("with consecutiveRoles accepted, returns the same object when a fault is only reported", () => {
    const request = { model: "claude-opus-5", messages: [user(), user(), assistant()] };
    const checked = checkRequest(request, accepted);
    expect(checked.findings.map((finding) => finding.action)).toEqual(["reported"]);
    expect(checked.request).toBe(request);
  });
});

describe("misplaced block types", () => {
  it("converts a block to text if the tool result or the message that contains it does not allow the block type", () => {
    const reference = opaque({ type: "tool_reference", tool_name: "Read" });
    const addition = opaque({ type: "tool_addition", tool: {} });
    const messages = [
      user([addition]),
      assistant([toolUse("a", "Read", {})]),
      user([toolResult("a", [toolUse("b", "Read", {}), reference])]),
    ];
    const { request, findings } = checkRequest({ messages });
    expect(findings.map(({ rule, path }) => `${rule} ${path}`)).toEqual([
      "block-in-wrong-role messages.0.content.0",
      "block-in-wrong-role messages.2.content.0",
    ]);
    expect(JSON.stringify(request.messages[0])).toContain("tool_addition");
    expect(request.messages[2]).toMatchObject({ content: [{ content: [{ type: "text" }, reference] }] });
  });

  it("does not accept a server tool result as the answer to a call of another tool", () => {
    const use = opaque({ type: "server_tool_use", id: "s", name: "web_search", input: {} });
    const other = opaque({ type: "web_fetch_tool_result", tool_use_id: "s", content: {} });
    expect(rules({ messages: [user(), assistant([use, other, text("a")]), user()] })).toEqual([
      "server-result-orphan",
      "server-tool-unanswered",
    ]);
  });
});

describe("compaction blocks of the provider", () => {
  it("accepts a signed compaction block only as the first block, and accepts no second compaction block", () => {
    const signed = compaction({ signature: "s" });
    const messages = [user(), assistant([signed, text("a")]), user()];
    const { request, findings } = checkRequest({ messages });
    expect(findings).toMatchObject([{ rule: "compaction-misplaced", path: "messages.1.content.0" }]);
    expect(request.messages[1]).toEqual(assistant([text("so far"), text("a")]));
    const second = [assistant([signed]), user(), assistant([compaction(), text("a")]), user()];
    expect(rules({ messages: second })).toEqual(["compaction-repeated"]);
  });

  it("accepts unsigned compaction blocks anywhere in assistant messages, even at the end", () => {
    const messages = [user(), assistant([compaction(), text("a")]), user(), assistant([compaction()])];
    expect(rules({ messages, model: "claude-opus-5" })).toEqual([]);
  });

  it("removes a compaction block with an empty summary and keeps the block of a failed compaction", () => {
    const messages = [user(), assistant([compaction({ content: "" }), text("a")]), user()];
    expect(checkRequest({ messages }).request.messages[1]).toEqual(assistant([text("a")]));
    expect(rules({ messages: [user(), assistant([compaction({ content: null }), text("a")])] })).toEqual([]);
  });
});

describe("support for system messages", () => {
  it("turns system messages into user messages for models that reject them", () => {
    const messages = [user(), system(), assistant(), user()];
    expect(rules({ messages })).toEqual([]);
    expect(rules({ messages, model: "claude-opus-4-8" })).toEqual([]);
    const { request, findings } = checkRequest({ messages, model: "claude-opus-4-7" });
    expect(findings.map((finding) => finding.rule)).toEqual(["system-unsupported", "same-role"]);
    expect(request.messages[0]).toEqual(user([text("go"), text("rule")]));
    expect(rules({ messages, model: "claude-3-5-sonnet-20241022" })).toContain("system-unsupported");
  });

  it("accepts system messages without content that only set the effort, even as the first message", () => {
    expect(rules({ messages: [effort, user(), effort, assistant(), user()] })).toEqual([]);
    expect(rules({ messages: [effort, assistant(), user()] })).toEqual(["first-role"]);
    const bare = { role: "system", output_config: {} } as unknown as ApiMessage;
    expect(rules({ messages: [user(), bare] })).toEqual(["message-empty"]);
  });
});

describe("the automatic cache mark", () => {
  it("removes the automatic cache mark when the last block has a mark with another ttl", () => {
    const marked: ContentBlock = { type: "text", text: "a", cache_control: { type: "ephemeral", ttl: "1h" } };
    const request: ApiRequest = { messages: [user([marked])], cache_control: { type: "ephemeral" } };
    const checked = checkRequest(request);
    expect(checked.findings).toMatchObject([{ rule: "cache-mark-conflict", action: "dropped" }]);
    expect(checked.request).toEqual({ messages: request.messages });
    expect(rules({ ...request, cache_control: { type: "ephemeral", ttl: "1h" } })).toEqual([]);
  });
});

describe("a user message that is added at the end", () => {
  it("removes a server tool call without a result when the checker adds a user message at the end", () => {
    const use = opaque({ type: "server_tool_use", id: "s", name: "web_search", input: {} });
    const request = { model: "claude-opus-5", messages: [user(), assistant([use, text("well")])] };
    const { findings } = checkRequest(request, { prefill: "add-user-message" });
    expect(findings.map((finding) => finding.rule)).toEqual([
      "prefill-unsupported",
      "server-tool-unanswered",
    ]);
  });
});

describe("tool turns with thinking of type enabled", () => {
  it("requires a thinking block at the start of a tool turn, or right after its compaction block", () => {
    const called = (...before: ContentBlock[]): ApiMessage =>
      assistant([...before, toolUse("a", "Read", {})]);
    const request = (turn: ApiMessage, ...after: ApiMessage[]): ApiRequest => ({
      thinking: { type: "enabled" },
      messages: [user(), turn, user([toolResult("a", "x")]), ...after],
    });
    expect(rules(request(called(), system()))).toEqual(["thinking-not-first"]);
    expect(rules(request(called(compaction(), thinking("hm")), system()))).toEqual([]);
  });
});

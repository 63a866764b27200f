import { describe, expect, it } from "vitest";
import { image, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import type { ApiMessage } from "../../messages/message.ts";
import { checkRequest } from "./check.ts";
import { MISSING_RESULT_TEXT, ORPHAN_RESULT_LABEL, SECOND_RESULT_LABEL } from "./tool-pair-rules.ts";

const ask: ApiMessage = { role: "user", content: "go" };
const call = (...ids: string[]): ApiMessage => ({
  role: "assistant",
  content: ids.map((id) => toolUse(id, "Read", {})),
});

describe("tool calls and their results", () => {
  it("adds an error result to the next message for a tool call without a result", () => {
    const { request, findings } = checkRequest({
      messages: [ask, call("a"), { role: "user", content: "stop" }],
    });
    expect(request.messages[2]?.content).toEqual([
      { type: "tool_result", tool_use_id: "a", content: MISSING_RESULT_TEXT, is_error: true },
      { type: "text", text: "stop" },
    ]);
    expect(findings).toMatchObject([
      {
        rule: "tool-use-unanswered",
        path: "messages.1.content.0",
        action: "result-added",
        detail: { toolUseId: "a" },
      },
    ]);
  });

  it("adds a message with error results when the conversation ends with tool calls", () => {
    const { request } = checkRequest({ messages: [ask, call("a", "b")] });
    expect(request.messages).toHaveLength(3);
    expect(request.messages[2]).toMatchObject({
      role: "user",
      content: [{ tool_use_id: "a" }, { tool_use_id: "b" }],
    });
  });

  it("turns a tool result that has no call into a label and the result's content", () => {
    const orphan = toolResult("gone", [{ type: "text", text: "old news" }, image()]);
    const { request, findings } = checkRequest({ messages: [{ role: "user", content: [orphan] }] });
    const [label, text, picture] = request.messages[0]?.content ?? [];
    expect(label).toEqual({ type: "text", text: ORPHAN_RESULT_LABEL });
    expect([text, picture]).toEqual([{ type: "text", text: "old news" }, image()]);
    expect(findings).toMatchObject([
      { rule: "tool-result-orphan", path: "messages.0.content.0", action: "replaced-by-text" },
    ]);
  });

  it("removes an empty tool result without a call and reports that", () => {
    const { findings } = checkRequest({
      messages: [ask, { role: "user", content: [toolResult("gone", "")] }],
    });
    expect(findings).toContainEqual(
      expect.objectContaining({ rule: "tool-result-orphan", action: "dropped" }),
    );
  });

  it("keeps the first result of a tool call, turns a different second result into text, and removes a duplicate", () => {
    const results = [toolResult("a", "one"), toolResult("a", "two"), toolResult("a", "one")];
    const { request, findings } = checkRequest({
      messages: [ask, call("a"), { role: "user", content: results }],
    });
    expect(request.messages[2]?.content).toEqual([
      results[0],
      { type: "text", text: `${SECOND_RESULT_LABEL}\ntwo` },
    ]);
    expect(findings.map(({ path, action }) => [path, action])).toEqual([
      ["messages.2.content.1", "replaced-by-text"],
      ["messages.2.content.2", "dropped"],
    ]);
  });

  it("moves a late tool result to the message after its call", () => {
    const late: ApiMessage = { role: "user", content: [toolResult("a", "late")] };
    const messages = [
      ask,
      call("a"),
      { role: "user", content: "and?" } as const,
      { role: "assistant", content: "wait" } as const,
      late,
    ];
    const { request, findings } = checkRequest({ messages });
    expect(request.messages.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    expect(request.messages[2]?.content).toEqual([toolResult("a", "late"), { type: "text", text: "and?" }]);
    expect(findings[0]).toMatchObject({
      rule: "tool-result-misplaced",
      path: "messages.4.content.0",
      action: "moved",
    });
  });

  it("prefers the tool result in the message after the call to a result for the same call elsewhere", () => {
    const early: ApiMessage = { role: "user", content: [toolResult("a", "stray")] };
    const home: ApiMessage = { role: "user", content: [toolResult("a", "home")] };
    const { request, findings } = checkRequest({ messages: [early, call("a"), home] });
    expect(request.messages[2]).toBe(home);
    expect(findings).toMatchObject([{ rule: "tool-result-duplicate", path: "messages.0.content.0" }]);
  });

  it("moves tool results to a place before the text of their message", () => {
    const content = [{ type: "text", text: "by the way" } as const, toolResult("a", "one")];
    const { request, findings } = checkRequest({ messages: [ask, call("a"), { role: "user", content }] });
    expect(request.messages[2]?.content).toEqual([content[1], content[0]]);
    expect(findings).toMatchObject([{ rule: "tool-results-first", path: "messages.2", action: "moved" }]);
  });

  it("moves a tool result from an assistant message to a user message", () => {
    const messages: ApiMessage[] = [
      ask,
      { role: "assistant", content: [toolUse("a", "Read", {}), toolResult("a", "x")] },
    ];
    const { request, findings } = checkRequest({ messages });
    expect(request.messages[2]).toEqual({ role: "user", content: [toolResult("a", "x")] });
    expect(findings).toMatchObject([{ rule: "block-in-wrong-role", action: "moved" }]);
  });
});

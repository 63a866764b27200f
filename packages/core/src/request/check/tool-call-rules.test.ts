import { describe, expect, it } from "vitest";
import { toolResult, toolUse } from "../../../../../test/support/builders.ts";
import type { ApiMessage, ContentBlock } from "../../messages/message.ts";
import { checkRequest } from "./check.ts";

const ask: ApiMessage = { role: "user", content: "go" };

function exchange(...uses: ContentBlock[]): ApiMessage {
  return { role: "assistant", content: uses };
}

function blocks(message: ApiMessage | undefined): Record<string, unknown>[] {
  return (message?.content ?? []) as unknown as Record<string, unknown>[];
}

describe("tool call blocks", () => {
  it("gives a new id to a later tool call whose id is already used, and to its result", () => {
    const messages: ApiMessage[] = [
      ask,
      exchange(toolUse("a", "Read", {})),
      { role: "user", content: [toolResult("a", "one")] },
      exchange(toolUse("a", "Read", { again: true })),
      { role: "user", content: [toolResult("a", "two")] },
    ];
    const { request, findings } = checkRequest({ messages });
    expect(findings).toMatchObject([
      { rule: "tool-use-id-duplicate", path: "messages.3.content.0", action: "rewritten" },
    ]);
    expect(blocks(request.messages[4])[0]).toEqual({ ...toolResult("a_2", "two") });
    expect(request.messages[2]).toBe(messages[2]);
  });

  it("assigns results to tool calls with the same id in the order of the calls", () => {
    const messages: ApiMessage[] = [
      ask,
      exchange(toolUse("a", "Read", { part: 1 }), toolUse("a", "Read", { part: 2 })),
      { role: "user", content: [toolResult("a", "one"), toolResult("a", "two")] },
    ];
    const { request } = checkRequest({ messages });
    expect(blocks(request.messages[2]).map((block) => [block.tool_use_id, block.content])).toEqual([
      ["a", "one"],
      ["a_2", "two"],
    ]);
  });

  it("never generates a tool id that another tool call has", () => {
    const uses = [toolUse("a", "Read", { n: 1 }), toolUse("a", "Read", { n: 2 }), toolUse("a_2", "Read", {})];
    const { request } = checkRequest({ messages: [ask, exchange(...uses)] });
    expect(blocks(request.messages[1]).map((block) => block.id)).toEqual(["a", "a_3", "a_2"]);
  });

  it("removes the second copy of a tool call that occurs twice in a message", () => {
    const use = toolUse("a", "Read", {});
    const messages: ApiMessage[] = [
      ask,
      exchange(use, use),
      { role: "user", content: [toolResult("a", "one")] },
    ];
    const { request, findings } = checkRequest({ messages });
    expect(request.messages[1]?.content).toEqual([use]);
    expect(findings).toMatchObject([{ rule: "tool-use-id-duplicate", action: "dropped" }]);
  });

  it("repairs an invalid or missing tool id in the call and in its result", () => {
    const nameless = { type: "tool_use", name: "Read", input: {} } as unknown as ContentBlock;
    const answer = { type: "tool_result", content: "two" } as unknown as ContentBlock;
    const messages: ApiMessage[] = [
      ask,
      exchange(toolUse("call:1", "Read", {}), nameless),
      { role: "user", content: [toolResult("call:1", "one"), answer] },
    ];
    const { request, findings } = checkRequest({ messages });
    expect(findings.map((finding) => finding.rule)).toEqual(["tool-use-id-invalid", "tool-use-id-invalid"]);
    expect(blocks(request.messages[1]).map((block) => block.id)).toEqual(["call_1", "toolu_unnamed"]);
    expect(blocks(request.messages[2]).map((block) => block.tool_use_id)).toEqual([
      "call_1",
      "toolu_unnamed",
    ]);
  });

  it("turns every tool input into an object without losing content", () => {
    const inputs = ['{"file":"/x"}', "not json", null, [1, 2], undefined, { kept: true }];
    const uses = inputs.map((input, at) => toolUse(`t${at}`, "Read", input));
    const { request, findings } = checkRequest({ messages: [ask, exchange(...uses)] });
    expect(blocks(request.messages[1]).map((block) => block.input)).toEqual([
      { file: "/x" },
      { value: "not json" },
      {},
      { value: [1, 2] },
      {},
      { kept: true },
    ]);
    expect(findings.filter((finding) => finding.rule === "tool-input-not-object")).toHaveLength(5);
  });

  it("repairs a tool name that the API would reject", () => {
    const uses = [toolUse("a", "my tool", {}), toolUse("b", "", {}), toolUse("c", "x".repeat(200), {})];
    const { request } = checkRequest({ messages: [ask, exchange(...uses)] });
    const names = blocks(request.messages[1]).map((block) => block.name);
    expect(names).toEqual(["my_tool", "unknown_tool", "x".repeat(128)]);
  });

  it("reports tool blocks in a request without tools only with requireTools, and never removes them", () => {
    const messages: ApiMessage[] = [
      ask,
      exchange(toolUse("a", "Read", {})),
      { role: "user", content: [toolResult("a", "x")] },
    ];
    expect(checkRequest({ messages }).valid).toBe(true);
    const checked = checkRequest({ messages }, { requireTools: true });
    expect(checked.findings).toMatchObject([
      { rule: "tools-missing", path: "messages.1.content.0", action: "reported" },
    ]);
    expect(checked.request.messages).toBe(messages);
  });
});

import { describe, expect, it } from "vitest";
import { answeredCalls } from "./tool-calls.ts";

describe("answeredCalls", () => {
  it("finds answered calls of the Messages API once, even if every request repeats them", () => {
    const messages = [
      { role: "assistant", content: [{ type: "tool_use", id: "a", name: "Read", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "one" }] },
    ];
    const open = { role: "assistant", content: [{ type: "tool_use", id: "b", name: "Bash", input: {} }] };
    expect(answeredCalls([{ messages }, { messages: [...messages, open] }])).toEqual([
      { id: "a", name: "Read", result: "one" },
    ]);
  });

  it("finds answered calls of chat completions", () => {
    const messages = [
      { role: "assistant", tool_calls: [{ type: "function", id: "a", function: { name: "read" } }] },
      { role: "tool", tool_call_id: "a", content: "one" },
    ];
    expect(answeredCalls([{ messages }])).toEqual([{ id: "a", name: "read", result: "one" }]);
  });

  it("finds answered calls of Responses, and results of calls that the provider stores", () => {
    const input = [
      { type: "function_call", call_id: "a", name: "run", arguments: "{}" },
      { type: "function_call_output", call_id: "a", output: "one" },
      { type: "custom_tool_call", call_id: "b", name: "patch", input: "x" },
      { type: "custom_tool_call_output", call_id: "b", output: "two" },
    ];
    const later = [{ type: "function_call_output", call_id: "c", output: "three" }];
    expect(answeredCalls([{ input }, { input: later, previous_response_id: "resp_1" }])).toEqual([
      { id: "a", name: "run", result: "one" },
      { id: "b", name: "patch", result: "two" },
      { id: "c", name: "(stored)", result: "three" },
    ]);
    expect(answeredCalls([{ input: later }])).toEqual([]);
  });
});

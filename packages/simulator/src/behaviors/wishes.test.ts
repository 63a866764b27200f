import { describe, expect, it } from "vitest";
import { answerFormOf, thinkingOf, toolChoiceOf } from "./wishes.ts";

const openAi = (body: object) => ({ body: body as Record<string, unknown>, provider: "openai" as const });
const claude = (body: object) => ({ body: body as Record<string, unknown>, provider: "anthropic" as const });

describe("the wishes of a request", () => {
  it.each([
    [
      claude({ tool_choice: { type: "tool", name: "a", disable_parallel_tool_use: true } }),
      "any",
      ["a"],
      false,
    ],
    [claude({ tool_choice: { type: "any" } }), "any", undefined, true],
    [claude({ tool_choice: { type: "none" } }), "none", undefined, true],
    [claude({}), "auto", undefined, true],
    [openAi({ tool_choice: "required", parallel_tool_calls: false }), "any", undefined, false],
    [openAi({ tool_choice: "none" }), "none", undefined, true],
    [openAi({ tool_choice: { type: "function", function: { name: "a" } } }), "any", ["a"], true],
    [openAi({ tool_choice: { type: "function", name: "a" } }), "any", ["a"], true],
    [openAi({ tool_choice: { type: "custom", custom: { name: "a" } } }), "any", ["a"], true],
    [openAi({ function_call: { name: "a" } }), "any", ["a"], true],
    [
      openAi({
        tool_choice: {
          type: "allowed_tools",
          allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "a" } }] },
        },
      }),
      "any",
      ["a"],
      true,
    ],
    [
      openAi({
        tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "a" }] },
      }),
      "auto",
      ["a"],
      true,
    ],
  ])(
    "the tool choice of %j is %s of %j, in the words of its provider",
    (request, mode, only, allowsParallel) => {
      expect(toolChoiceOf(request)).toEqual({ mode, only, allowsParallel });
    },
  );

  it.each([
    [
      claude({ output_config: { format: { type: "json_schema", schema: 1 } } }),
      { kind: "schema", schema: 1 },
    ],
    [
      openAi({ response_format: { type: "json_schema", json_schema: { schema: 1 } } }),
      { kind: "schema", schema: 1 },
    ],
    [openAi({ text: { format: { type: "json_schema", schema: 1 } } }), { kind: "schema", schema: 1 }],
    [openAi({ response_format: { type: "json_object" } }), { kind: "json" }],
    [openAi({ response_format: { type: "text" } }), { kind: "text" }],
    [claude({}), { kind: "text" }],
  ])("the answer to %j has the form %j", (request, form) => {
    expect(answerFormOf(request)).toEqual(form);
  });

  it("the effort `none` of either API of OpenAI turns thinking off", () => {
    const wish = (body: object): string => thinkingOf({ ...openAi(body), model: "gpt-5.4" });
    expect(wish({ reasoning_effort: "none" })).toBe("never");
    expect(wish({ reasoning: { effort: "none" } })).toBe("never");
    expect(wish({ reasoning_effort: "low" })).toBe("sometimes");
  });
});

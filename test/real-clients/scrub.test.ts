import { describe, expect, it } from "vitest";
import { PLACEHOLDERS, scrubBody } from "./scrub.ts";

const { text, note, instructions, description, path, value, sealed, patch, grammar } = PLACEHOLDERS;

describe("scrubBody", () => {
  it("replaces every text of a Messages request, and keeps roles, types, ids and names of tools", () => {
    const body = {
      model: "claude-a",
      system: [{ type: "text", text: "Some secret.", cache_control: { type: "ephemeral", ttl: "1h" } }],
      metadata: { user_id: "somebody" },
      messages: [
        { role: "user", content: "Some secret." },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Some secret.", signature: "abc" },
            {
              type: "tool_use",
              id: "toolu_1",
              name: "Read",
              input: { file: "/home/me/a.ts", note: "secret" },
            },
          ],
        },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "<b>secret</b>" }],
        },
      ],
    };
    expect(scrubBody(body)).toEqual({
      model: "claude-a",
      system: [{ type: "text", text: instructions, cache_control: { type: "ephemeral", ttl: "1h" } }],
      metadata: { user_id: value },
      messages: [
        { role: "user", content: text },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: text, signature: sealed },
            { type: "tool_use", id: "toolu_1", name: "Read", input: { file: path, note: value } },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: note }] },
      ],
    });
  });

  it("replaces every text of a Responses request, and keeps arguments valid JSON", () => {
    const body = {
      instructions: "Some secret.",
      tool_choice: "auto",
      input: [
        { role: "developer", content: "Some secret." },
        { type: "message", role: "user", content: [{ type: "input_text", text: "secret" }] },
        { type: "function_call", call_id: "call_1", name: "run", arguments: '{"cmd":"some secret"}' },
        { type: "custom_tool_call", call_id: "call_2", name: "edit", input: "*** Begin Patch\nsecret" },
        { type: "function_call_output", call_id: "call_1", output: "some secret" },
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "abc" },
      ],
      tools: [
        { type: "custom", name: "edit", format: { type: "grammar", syntax: "lark", definition: "x: /y/" } },
      ],
    };
    expect(scrubBody(body)).toEqual({
      instructions,
      tool_choice: "auto",
      input: [
        { role: "developer", content: text },
        { type: "message", role: "user", content: [{ type: "input_text", text }] },
        { type: "function_call", call_id: "call_1", name: "run", arguments: `{"cmd":"${value}"}` },
        { type: "custom_tool_call", call_id: "call_2", name: "edit", input: patch },
        { type: "function_call_output", call_id: "call_1", output: text },
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: sealed },
      ],
      tools: [
        { type: "custom", name: "edit", format: { type: "grammar", syntax: "lark", definition: grammar } },
      ],
    });
  });

  it("keeps the structure of a schema without its texts, even if a property has the name of a keyword", () => {
    const schema = {
      type: "object",
      description: "Some secret.",
      properties: {
        description: { type: "string", title: "Some secret.", pattern: "some secret" },
        mode: { enum: ["fast", "some secret"] },
      },
      required: ["description"],
    };
    const tool = { name: "Read", description: "Some secret.", input_schema: schema };
    expect(scrubBody({ tools: [tool] })).toEqual({
      tools: [
        {
          name: "Read",
          description,
          input_schema: {
            type: "object",
            properties: { description: { type: "string", pattern: value }, mode: { enum: ["fast", value] } },
            required: ["description"],
          },
        },
      ],
    });
  });

  it("keeps empty texts and blanks, because the API has rules for them", () => {
    const messages = [
      { role: "user", content: [{ type: "text", text: "" }] },
      { role: "user", content: " \n" },
    ];
    expect(scrubBody({ messages })).toEqual({ messages });
  });
});

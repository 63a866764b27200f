import { describe, expect, it } from "vitest";
import { chatConversation, customTools } from "./chat-conversation.ts";

const called = (id: string, args: string) => ({
  id,
  type: "function",
  function: { name: "read_file", arguments: args },
});

describe("chatConversation", () => {
  it("joins the leading instructions, and keeps later ones in their place", () => {
    const { system, messages } = chatConversation({
      messages: [
        { role: "system", content: "one" },
        { role: "developer", content: [{ type: "text", text: "two" }] },
        { role: "user", content: "hello" },
        { role: "system", content: "three" },
      ],
    });
    expect(system).toBe("one\n\ntwo");
    expect(messages).toEqual([
      { role: "user", content: "hello" },
      { role: "system", content: "three" },
    ]);
  });

  it("merges consecutive results of tools into one message, and no user's text with them", () => {
    const { messages } = chatConversation({
      messages: [
        { role: "user", content: "go" },
        { role: "assistant", content: "Look.", tool_calls: [called("a", '{"path":"x"}'), called("b", "{}")] },
        { role: "tool", tool_call_id: "a", content: "one" },
        { role: "tool", tool_call_id: "b", content: [{ type: "text", text: "two" }] },
        { role: "user", content: "and?" },
      ],
    });
    expect(messages).toEqual([
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Look." },
          { type: "tool_use", id: "a", name: "read_file", input: { path: "x" } },
          { type: "tool_use", id: "b", name: "read_file", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: "one" },
          { type: "tool_result", tool_use_id: "b", content: "two" },
        ],
      },
      { role: "user", content: "and?" },
    ]);
  });

  it("translates images, files and refusals", () => {
    const { messages } = chatConversation({
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "see" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
            { type: "image_url", image_url: { url: "https://example.com/a.png" } },
            { type: "file", file: { file_id: "file-1", filename: "a.pdf" } },
          ],
        },
        { role: "assistant", content: null, refusal: "No." },
      ],
    });
    expect(messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "see" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
          { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
          { type: "document", source: { type: "file", file_id: "file-1" }, title: "a.pdf" },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "No." }] },
    ]);
  });

  it("translates tools, custom tools, and the deprecated functions with their calls", () => {
    const body = {
      tools: [
        {
          type: "function",
          function: { name: "read_file", description: "Reads.", parameters: { type: "object" } },
        },
        { type: "custom", custom: { name: "patch" } },
      ],
      functions: [{ name: "old" }],
      messages: [
        {
          role: "assistant",
          tool_calls: [{ id: "c", type: "custom", custom: { name: "patch", input: "*** Begin" } }],
        },
        { role: "assistant", function_call: { name: "old", arguments: "[1]" } },
        { role: "function", name: "old", content: "done" },
      ],
    };
    const { tools, messages } = chatConversation(body);
    expect(tools).toEqual([
      { name: "read_file", description: "Reads.", input_schema: { type: "object" } },
      { name: "patch", input_schema: expect.objectContaining({ required: ["input"] }) },
      { name: "old", input_schema: { type: "object", properties: {} } },
    ]);
    expect(messages[0]?.content).toEqual([
      { type: "tool_use", id: "c", name: "patch", input: { input: "*** Begin" } },
    ]);
    expect(messages[1]?.content).toEqual([
      { type: "tool_use", id: "call_old", name: "old", input: { input: [1] } },
    ]);
    expect(messages[2]?.content).toEqual([{ type: "tool_result", tool_use_id: "call_old", content: "done" }]);
    expect([...customTools(body)]).toEqual(["patch"]);
  });

  it("keeps the text of arguments that are not valid JSON", () => {
    const { messages } = chatConversation({
      messages: [{ role: "assistant", tool_calls: [called("a", '{"path":')] }],
    });
    expect(messages[0]?.content).toEqual([
      { type: "tool_use", id: "a", name: "read_file", input: { input: '{"path":' } },
    ]);
  });
});

import { describe, expect, it } from "vitest";
import { Sealer } from "../../sealer.ts";
import { fromLatestCompaction, inputItems } from "./input-items.ts";
import { SealedItems } from "./sealed-items.ts";
import { seenConversation } from "./seen-messages.ts";
import { seenTools, toolOf } from "./seen-tools.ts";

const sealed = new SealedItems(new Sealer("secret"));
const see = (items: readonly object[], instructions?: string) =>
  seenConversation(instructions, inputItems(items), sealed);

const message = (role: string, content: unknown) => ({ role, content });
const text = (words: string) => ({ type: "text", text: words });

describe("input items as messages", () => {
  it("a text is one message of the user, and instructions are the system prompt", () => {
    expect(seenConversation("Be brief.", inputItems("Hi"), sealed)).toEqual({
      system: "Be brief.",
      messages: [message("user", [text("Hi")])],
    });
  });

  it("developer messages at the start join the instructions, and later ones stay in their place", () => {
    const seen = see(
      [
        message("developer", "Use tabs."),
        message("user", "Hi"),
        message("system", "Stop."),
        message("user", "Go"),
      ],
      "Be brief.",
    );
    expect(seen.system).toBe("Be brief.\n\nUse tabs.");
    expect(seen.messages.map(({ role }) => role)).toEqual(["user", "system", "user"]);
  });

  it("items of the model form one message, and so do the outputs and the text that follow", () => {
    const { messages } = see([
      message("user", "Fix it"),
      {
        type: "reasoning",
        id: "rs_1",
        summary: [],
        encrypted_content: sealed.sealReasoning("rs_1", "Think."),
      },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Look." }] },
      { type: "function_call", call_id: "call_1", name: "read", arguments: '{"path":"a"}' },
      { type: "function_call", call_id: "call_2", name: "find", namespace: "crm", arguments: "not json" },
      { type: "function_call_output", call_id: "call_1", output: "one" },
      { type: "function_call_output", call_id: "call_2", output: [{ type: "input_text", text: "two" }] },
      message("user", "And?"),
    ]);
    expect(messages).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Think." },
          text("Look."),
          { type: "tool_use", id: "call_1", name: "read", input: { path: "a" } },
          { type: "tool_use", id: "call_2", name: "crm.find", input: { input: "not json" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "call_1", content: "one" },
          { type: "tool_result", tool_use_id: "call_2", content: [text("two")] },
          text("And?"),
        ],
      },
    ]);
  });

  it.each([
    [
      { type: "custom_tool_call", call_id: "c", name: "apply_patch", input: "*** Begin" },
      { type: "tool_use", id: "c", name: "apply_patch", input: { input: "*** Begin" } },
    ],
    [
      {
        type: "local_shell_call",
        id: "lsh",
        call_id: "c",
        status: "completed",
        action: { type: "exec", command: ["ls"] },
      },
      { type: "tool_use", id: "c", name: "local_shell", input: { type: "exec", command: ["ls"] } },
    ],
    [
      { type: "shell_call", call_id: "c", action: { commands: ["ls"] } },
      { type: "tool_use", id: "c", name: "shell", input: { commands: ["ls"] } },
    ],
    [
      {
        type: "apply_patch_call",
        call_id: "c",
        status: "completed",
        operation: { type: "delete_file", path: "a" },
      },
      {
        type: "tool_use",
        id: "c",
        name: "apply_patch",
        input: { operation: { type: "delete_file", path: "a" } },
      },
    ],
  ])("a call of the form %o is a tool call", (item, block) => {
    expect(see([item]).messages).toEqual([{ role: "assistant", content: [block] }]);
  });

  it.each([
    [{ type: "local_shell_call_output", id: "c", output: "a.ts" }, "a.ts", undefined],
    [
      { type: "apply_patch_call_output", call_id: "c", status: "failed", output: "No file." },
      "No file.",
      true,
    ],
    [
      {
        type: "shell_call_output",
        call_id: "c",
        output: [{ stdout: "a.ts", stderr: "", outcome: { type: "exit", exit_code: 1 } }],
      },
      [text("a.ts\nexit: 1")],
      undefined,
    ],
  ])("an output of the form %o is a tool result", (item, content, isError) => {
    const [{ content: blocks } = { content: [] }] = see([item]).messages;
    expect(blocks).toEqual([
      {
        type: "tool_result",
        tool_use_id: "c",
        content,
        ...(isError === undefined ? {} : { is_error: true }),
      },
    ]);
  });

  it("images and files keep their source", () => {
    const content = [
      { type: "input_image", image_url: "data:image/png;base64,AAAA" },
      { type: "input_image", image_url: "https://x.example/a.png" },
      { type: "input_image", file_id: "file_1" },
      { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,BBBB" },
    ];
    expect(see([message("user", content)]).messages).toMatchObject([
      {
        content: [
          { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
          { type: "image", source: { type: "url", url: "https://x.example/a.png" } },
          { type: "image", source: { type: "file", file_id: "file_1" } },
          {
            type: "document",
            title: "a.pdf",
            source: { type: "base64", media_type: "application/pdf", data: "BBBB" },
          },
        ],
      },
    ]);
  });

  it("reasoning that another server wrote is shown by its summary", () => {
    const item = {
      type: "reasoning",
      summary: [{ type: "summary_text", text: "Short." }],
      encrypted_content: "gAAA",
    };
    expect(see([item]).messages).toMatchObject([{ content: [{ type: "thinking", thinking: "Short." }] }]);
  });
});

describe("compaction items", () => {
  const compaction = { type: "compaction", encrypted_content: sealed.sealSummary("What happened.") };

  it("a compaction item shows its summary as a text of the user", () => {
    expect(see([compaction]).messages).toEqual([message("user", [text("What happened.")])]);
  });

  it("the latest compaction item replaces what the model did before it, and nothing else", () => {
    const items = [
      { type: "additional_tools", role: "developer", tools: [] },
      message("developer", "Use tabs."),
      message("user", "One"),
      message("assistant", "Answer"),
      { type: "compaction", encrypted_content: sealed.sealSummary("Older.") },
      { type: "function_call", call_id: "c", name: "read", arguments: "{}" },
      compaction,
      message("user", "Two"),
    ];
    expect(fromLatestCompaction(items)).toEqual([items[0], items[1], items[2], compaction, items[7]]);
  });

  it("content that was changed or written elsewhere is not known", () => {
    const content = sealed.sealReasoning("rs_1", "Think.");
    expect(sealed.written(content)).toEqual({ itemId: "rs_1" });
    expect(sealed.written(compaction.encrypted_content)).toEqual({ itemId: undefined });
    expect(sealed.written(`${content.slice(0, -8)}AAAAAAAA`)).toBeUndefined();
    const foreign = new SealedItems(new Sealer("other")).sealReasoning("rs_1", "Think.");
    expect(sealed.written(foreign)).toBeUndefined();
    expect(sealed.summary(content)).toBeUndefined();
  });
});

describe("tools of a request", () => {
  const read = { type: "function", name: "read", description: "Reads.", parameters: { type: "object" } };

  it("tools of all kinds have a name, and the client's tools have a schema", () => {
    const added = { type: "additional_tools", tools: [{ type: "custom", name: "patch" }] };
    const tools = [
      read,
      { type: "namespace", name: "crm", tools: [read] },
      { type: "local_shell" },
      { type: "web_search" },
    ];
    const { seen } = seenTools(tools, [added]);
    expect(seen).toMatchObject([
      { name: "read", description: "Reads.", input_schema: { type: "object" } },
      { name: "crm.read", description: "Reads." },
      { name: "local_shell", input_schema: { required: ["command"] } },
      { name: "web_search", type: "web_search" },
      { name: "patch", input_schema: { required: ["input"] } },
    ]);
  });

  it("a call names a tool with or without its namespace, and an invented tool is a function", () => {
    const tools = seenTools([{ type: "namespace", name: "crm", tools: [read] }], []);
    const inner = { form: "function", name: "read", namespace: "crm" };
    expect(toolOf("crm.read", tools)).toEqual(inner);
    expect(toolOf("read", tools)).toEqual(inner);
    expect(toolOf("other", tools)).toEqual({ form: "function", name: "other" });
  });
});

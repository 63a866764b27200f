import type { ToolUseBlock } from "@longhaul/core/messages";
import type { ToolChoice, ToolDefinition } from "@longhaul/core/models";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeEdit, type EditTool, editsOf, findEditTool } from "./model-edits.ts";

const text = { type: "string" };
const defined = (
  name: string,
  properties: Readonly<Record<string, unknown>>,
  more: object = {},
): ToolDefinition => ({
  name,
  input_schema: { type: "object", properties },
  ...more,
});

const EDIT = defined("Edit", {
  file_path: text,
  old_string: text,
  new_string: text,
  replace_all: { type: "boolean" },
});
const pair = { type: "object", properties: { oldText: text, newText: text } };
const MULTI = defined("multi_edit", { path: text, edits: { type: "array", items: pair } });
const COMMANDS = defined("str_replace_editor", {
  command: { type: "string", enum: ["view", "create", "str_replace", "insert"] },
  path: text,
  old_str: text,
  new_str: text,
});
const PROVIDERS = {
  type: "text_editor_20250728",
  name: "str_replace_based_edit_tool",
} as unknown as ToolDefinition;
const READ = defined("Read", { file_path: text });
const WRITE = defined("Write", { file_path: text, content: text });

function found(...tools: readonly ToolDefinition[]): EditTool {
  const tool = findEditTool({ tools });
  if (tool === undefined) throw new Error("none found");
  return tool;
}

const call = (input: unknown): ToolUseBlock => ({ type: "tool_use", id: "t", name: "any", input });

describe("findEditTool, which finds a host tool that can edit the notes", () => {
  it.each([
    ["Edit", EDIT, "`file_path`, `old_string` and `new_string`"],
    ["multi_edit", MULTI, "`path`, `edits` (a list, each with `oldText` and `newText`)"],
    ["str_replace_editor", COMMANDS, '`command` "str_replace", `path`, `old_str` and `new_str`'],
    ["str_replace_based_edit_tool", PROVIDERS, '`command` "str_replace", `path`, `old_str` and `new_str`'],
  ])("findEditTool finds the edit tool %s by its name and schema", (name, tool, words) => {
    expect(findEditTool({ tools: [READ, WRITE, tool] })).toMatchObject({ name });
    expect(describeEdit(found(tool))).toBe(words);
  });

  it.each([
    ["takes no old text", WRITE],
    ["takes a whole patch", defined("apply_patch", { patch: text })],
    ["names no file", defined("Edit", { old_string: text, new_string: text })],
    ["has an unknown name", defined("polish", { path: text, old_string: text, new_string: text })],
    ["is loaded later", { ...EDIT, defer_loading: true }],
    [
      "has no str_replace command",
      defined("str_replace_editor", { command: text, path: text, old_str: text, new_str: text }),
    ],
    ["has an invalid schema", { name: "Edit", input_schema: "none" } as unknown as ToolDefinition],
    ["has no name", { input_schema: EDIT.input_schema } as unknown as ToolDefinition],
  ])("findEditTool ignores a tool that %s", (_, tool) => {
    expect(findEditTool({ tools: [tool] })).toBeUndefined();
  });

  it("findEditTool returns nothing when the request forbids tool calls or parallel tool calls", () => {
    const choices: readonly object[] = [{ type: "none" }, { type: "auto", disable_parallel_tool_use: true }];
    for (const choice of choices)
      expect(findEditTool({ tools: [EDIT], tool_choice: choice as ToolChoice })).toBeUndefined();
    expect(findEditTool({ tools: [EDIT], tool_choice: { type: "auto" } })).toBeDefined();
    expect(findEditTool({})).toBeUndefined();
  });

  it("findEditTool prefers a tool for single edits over a tool that takes a list of edits", () => {
    expect(found(MULTI, EDIT).name).toBe("Edit");
  });
});

describe("editsOf, which reads the edits from a tool call", () => {
  it("editsOf reads the path, the old text and the new text of an edit from a tool call", () => {
    const input = { file_path: "/n.md", old_string: "a", new_string: "" };
    expect(editsOf(call(input), found(EDIT))).toEqual([
      { kind: "text", path: "/n.md", oldText: "a", newText: "" },
    ]);
    expect(editsOf(call({ ...input, replace_all: true }), found(EDIT))).toMatchObject([{ replaceAll: true }]);
    expect(editsOf(call({ ...input, replace_all: "yes" }), found(EDIT))).not.toHaveProperty("0.replaceAll");
  });

  it("editsOf reads several edits from one tool call, in order", () => {
    const edits = [
      { oldText: "a", newText: "b" },
      { oldText: "b", newText: "c" },
    ];
    expect(editsOf(call({ path: "/n.md", edits }), found(MULTI))).toMatchObject([
      { path: "/n.md", ...edits[0] },
      { path: "/n.md", ...edits[1] },
    ]);
  });

  it.each([
    ["view", COMMANDS],
    ["create", PROVIDERS],
  ])("refuses an edit call with a command other than str_replace: %s", (command, tool) => {
    const input = { command, path: "/n.md", old_str: "a", new_str: "b", file_text: "all gone" };
    expect(editsOf(call(input), found(tool))).toEqual({
      refused: expect.stringMatching(/only the command "str_replace"/),
    });
  });

  it.each([
    ["without a new text", EDIT, { file_path: "/n.md", old_string: "a" }],
    ["without a path", EDIT, { old_string: "a", new_string: "b" }],
    ["without any input", EDIT, undefined],
    ["with an empty list", MULTI, { path: "/n.md", edits: [] }],
    ["with a list that is not an array", MULTI, { path: "/n.md", edits: "all" }],
    [
      "with one bad edit among good ones",
      MULTI,
      { path: "/n.md", edits: [{ oldText: "a", newText: "b" }, 7] },
    ],
  ])("refuses an edit call %s and names the expected parameters", (_, tool, input) => {
    expect(editsOf(call(input), found(tool))).toEqual({
      refused: expect.stringContaining(describeEdit(found(tool))),
    });
  });

  it("for any input, editsOf returns either edits with text fields or a refusal with a reason", () => {
    const names = fc.constantFrom(
      "file_path",
      "path",
      "old_string",
      "new_string",
      "old_str",
      "new_str",
      "edits",
    );
    const texts = { oldText: fc.string(), newText: fc.oneof(fc.string(), fc.anything()) };
    const values = fc.oneof(
      fc.string(),
      fc.anything(),
      fc.array(fc.record(texts)),
      fc.constant("str_replace"),
    );
    const inputs = fc.oneof(fc.dictionary(names, values), fc.anything());
    fc.assert(
      fc.property(inputs, fc.constantFrom(EDIT, MULTI, COMMANDS, PROVIDERS), (input, tool) => {
        const result = editsOf(call(input), found(tool));
        if ("refused" in result) expect(result.refused).toMatch(/\.$/);
        else
          for (const { oldText, newText, path } of result)
            expect([oldText, newText, path].every(isText)).toBe(true);
      }),
    );
  });
});

const isText = (value: unknown): boolean => typeof value === "string";

import type { RuleCase } from "./chat-rules.case.ts";

const USER = { role: "user", content: "What is in a.ts?" };
const CALL = { type: "function_call", call_id: "call_1", name: "read", arguments: "{}" };
const OUTPUT = { type: "function_call_output", call_id: "call_1", output: "export {}" };
const REASONING = { type: "reasoning", id: "rs_1", summary: [] };
const ANSWER = {
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text: "It is empty." }],
};

function body(fields: object = {}): object {
  return { model: "gpt-5", input: "hi", ...fields };
}

function items(...input: readonly object[]): object {
  return body({ input });
}

function tool(parameters: unknown, more: object = {}): object {
  return { type: "function", name: "read", parameters, ...more };
}

function namespace(...tools: readonly object[]): object {
  return { type: "namespace", name: "files", description: "", tools };
}

const EMPTY = { type: "object", properties: {}, additionalProperties: false };

function user(part: object): object {
  return { role: "user", content: [part] };
}

/** Pairs of a call and its output, which the client runs. */
const PAIRS: readonly (readonly [call: object, output: object])[] = [
  [CALL, OUTPUT],
  [
    { type: "local_shell_call", call_id: "call_1", action: { type: "exec", command: ["ls"] } },
    { type: "local_shell_call_output", call_id: "call_1", output: "a" },
  ],
  [
    { type: "tool_search_call", call_id: "call_1", arguments: {}, execution: "client" },
    { type: "tool_search_output", call_id: "call_1", tools: [], execution: "client" },
  ],
  [
    { type: "custom_tool_call", call_id: "call_1", name: "patch", input: "x" },
    { type: "custom_tool_call_output", call_id: "call_1", output: [{ type: "input_text", text: "ok" }] },
  ],
  [
    { type: "shell_call", call_id: "call_1", action: { commands: ["ls"] } },
    {
      type: "shell_call_output",
      call_id: "call_1",
      output: [{ stdout: "a", stderr: "", outcome: { type: "exit", exit_code: 0 } }],
    },
  ],
  [
    {
      type: "apply_patch_call",
      call_id: "call_1",
      status: "completed",
      operation: { type: "delete_file", path: "a" },
    },
    { type: "apply_patch_call_output", call_id: "call_1", status: "completed" },
  ],
  [
    {
      type: "computer_call",
      call_id: "call_1",
      pending_safety_checks: [],
      status: "completed",
      action: { type: "wait" },
    },
    {
      type: "computer_call_output",
      call_id: "call_1",
      output: { type: "computer_screenshot", image_url: "data:image/png;base64,iVBORw0KGgo=" },
    },
  ],
];

const SHAPES: readonly RuleCase[] = [
  { rule: "wrong-type", fault: "the body is an array", faulty: [], sound: body(), path: "" },
  {
    rule: "wrong-type",
    fault: "the input is a number",
    faulty: body({ input: 1 }),
    sound: body(),
    path: "input",
  },
  {
    rule: "missing-field",
    fault: "there is no model",
    faulty: { input: "hi" },
    sound: { prompt: { id: "pmpt_1" } },
    path: "model",
  },
  {
    rule: "missing-field",
    fault: "a reasoning item has no summary",
    faulty: items({ type: "reasoning" }, ANSWER),
    sound: items({ type: "reasoning", summary: [] }, ANSWER),
    path: "input[0].summary",
  },
  {
    rule: "missing-field",
    fault: "an item has neither a type nor a role",
    faulty: items({ text: "hi" }),
    sound: items(USER),
    path: "input[0].type",
  },
  {
    rule: "unknown-field",
    fault: "an item keeps a field of the SDK",
    faulty: items({ ...CALL, parsed_arguments: {} }, OUTPUT),
    sound: items(CALL, OUTPUT),
    path: "input[0].parsed_arguments",
  },
  {
    rule: "unknown-field",
    fault: "a search keeps a field of another action",
    faulty: items({
      type: "web_search_call",
      status: "completed",
      action: { type: "open_page", url: "u", query: null },
    }),
    sound: items({ type: "web_search_call", status: "completed", action: { type: "open_page", url: "u" } }),
    path: "input[0].action.query",
  },
  {
    rule: "unknown-field",
    fault: "a message of the user has a phase",
    faulty: items({ ...USER, phase: "final_answer" }),
    sound: items({ ...ANSWER, phase: "final_answer" }),
    path: "input[0].phase",
  },
  {
    rule: "unknown-value",
    fault: "the type of an item does not exist",
    faulty: items({ type: "image", url: "u" }),
    sound: items(USER),
    path: "input[0].type",
  },
  {
    rule: "unknown-value",
    fault: "the role does not exist",
    faulty: items({ role: "tool", content: "hi" }),
    sound: items(USER),
    path: "input[0].role",
  },
  {
    rule: "unknown-value",
    fault: "the response should include something unknown",
    faulty: body({ include: ["everything"] }),
    sound: body({ include: ["reasoning.encrypted_content"] }),
    path: "include[0]",
  },
  {
    rule: "unknown-value",
    fault: "the truncation is unknown",
    faulty: body({ truncation: "middle" }),
    sound: body({ truncation: "auto" }),
    path: "truncation",
  },
  {
    rule: "out-of-range",
    fault: "the output limit is too small",
    faulty: body({ max_output_tokens: 15 }),
    sound: body({ max_output_tokens: 16 }),
    path: "max_output_tokens",
  },
  {
    rule: "text-length",
    fault: "the id of a call is too long",
    faulty: items({ ...CALL, call_id: "c".repeat(65) }, { ...OUTPUT, call_id: "c".repeat(65) }),
    sound: items({ ...CALL, call_id: "c".repeat(64) }, { ...OUTPUT, call_id: "c".repeat(64) }),
    path: "input[0].call_id",
  },
  {
    rule: "metadata-limit",
    fault: "a value is too long",
    faulty: body({ metadata: { k: "v".repeat(513) } }),
    sound: body({ metadata: { k: "v" } }),
    path: "metadata.k",
  },
  {
    rule: "name-invalid",
    fault: "the name of a tool has a space",
    faulty: body({ tools: [{ type: "custom", name: "a b" }] }),
    sound: body({ tools: [{ type: "custom", name: "a_b" }] }),
    path: "tools[0].name",
  },
];

const CONTENTS: readonly RuleCase[] = [
  {
    rule: "part-in-wrong-role",
    fault: "an assistant message has an input part",
    faulty: items({ role: "assistant", content: [{ type: "input_text", text: "a" }] }),
    sound: items({ role: "assistant", content: [{ type: "output_text", text: "a" }] }),
    path: "input[0].content[0].type",
  },
  {
    rule: "image-url",
    fault: "an image has neither an address nor a file",
    faulty: items(user({ type: "input_image" })),
    sound: items(user({ type: "input_image", file_id: "file-1" })),
    path: "input[0].content[0]",
  },
  {
    rule: "image-url",
    fault: "the image of a tool output is a file path",
    faulty: items(CALL, { ...OUTPUT, output: [{ type: "input_image", image_url: "a.png" }] }),
    sound: items(CALL, {
      ...OUTPUT,
      output: [{ type: "input_image", image_url: "https://example.com/a.png" }],
    }),
    path: "input[1].output[0].image_url",
  },
  {
    rule: "image-unsupported",
    fault: "the model reads no images",
    faulty: items(user({ type: "input_image", file_id: "file-1" })),
    sound: items(USER),
    path: "input[0].content[0]",
    options: { acceptsImages: false },
  },
  {
    rule: "file-source",
    fault: "a file has no content",
    faulty: items(user({ type: "input_file", filename: "a.pdf" })),
    sound: items(user({ type: "input_file", file_url: "https://example.com/a.pdf" })),
    path: "input[0].content[0]",
  },
  ...PAIRS.flatMap(([call, output]): readonly RuleCase[] => [
    {
      rule: "call-unanswered",
      fault: `a ${kind(call)} has no output`,
      faulty: items(USER, call),
      sound: items(USER, call, output),
      path: "input[1].call_id",
    },
    {
      rule: "output-orphan",
      fault: `a ${kind(output)} has no call`,
      faulty: items(USER, output),
      sound: items(USER, call, output),
      path: "input[1].call_id",
    },
  ]),
  {
    rule: "call-unanswered",
    fault: "a stored response ends with a call",
    faulty: body({ previous_response_id: "resp_1" }),
    sound: { ...items(OUTPUT), previous_response_id: "resp_1" },
    path: "input",
    options: { earlier: [CALL] },
  },
  {
    rule: "output-orphan",
    fault: "the stored responses do not make the call",
    faulty: { ...items({ ...OUTPUT, call_id: "call_2" }, OUTPUT), previous_response_id: "resp_1" },
    sound: { ...items(OUTPUT), previous_response_id: "resp_1" },
    path: "input[0].call_id",
    options: { earlier: [CALL] },
  },
  {
    rule: "id-prefix",
    fault: "a call has an id of another kind",
    faulty: items({ ...CALL, id: "call_1" }, OUTPUT),
    sound: items({ ...CALL, id: "fc_1" }, OUTPUT),
    path: "input[0].id",
  },
  {
    rule: "id-length",
    fault: "an id is too long",
    faulty: items({ ...ANSWER, id: `msg_${"1".repeat(61)}` }),
    sound: items({ ...ANSWER, id: `msg_${"1".repeat(60)}` }),
    path: "input[0].id",
  },
  {
    rule: "item-id-duplicate",
    fault: "two items have one id",
    faulty: items({ ...ANSWER, id: "msg_1" }, { ...ANSWER, id: "msg_1" }),
    sound: items({ ...ANSWER, id: "msg_1" }, { ...ANSWER, id: "msg_2" }),
    path: "input[1].id",
  },
  {
    rule: "item-id-duplicate",
    fault: "an item is already stored",
    faulty: { ...items({ ...ANSWER, id: "msg_1" }), previous_response_id: "resp_1" },
    sound: { ...items(USER), previous_response_id: "resp_1" },
    path: "input[0].id",
    options: { earlier: [{ ...ANSWER, id: "msg_1" }] },
  },
  {
    rule: "reasoning-unfollowed",
    fault: "reasoning is the last item",
    faulty: items(USER, REASONING),
    sound: items(USER, REASONING, ANSWER),
    path: "input[1]",
  },
  {
    rule: "reasoning-unfollowed",
    fault: "a user message follows reasoning",
    faulty: items(USER, REASONING, USER),
    sound: items(USER, REASONING, CALL, OUTPUT),
    path: "input[1]",
  },
  {
    rule: "trigger-not-last",
    fault: "an item follows the trigger",
    faulty: items({ type: "compaction_trigger" }, USER),
    sound: items(USER, { type: "compaction_trigger" }),
    path: "input[0]",
  },
  {
    rule: "input-missing",
    fault: "there is nothing to answer",
    faulty: { model: "gpt-5" },
    sound: { model: "gpt-5", previous_response_id: "resp_1" },
    path: "input",
  },
];

function kind(item: object): string {
  return (item as { type: string }).type;
}

const ANSWER_FORMAT = { type: "json_schema", name: "answer", schema: { type: "object", properties: {} } };

const SETTINGS: readonly RuleCase[] = [
  {
    rule: "list-length",
    fault: "a reasoning item has content",
    faulty: items({ ...REASONING, content: [{ type: "reasoning_text", text: "Hm" }] }, ANSWER),
    sound: items({ ...REASONING, content: [] }, ANSWER),
    path: "input[0].content",
  },
  {
    rule: "id-characters",
    fault: "an id has a dot",
    faulty: items({ ...ANSWER, id: "msg_1.2" }),
    sound: items({ ...ANSWER, id: "msg_1-2" }),
    path: "input[0].id",
  },
  {
    rule: "id-prefix",
    fault: "the id of a stored response begins with something else",
    faulty: body({ previous_response_id: "msg_1" }),
    sound: body({ previous_response_id: "resp_1" }),
    path: "previous_response_id",
  },
  {
    rule: "schema-type",
    fault: "a property is no schema",
    faulty: body({ tools: [tool({ type: "object", properties: { a: "string" } })] }),
    sound: body({ tools: [tool({ type: "object", properties: { a: true } })] }),
    path: "tools[0].parameters",
  },
  {
    rule: "output-limit",
    fault: "the limit is above that of the model",
    faulty: body({ max_output_tokens: 101 }),
    sound: body({ max_output_tokens: 100 }),
    path: "max_output_tokens",
    options: { maxOutputTokens: 100 },
  },
  {
    rule: "tool-unsupported",
    fault: "a web search has the effort minimal",
    faulty: body({ tools: [{ type: "web_search" }], reasoning: { effort: "minimal" } }),
    sound: body({ tools: [{ type: "web_search" }], reasoning: { effort: "low" } }),
    path: "tools[0]",
  },
  {
    rule: "search-without-tools",
    fault: "no tool is deferred",
    faulty: body({ tools: [{ type: "tool_search" }, tool(EMPTY)] }),
    sound: body({ tools: [{ type: "tool_search" }, tool(EMPTY, { defer_loading: true })] }),
    path: "tools[0]",
  },
  {
    rule: "search-without-tools",
    fault: "no tool of a namespace is deferred",
    faulty: body({ tools: [{ type: "tool_search" }, namespace(tool(EMPTY))] }),
    sound: body({ tools: [{ type: "tool_search" }, namespace(tool(EMPTY, { defer_loading: true }))] }),
    path: "tools[0]",
  },
  {
    rule: "choice-unknown-tool",
    fault: "a namespace has no tool of the chosen name",
    faulty: body({ tools: [namespace(tool(EMPTY))], tool_choice: { type: "function", name: "write" } }),
    sound: body({ tools: [namespace(tool(EMPTY))], tool_choice: { type: "function", name: "read" } }),
    path: "tool_choice",
  },
  {
    rule: "choice-unknown-tool",
    fault: "a hosted tool is chosen and not offered",
    faulty: body({ tools: [tool(EMPTY)], tool_choice: { type: "file_search" } }),
    sound: body({ tools: [{ type: "web_search_preview" }], tool_choice: { type: "web_search_preview" } }),
    path: "tool_choice",
  },
  {
    rule: "verbosity-unsupported",
    fault: "a plain model should be brief",
    faulty: body({ text: { verbosity: "low" } }),
    sound: body({ text: { verbosity: "medium" } }),
    path: "text.verbosity",
    options: { reasoningModel: false },
  },
  {
    rule: "retention-unsupported",
    fault: "a new model should keep its cache in memory",
    faulty: { ...body({ prompt_cache_retention: "in_memory" }), model: "gpt-5.6-sol" },
    sound: { ...body({ prompt_cache_retention: "24h" }), model: "gpt-5.6-sol" },
    path: "prompt_cache_retention",
  },
  {
    rule: "reasoning-unsupported",
    fault: "a plain model gets reasoning items",
    faulty: items(REASONING, ANSWER),
    sound: items(ANSWER),
    path: "input",
    options: { reasoningModel: false },
  },
  {
    rule: "reasoning-unfollowed",
    fault: "reasoning without an id is last",
    faulty: items(USER, REASONING, { type: "reasoning", summary: [] }),
    sound: items(USER, { type: "reasoning", summary: [] }),
    path: "input[1]",
  },
  {
    rule: "schema-root",
    fault: "the parameters have no type",
    faulty: body({ tools: [tool({})] }),
    sound: body({ tools: [tool(null)] }),
    path: "tools[0].parameters",
  },
  {
    rule: "schema-items",
    fault: "an array has no items in a namespace",
    faulty: body({
      tools: [
        {
          type: "namespace",
          name: "fs",
          description: "Files",
          tools: [tool({ type: "object", properties: { a: { type: "array" } } })],
        },
      ],
    }),
    sound: body({ tools: [{ type: "namespace", name: "fs", description: "Files", tools: [tool(EMPTY)] }] }),
    path: "tools[0].tools[0].parameters",
  },
  {
    rule: "schema-strict",
    fault: "a strict object is open",
    faulty: body({ tools: [tool({ type: "object", properties: {} }, { strict: true })] }),
    sound: body({ tools: [tool(EMPTY, { strict: true })] }),
    path: "tools[0].parameters",
  },
  {
    rule: "schema-strict",
    fault: "a strict format has a choice at its root",
    faulty: body({
      text: { format: { type: "json_schema", name: "a", strict: true, schema: { ...EMPTY, anyOf: [] } } },
    }),
    sound: body({ text: { format: { type: "json_schema", name: "a", strict: true, schema: EMPTY } } }),
    path: "text.format.schema",
  },
  {
    rule: "choice-without-tools",
    fault: "a tool is required and there is none",
    faulty: body({ tool_choice: "required" }),
    sound: body({ tool_choice: "auto", tools: [] }),
    path: "tool_choice",
  },
  {
    rule: "choice-unknown-tool",
    fault: "the choice names no tool of the request",
    faulty: body({ tools: [tool(EMPTY)], tool_choice: { type: "custom", name: "read" } }),
    sound: body({ tools: [tool(EMPTY)], tool_choice: { type: "function", name: "read" } }),
    path: "tool_choice",
  },
  {
    rule: "mcp-server",
    fault: "an MCP tool names no server",
    faulty: body({ tools: [{ type: "mcp", server_label: "a" }] }),
    sound: body({ tools: [{ type: "mcp", server_label: "a", server_url: "https://example.com" }] }),
    path: "tools[0]",
  },
  {
    rule: "json-word-missing",
    fault: "the input does not ask for JSON",
    faulty: body({ text: { format: { type: "json_object" } } }),
    sound: body({ input: "In JSON, please", text: { format: { type: "json_object" } } }),
    path: "input",
  },
  {
    rule: "reasoning-parameter",
    fault: "a reasoning model gets a temperature",
    faulty: body({ temperature: 0.2 }),
    sound: body({ temperature: 0.2, reasoning: { effort: "none" } }),
    path: "temperature",
    options: { reasoningModel: true },
  },
  {
    rule: "reasoning-unsupported",
    fault: "the model does not reason",
    faulty: body({ reasoning: { effort: "low" } }),
    sound: body({ reasoning: { effort: null } }),
    path: "reasoning.effort",
    options: { reasoningModel: false },
  },
  {
    rule: "stream-options-without-stream",
    fault: "the response is not streamed",
    faulty: body({ stream_options: { include_obfuscation: false } }),
    sound: body({ stream: true, stream_options: { include_obfuscation: false } }),
    path: "stream_options",
  },
  {
    rule: "search-in-json-mode",
    fault: "a search of the web is combined with JSON mode",
    faulty: body({
      input: "JSON",
      tools: [{ type: "web_search" }],
      text: { format: { type: "json_object" } },
    }),
    sound: body({
      input: "JSON",
      tools: [{ type: "local_shell" }],
      text: { format: { type: "json_object" } },
    }),
    path: "text.format",
  },
  {
    rule: "format-unsupported",
    fault: "the model has only JSON mode",
    faulty: body({ model: "gpt-4o-2024-05-13", text: { format: ANSWER_FORMAT } }),
    sound: body({ model: "gpt-4o", text: { format: ANSWER_FORMAT } }),
    path: "text.format",
  },
  {
    rule: "two-conversations",
    fault: "two conversations are named",
    faulty: body({ previous_response_id: "resp_1", conversation: "conv_1" }),
    sound: body({ conversation: { id: "conv_1" } }),
    path: "previous_response_id",
  },
  {
    rule: "background-unstored",
    fault: "a response in the background is not stored",
    faulty: body({ background: true, store: false }),
    sound: body({ background: true }),
    path: "background",
  },
];

export const RESPONSES_CASES: readonly RuleCase[] = [...SHAPES, ...CONTENTS, ...SETTINGS];

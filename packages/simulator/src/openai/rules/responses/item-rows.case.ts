import { BLIND, call, output, PNG, type RuleRow, said, thought, tool, user } from "./rule-bench.case.ts";

const UNKNOWN = "unknown_parameter";
const TYPE = "invalid_type";
const VALUE = "invalid_value";
const MISSING = "missing_required_parameter";

const after = (...items: readonly unknown[]): object => ({ input: [user(), ...items] });
const image = (url: string): object => ({ input: [user([{ type: "input_image", image_url: url }])] });
const file = (data: string): object => ({
  input: [user([{ type: "input_file", filename: "a.pdf", file_data: data }])],
});
const ROLES = "'assistant', 'system', 'developer', and 'user'";

/** Rules for the type and the fields of single items. */
export const ITEM_ROWS: readonly RuleRow[] = [
  {
    rule: "an item that is no object",
    wrong: { input: [7] },
    sound: { input: [user()] },
    expected: [
      "Invalid type for 'input[0]': expected an input item, but got an integer instead.",
      "input[0]",
      TYPE,
    ],
  },
  {
    rule: "an input that is neither a text nor a list",
    wrong: { input: { a: 1 } },
    sound: { input: "a" },
    expected: [
      "Invalid type for 'input': expected one of a string or array of input items, but got an object instead.",
      "input",
      TYPE,
    ],
  },
  {
    rule: "an item without type and role",
    wrong: { input: [{}] },
    sound: { input: [{ role: "developer", content: "rule" }, user()] },
    expected: [`Invalid value: ''. Supported values are: ${ROLES}.`, "input[0]", VALUE],
  },
  {
    rule: "an unknown role",
    wrong: { input: [{ role: "tool", content: "a" }] },
    sound: { input: [{ role: "system", content: "a" }] },
    expected: [`Invalid value: 'tool'. Supported values are: ${ROLES}.`, "input[0]", VALUE],
  },
  {
    rule: "a message without content",
    wrong: { input: [{ role: "user" }] },
    sound: { input: [{ role: "user", content: "", type: "message", id: "msg_x", status: "completed" }] },
    expected: ["Missing required parameter: 'input[0].content'.", "input[0].content", MISSING],
  },
  {
    rule: "content of null",
    wrong: { input: [user(null)] },
    sound: { input: [user([])] },
    expected: [
      "Invalid type for 'input[0].content': expected one of an array of objects or string, but got null instead.",
      "input[0].content",
      TYPE,
    ],
  },
  {
    rule: "a phase on a message of the user",
    wrong: { input: [{ ...user(), phase: "final_answer" }] },
    sound: { input: [said("hm", { phase: "final_answer" }), user()] },
    expected: ["Unknown parameter: 'input[0].phase'.", "input[0].phase", UNKNOWN],
  },
  {
    rule: "an unknown phase",
    wrong: { input: [said("hm", { phase: "bogus" })] },
    sound: { input: [said("hm", { phase: null })] },
    expected: [
      "Invalid value: 'bogus'. Supported values are: 'commentary' and 'final_answer'.",
      "input[0].phase",
      VALUE,
    ],
  },
  {
    rule: "a part that does not exist",
    wrong: { input: [user([{ type: "text", text: "a" }])] },
    sound: { input: [user([{ type: "input_text", text: "a" }])] },
    expected: [
      "Invalid value: 'text'. Supported values are: 'input_text', 'input_image', 'input_audio', 'output_text', 'refusal', 'input_file', 'computer_screenshot', 'summary_text', and 'encrypted_content'.",
      "input[0].content[0].type",
      VALUE,
    ],
  },
  {
    rule: "a part of the user in a message of the model",
    wrong: { input: [{ role: "assistant", content: [{ type: "input_text", text: "a" }] }] },
    sound: { input: [{ role: "assistant", content: [{ type: "output_text", text: "a" }] }] },
    expected: [
      "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
      "input[0].content[0]",
      VALUE,
    ],
  },
  {
    rule: "a part of the model in a message of the user",
    wrong: { input: [user([{ type: "output_text", text: "a" }])] },
    sound: { input: [{ role: "assistant", content: [{ type: "refusal", refusal: "no" }] }] },
    expected: [
      "Invalid value: 'output_text'. Supported values are: 'input_text', 'input_image', 'input_file', 'scoped_content', and 'input_audio'.",
      "input[0].content[0]",
      VALUE,
    ],
  },
  {
    rule: "a part of the model in the output of a tool",
    wrong: after(call("call_1"), output("call_1", { output: [{ type: "output_text", text: "a" }] })),
    sound: after(call("call_1"), output("call_1", { output: [{ type: "input_text", text: "a" }] })),
    expected: [
      "Invalid value: 'output_text'. Supported values are: 'input_text', 'input_image', and 'input_file'.",
      "input[2].output[0]",
      VALUE,
    ],
  },
  {
    rule: "an output of a tool without its field",
    wrong: after(call("call_1"), { type: "function_call_output", call_id: "call_1" }),
    sound: after(call("call_1"), output("call_1", { output: "" })),
    expected: ["Missing required parameter: 'input[2].output'.", "input[2].output", MISSING],
  },
  {
    rule: "parsed arguments of a call",
    wrong: after(call("call_1", { parsed_arguments: {} }), output("call_1")),
    sound: after(call("call_1", { status: "completed", id: "fc_9" }), output("call_1", { status: null })),
    expected: ["Unknown parameter: 'input[1].parsed_arguments'.", "input[1].parsed_arguments", UNKNOWN],
  },
  {
    rule: "arguments of a call that are no text",
    wrong: after(call("call_1", { arguments: {} }), output("call_1")),
    sound: after(call("call_1", { arguments: "not json" }), output("call_1")),
    expected: [
      "Invalid type for 'input[1].arguments': expected a string, but got an object instead.",
      "input[1].arguments",
      TYPE,
    ],
  },
  {
    rule: "arguments of a search for tools that are a text",
    wrong: after({ type: "tool_search_call", arguments: "{}" }),
    sound: after({ type: "tool_search_call", arguments: {} }),
    expected: [
      "Invalid type for 'input[1].arguments': expected an object, but got a string instead.",
      "input[1].arguments",
      TYPE,
    ],
  },
  {
    rule: "a reasoning item without a summary",
    wrong: after({ type: "reasoning", encrypted_content: "known" }, said()),
    sound: after(thought({ encrypted_content: "known", content: null }), said()),
    expected: ["Missing required parameter: 'input[1].summary'.", "input[1].summary", MISSING],
  },
  {
    rule: "a reasoning item with plain text",
    wrong: after(thought({ content: [{ type: "reasoning_text", text: "hm" }] }), said()),
    sound: after(thought({ content: [] }), said()),
    expected: [
      "Invalid 'input[1].content': array too long. Expected an array with maximum length 0, but got an array with length 1 instead.",
      "input[1].content",
      "array_above_max_length",
    ],
  },
  {
    rule: "a run of code without its container",
    wrong: after({
      type: "code_interpreter_call",
      id: "ci_1",
      code: "1",
      outputs: null,
      status: "completed",
    }),
    sound: after({
      type: "code_interpreter_call",
      id: "ci_1",
      code: "1",
      outputs: null,
      status: "completed",
      container_id: "cntr_1",
    }),
    expected: ["Missing required parameter: 'input[1].container_id'.", "input[1].container_id", MISSING],
  },
  {
    rule: "a compaction item without content",
    wrong: after({ type: "compaction", id: "cmp_1" }),
    sound: after({ type: "compaction", id: "cmp_1", encrypted_content: "known" }),
    expected: [
      "Missing required parameter: 'input[1].encrypted_content'.",
      "input[1].encrypted_content",
      MISSING,
    ],
  },
];

/** Rules for ids and names in items. */
export const ID_ROWS: readonly RuleRow[] = [
  {
    rule: "an id with the prefix of another type",
    wrong: after(call("call_1", { id: "call_1" }), output("call_1")),
    sound: after(call("call_1", { id: "fc_anything" }), output("call_1", { id: "fco_1" })),
    expected: [
      "Invalid 'input[1].id': 'call_1'. Expected an ID that begins with 'fc'.",
      "input[1].id",
      VALUE,
    ],
  },
  {
    rule: "an id with other characters",
    wrong: after(thought({ id: "rs_a:4", encrypted_content: "known" }), said()),
    sound: after(thought({ id: "rs_a-4", encrypted_content: "known" }), said()),
    expected: [
      "Invalid 'input[1].id': 'rs_a:4'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.",
      "input[1].id",
      VALUE,
    ],
  },
  {
    rule: "an id that ends with an underscore",
    wrong: after(call("call_1", { id: "fc_a_" }), output("call_1")),
    sound: after(call("call_1_", { id: "fc__a-" }), output("call_1_")),
    expected: [
      "Invalid 'input[1].id': 'fc_a_'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.",
      "input[1].id",
      VALUE,
    ],
  },
  {
    rule: "a long id of a call",
    wrong: after(call("c".repeat(65))),
    sound: after(call("c".repeat(64)), output("c".repeat(64))),
    expected: [
      "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
      "input[1].call_id",
      "string_above_max_length",
    ],
  },
  {
    rule: "an empty id of a call",
    wrong: after(call("")),
    sound: after(call("c"), output("c")),
    expected: [
      "Invalid 'input[1].call_id': empty string. Expected a string with minimum length 1, but got an empty string instead.",
      "input[1].call_id",
      "empty_string",
    ],
  },
  {
    rule: "an empty name of a called tool",
    wrong: after(call("call_1", { name: "" }), output("call_1")),
    sound: after(call("call_1", { name: "not_offered" }), output("call_1")),
    expected: [
      "Invalid 'input[1].name': empty string. Expected a string with minimum length 1, but got an empty string instead.",
      "input[1].name",
      "empty_string",
    ],
  },
];

const DATA_URL =
  "Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got";

/** Rules for images and files. */
export const MEDIA_ROWS: readonly RuleRow[] = [
  {
    rule: "an image without an address",
    wrong: { input: [user([{ type: "input_image", detail: "auto" }])] },
    sound: { input: [user([{ type: "input_image", detail: "auto", file_id: "file-1" }])] },
    expected: [
      "Missing mutually exclusive parameters: 'input[0].content[0]'. Ensure you are providing exactly one of: 'file_id' or 'image_url'.",
      "input[0].content[0]",
      "missing_mutually_exclusive_parameters",
    ],
  },
  {
    rule: "an image with two addresses",
    wrong: { input: [user([{ type: "input_image", file_id: "file-1", image_url: PNG }])] },
    sound: { input: [user([{ type: "input_image", file_id: null, image_url: PNG }])] },
    expected: [
      "Mutually exclusive parameters: 'input[0].content[0]'. Ensure you are only providing one of: 'file_id' or 'image_url'.",
      "input[0].content[0]",
      "mutually_exclusive_parameters",
    ],
  },
  {
    rule: "an image by path",
    wrong: image("/tmp/a.png"),
    sound: image("https://example.com/a.png"),
    expected: [
      "Invalid 'input[0].content[0].image_url'. Expected a valid URL, but got a value with an invalid format.",
      "input[0].content[0].image_url",
      VALUE,
    ],
  },
  {
    rule: "an image of another media type",
    wrong: image("data:text/markdown;base64,YQ=="),
    sound: image(PNG),
    expected: [
      `Invalid 'input[0].content[0].image_url'. ${DATA_URL} unsupported MIME type 'text/markdown'.`,
      "input[0].content[0].image_url",
      VALUE,
    ],
  },
  {
    rule: "an empty image",
    wrong: image("data:image/png;base64,"),
    sound: image(PNG),
    expected: [
      `Invalid 'input[0].content[0].image_url'. ${DATA_URL} empty base64-encoded bytes.`,
      "input[0].content[0].image_url",
      VALUE,
    ],
  },
  {
    rule: "an image that is not base64",
    wrong: image("data:image/png;base64,a b"),
    sound: image(PNG),
    expected: [
      `Invalid 'input[0].content[0].image_url'. ${DATA_URL} an invalid base64-encoded value.`,
      "input[0].content[0].image_url",
      VALUE,
    ],
  },
  {
    rule: "an image that nothing can decode, inside the output of a tool",
    wrong: after(
      call("call_1"),
      output("call_1", { output: [{ type: "input_image", image_url: "data:image/png;base64,PHN2Zz4=" }] }),
    ),
    sound: after(call("call_1"), output("call_1", { output: [{ type: "input_image", image_url: PNG }] })),
    expected: [
      "The image data you provided does not represent a valid image. Please check your input and try again with one of the supported image formats: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'].",
      "input",
      VALUE,
    ],
  },
  {
    rule: "an image for a model without images",
    wrong: image("https://example.com/a.png"),
    sound: {},
    call: { model: BLIND },
    expected: [
      "Invalid 'input[0].content[0]'. Image input is not supported with this model.",
      "input[0].content[0]",
      VALUE,
    ],
  },
  {
    rule: "a file without a media type",
    wrong: file("JVBERi0="),
    sound: file("data:text/csv;base64,YSxi"),
    expected: [
      "Invalid 'input[0].content[0].file_data'. Expected a base64-encoded data URL with a file MIME type (e.g. 'data:application/pdf;base64,aW1nIGJ5dGVzIGhlcmU='), but got a value without the ',' separator.",
      "input[0].content[0].file_data",
      VALUE,
    ],
  },
];

const search = (...tools: readonly object[]): object => ({ type: "tool_search_output", tools });

/** Rules for items that belong together. */
export const ORDER_ROWS: readonly RuleRow[] = [
  {
    rule: "an output without its call",
    wrong: after(output("call_1")),
    sound: { input: [output("call_1")] },
    soundCall: { earlier: [user(), call("call_1")] },
    expected: ["No tool call found for function call output with call_id call_1.", "input", null],
  },
  {
    rule: "an output before its call",
    wrong: after(output("call_1"), call("call_1")),
    sound: after(call("call_1"), call("call_2"), output("call_2"), output("call_1")),
    expected: ["No tool call found for function call output with call_id call_1.", "input", null],
  },
  {
    rule: "an output of another kind of tool",
    wrong: after(call("call_1"), { type: "custom_tool_call_output", call_id: "call_1", output: "a" }),
    sound: after(
      { type: "custom_tool_call", call_id: "call_1", name: "a", input: "" },
      { type: "custom_tool_call_output", call_id: "call_1", output: "a" },
    ),
    expected: ["No tool call found for custom tool call output with call_id call_1.", "input", null],
  },
  {
    rule: "an output of a search for tools without its call",
    wrong: after({ ...search(), call_id: "call_1" }),
    sound: after(search()),
    expected: ["No tool call found for tool search output with call_id call_1.", "input", null],
  },
  {
    rule: "a call without an output",
    wrong: { input: [user("and now")], previous_response_id: "resp_1" },
    sound: { input: [output("call_1")], previous_response_id: "resp_1" },
    call: { earlier: [user(), call("call_1")] },
    expected: ["No tool output found for function call call_1.", "input", null],
  },
  {
    rule: "a call of a shell without an output",
    wrong: after({ type: "shell_call", call_id: "call_1", action: { commands: ["ls"] } }),
    sound: after(
      { type: "shell_call", call_id: "call_1", action: { commands: ["ls"] } },
      { type: "shell_call_output", call_id: "call_1", output: [] },
    ),
    expected: ["No tool output found for shell call call_1.", "input", null],
  },
  {
    rule: "a patch without an output",
    wrong: after({
      type: "apply_patch_call",
      call_id: "call_1",
      status: "completed",
      operation: { type: "delete_file", path: "a" },
    }),
    sound: after(call("call_1", { async: true })),
    expected: ["No tool output found for apply patch call call_1.", "input", null],
  },
  {
    rule: "two items with the same id",
    wrong: { input: [said("a", { id: "msg_1" }), said("a", { id: "msg_1" }), user()] },
    sound: { input: [said("a", { id: "msg_1" }), said("a", { id: "msg_2" }), user()] },
    expected: [
      "Duplicate item found with id msg_1. Remove duplicate items from your input and try again.",
      "input",
      null,
    ],
  },
  {
    rule: "an item that the continued response contains already",
    wrong: { input: [said("a", { id: "msg_1" }), user()], previous_response_id: "resp_1" },
    sound: { input: [user()], previous_response_id: "resp_1" },
    call: { earlier: [user(), said("a", { id: "msg_1" })] },
    expected: [
      "Duplicate item found with id msg_1. Remove duplicate items from your input and try again.",
      "input",
      null,
    ],
  },
  {
    rule: "reasoning that a message of the user follows",
    wrong: after(thought({ id: "rs_1" }), user()),
    sound: after(thought({ encrypted_content: "known" }), user()),
    expected: [
      "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
      "input",
      null,
    ],
  },
  {
    rule: "reasoning that nothing follows",
    wrong: after(thought({ id: "rs_1" })),
    sound: after(thought({ id: "rs_1" }), thought({ id: "rs_9", encrypted_content: "known" }), said()),
    expected: [
      "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
      "input",
      null,
    ],
  },
  {
    rule: "a call without the reasoning before it",
    wrong: after(call("call_1", { id: "fc_1" }), output("call_1")),
    sound: after(thought({ id: "rs_1" }), call("call_1", { id: "fc_1" }), output("call_1")),
    expected: [
      "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
      "input",
      null,
    ],
  },
  {
    rule: "a stored reasoning item that does not exist",
    wrong: after(thought({ id: "rs_9" }), said()),
    sound: after(thought(), said()),
    expected: ["Item with id 'rs_9' not found.", "input", null, 404],
  },
  {
    rule: "a reference to an unknown item without storage",
    wrong: { input: [{ type: "item_reference", id: "msg_9" }, user()], store: false },
    sound: { input: [{ id: "msg_1" }, user()], store: false },
    expected: [
      "Item with id 'msg_9' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
      "input",
      null,
      404,
    ],
  },
  {
    rule: "reasoning of another provider",
    wrong: after(thought({ id: "rs_9", encrypted_content: "foreign" }), said()),
    sound: after(thought({ id: "rs_9", encrypted_content: "foreign" }), said()),
    soundCall: { switches: { foreignReasoning: "accepted" } },
    expected: [
      "The encrypted content for item rs_9 could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
      null,
      "invalid_encrypted_content",
    ],
  },
  {
    rule: "a compaction of another provider",
    wrong: after({ type: "compaction", encrypted_content: "garbage" }),
    sound: after({ type: "compaction", encrypted_content: "known" }),
    expected: [
      "The encrypted content garb...bage could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
      null,
      "invalid_encrypted_content",
    ],
  },
  {
    rule: "a request for compaction that is not the last item",
    wrong: { input: [user(), { type: "compaction_trigger" }, user()] },
    sound: { input: [user(), { type: "compaction_trigger" }] },
    expected: [
      "Invalid 'input[1]'. A 'compaction_trigger' item must be the final input item.",
      "input[1]",
      VALUE,
    ],
  },
  {
    rule: "a call of a loaded tool without its namespace",
    wrong: after(
      search({ type: "namespace", name: "crm", description: "", tools: [tool("read")] }),
      call("call_1"),
      output("call_1"),
    ),
    sound: {
      ...after(
        search({ type: "namespace", name: "crm", description: "", tools: [tool("read")] }),
        call("call_1", { namespace: "crm" }),
        output("call_1"),
        call("call_2"),
        output("call_2"),
      ),
      tools: [tool("read")],
    },
    expected: [
      "Missing namespace for function_call 'read'. It does not exist in the default namespace. Round-trip the model's function_call item with its namespace field included.",
      "input",
      null,
    ],
  },
];

import { call, output, type RuleRow, said, thought, user } from "./rule-bench.case.ts";

const UNKNOWN = "unknown_parameter";
const TYPE = "invalid_type";
const VALUE = "invalid_value";
const MISSING = "missing_required_parameter";

const after = (...items: readonly unknown[]): object => ({ input: [user(), ...items] });
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
    rule: "a long output",
    wrong: after(call("c"), output("c", { output: "a".repeat(10_485_761) })),
    sound: after(call("c"), output("c", { output: "a".repeat(10_485_760) })),
    expected: [
      "Invalid 'input[2].output': string too long. Expected a string with maximum length 10485760, but got a string with length 10485761 instead.",
      "input[2].output",
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

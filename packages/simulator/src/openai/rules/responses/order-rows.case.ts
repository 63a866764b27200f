import { BLIND, call, output, PNG, type RuleRow, said, thought, tool, user } from "./rule-bench.case.ts";

const VALUE = "invalid_value";

const after = (...items: readonly unknown[]): object => ({ input: [user(), ...items] });
const image = (url: string): object => ({ input: [user([{ type: "input_image", image_url: url }])] });
const file = (data: string): object => ({
  input: [user([{ type: "input_file", filename: "a.pdf", file_data: data }])],
});

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
    rule: "a reference to a call without an output",
    wrong: after({ type: "item_reference", id: "rs_1" }, { type: "item_reference", id: "fc_1" }),
    sound: after({ type: "item_reference", id: "rs_1" }, { id: "fc_1" }, output("call_1")),
    expected: ["No tool output found for function call call_1.", "input", null],
  },
  {
    rule: "a reference to a call without the reasoning before it",
    wrong: after({ type: "item_reference", id: "fc_1" }, output("call_1")),
    sound: after(thought({ id: "rs_1" }), { type: "item_reference", id: "fc_1" }, output("call_1")),
    expected: [
      "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
      "input",
      null,
    ],
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
    rule: "reasoning under the id of another item",
    wrong: after(thought({ id: "rs_9", encrypted_content: "of rs_1" }), said()),
    sound: after(thought({ id: "rs_1", encrypted_content: "of rs_1" }), said()),
    expected: [
      "The encrypted content for item rs_9 could not be verified. Reason: Encrypted content item_id did not match the target item id.",
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

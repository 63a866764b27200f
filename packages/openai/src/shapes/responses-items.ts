import type { Report } from "../report.ts";
import { at, isRecord, own, quote } from "../values.ts";
import { cacheMark, effort, longText, nameUpTo } from "./common.ts";
import { environments, MAX_TOOL_NAME_LENGTH, responsesTool } from "./responses-tools.ts";
import {
  anyObject,
  anything,
  bool,
  byType,
  type Fields,
  listOf,
  mapOf,
  missingField,
  nullable,
  number,
  object,
  oneOf,
  type Shape,
  tagged,
  text,
  textOfLength,
  unknownValue,
  wrongType,
} from "./shape.ts";

/**
 * Shapes of the input items of the Responses API, after the type `ResponseInputItem` of the official SDK.
 * Ids are optional everywhere, because clients that store nothing omit them, and the API accepts that.
 */

const MAX_CALL_ID_LENGTH = 64;

const name = nameUpTo(MAX_TOOL_NAME_LENGTH);
const callId = textOfLength({ min: 1, max: MAX_CALL_ID_LENGTH });
const status = nullable(oneOf("in_progress", "completed", "incomplete"));

/**
 * Fields that every item accepts. The API writes `created_by` and `agent`, and clients send its items back. The
 * last field is undocumented, but codex sends it to the API.
 */
const ITEM: Fields = {
  type: text,
  id: nullable(text),
  created_by: nullable(text),
  agent: nullable(anyObject),
  internal_chat_message_metadata_passthrough: nullable(anyObject),
};

const MARKED: Fields = { prompt_cache_breakpoint: nullable(cacheMark) };

function item(required: Fields, optional: Fields = {}): Shape {
  return object(required, { ...ITEM, ...optional });
}

const caller = nullable(
  tagged({ direct: object({ type: text }), program: object({ type: text, caller_id: text }) }),
);

const fileDetail = nullable(oneOf("auto", "low", "high"));

const PARTS: Fields = {
  input_text: object({ type: text, text: longText }, MARKED),
  // The SDK requires `detail` in messages, but the API reference gives it a default.
  input_image: object(
    { type: text },
    {
      detail: nullable(oneOf("low", "high", "auto", "original")),
      file_id: nullable(text),
      image_url: nullable(text),
      ...MARKED,
    },
  ),
  input_file: object(
    { type: text },
    {
      detail: fileDetail,
      file_data: nullable(text),
      file_id: nullable(text),
      file_url: nullable(text),
      filename: nullable(text),
      ...MARKED,
    },
  ),
  input_audio: object({ type: text, input_audio: anyObject }),
  // Not documented, so its fields are not checked.
  scoped_content: anything,
  output_text: object(
    { type: text, text: longText },
    { annotations: nullable(listOf(anyObject)), logprobs: nullable(listOf(anyObject)) },
  ),
  refusal: object({ type: text, refusal: text }),
};

const OUTPUT_OF_TOOLS = ["input_text", "input_image", "input_file"];
const INPUT_PARTS = [...OUTPUT_OF_TOOLS, "input_audio", "scoped_content"];
const OUTPUT_PARTS = ["output_text", "refusal"];

const inputPart = tagged(Object.fromEntries(OUTPUT_OF_TOOLS.map((type) => [type, PARTS[type] ?? anything])));

function messagePart(role: string): Shape {
  const types = role === "assistant" ? OUTPUT_PARTS : INPUT_PARTS;
  return (value, path, report) => {
    if (!isRecord(value)) {
      wrongType(path, "an object", value, report);
      return;
    }
    const type = own(value, "type");
    if (type === undefined) missingField(at(path, "type"), report);
    else if (typeof type !== "string") wrongType(at(path, "type"), "a string", type, report);
    else if (types.includes(type)) PARTS[type]?.(value, path, report);
    else if (Object.hasOwn(PARTS, type))
      report.add(
        "part-in-wrong-role",
        at(path, "type"),
        `A message with role ${quote(role)} has a part of type ${quote(type)}. Use ${types.map(quote).join(" or ")}.`,
      );
    else unknownValue(at(path, "type"), type, types, report);
  };
}

/** The SDK: the phase is not used for messages of the user. */
const phase = nullable(oneOf("commentary", "final_answer"));

const message = tagged(
  Object.fromEntries(
    ["user", "assistant", "system", "developer"].map((role) => [
      role,
      item(
        { role: text, content: byType({ string: longText, array: listOf(messagePart(role)) }) },
        { type: nullable(text), status, ...(role === "assistant" ? { phase } : {}) },
      ),
    ]),
  ),
  "role",
);

const keys = nullable(listOf(text));
const point: Fields = { x: number(), y: number() };

const action = tagged({
  click: object(
    { type: text, button: oneOf("left", "right", "wheel", "back", "forward"), ...point },
    { keys },
  ),
  double_click: object({ type: text, ...point }, { keys }),
  drag: object({ type: text, path: listOf(object(point)) }, { keys }),
  keypress: object({ type: text, keys: listOf(text) }),
  move: object({ type: text, ...point }, { keys }),
  screenshot: object({ type: text }),
  scroll: object({ type: text, scroll_x: number(), scroll_y: number(), ...point }, { keys }),
  type: object({ type: text, text }),
  wait: object({ type: text }),
});

const safetyCheck = object({ id: text }, { code: nullable(text), message: nullable(text) });

/** Calls that the client answers, and their outputs. */
const CALLS: Fields = {
  function_call: item(
    { call_id: callId, name, arguments: text },
    { status, caller, namespace: nullable(text), async: nullable(bool) },
  ),
  function_call_output: item(
    { output: byType({ string: longText, array: listOf(inputPart) }) },
    // Outputs of asynchronous tools name the tool in place of the call.
    { call_id: nullable(callId), name: nullable(text), namespace: nullable(text), status, caller },
  ),
  custom_tool_call: item(
    { call_id: callId, name, input: text },
    { status, caller, namespace: nullable(text), async: nullable(bool) },
  ),
  custom_tool_call_output: item(
    { call_id: callId, output: byType({ string: longText, array: listOf(inputPart) }) },
    { status, caller },
  ),
  shell_call: item(
    {
      call_id: callId,
      action: object(
        { commands: listOf(text) },
        { max_output_length: nullable(number()), timeout_ms: nullable(number()) },
      ),
    },
    { status, caller, environment: nullable(tagged(environments)) },
  ),
  shell_call_output: item(
    {
      call_id: callId,
      output: listOf(
        object(
          {
            stdout: longText,
            stderr: longText,
            outcome: tagged({
              timeout: object({ type: text }),
              exit: object({ type: text, exit_code: number({ whole: true }) }),
            }),
          },
          { created_by: nullable(text) },
        ),
      ),
    },
    { status, caller, max_output_length: nullable(number()) },
  ),
  apply_patch_call: item(
    {
      call_id: callId,
      status: oneOf("in_progress", "completed"),
      operation: tagged({
        create_file: object({ type: text, path: text, diff: longText }),
        delete_file: object({ type: text, path: text }),
        update_file: object({ type: text, path: text, diff: longText }),
      }),
    },
    { caller },
  ),
  apply_patch_call_output: item(
    { call_id: callId, status: oneOf("completed", "failed") },
    { caller, output: nullable(longText) },
  ),
  computer_call: item(
    { call_id: callId },
    {
      pending_safety_checks: nullable(listOf(safetyCheck)),
      status,
      action: nullable(action),
      actions: nullable(listOf(action)),
    },
  ),
  computer_call_output: item(
    {
      call_id: callId,
      output: object(
        { type: oneOf("computer_screenshot") },
        { file_id: nullable(text), image_url: nullable(text), detail: nullable(text) },
      ),
    },
    {
      status,
      acknowledged_safety_checks: nullable(listOf(safetyCheck)),
    },
  ),
  local_shell_call: item(
    {
      call_id: callId,
      action: object(
        { type: oneOf("exec"), command: listOf(text) },
        {
          env: nullable(mapOf(text)),
          timeout_ms: nullable(number()),
          user: nullable(text),
          working_directory: nullable(text),
        },
      ),
    },
    { status },
  ),
  local_shell_call_output: item({ output: text }, { status, call_id: nullable(text) }),
};

/** Calls of tools that OpenAI runs. Their results are in the same item. */
const HOSTED_CALLS: Fields = {
  web_search_call: item(
    {},
    {
      status: nullable(oneOf("in_progress", "searching", "completed", "failed", "incomplete")),
      results: nullable(listOf(anyObject)),
      action: nullable(
        tagged({
          search: object(
            { type: text },
            { query: nullable(text), queries: nullable(listOf(text)), sources: nullable(listOf(anyObject)) },
          ),
          open_page: object({ type: text }, { url: nullable(text) }),
          find_in_page: object({ type: text }, { pattern: nullable(text), url: nullable(text) }),
        }),
      ),
    },
  ),
  file_search_call: item(
    {
      queries: listOf(text),
      status: oneOf("in_progress", "searching", "completed", "incomplete", "failed"),
    },
    {
      results: nullable(listOf(anyObject)),
    },
  ),
  code_interpreter_call: item(
    { container_id: text },
    {
      code: nullable(text),
      status: nullable(oneOf("in_progress", "completed", "incomplete", "interpreting", "failed")),
      outputs: nullable(
        listOf(
          tagged({ logs: object({ type: text, logs: text }), image: object({ type: text, url: text }) }),
        ),
      ),
    },
  ),
  // The API adds the settings of the image to its own item.
  image_generation_call: item(
    {},
    {
      result: nullable(text),
      status: nullable(oneOf("in_progress", "completed", "incomplete", "generating", "failed")),
      error: anything,
      svg_usage: anything,
      action: anything,
      background: anything,
      output_format: anything,
      quality: anything,
      revised_prompt: anything,
      size: anything,
    },
  ),
  mcp_list_tools: item(
    {
      server_label: text,
      tools: listOf(
        object(
          { name: text, input_schema: anything },
          { annotations: anything, description: nullable(text) },
        ),
      ),
    },
    { error: anything },
  ),
  mcp_call: item(
    { server_label: text, name: text, arguments: text },
    {
      approval_request_id: nullable(text),
      error: anything,
      output: nullable(text),
      status: nullable(oneOf("in_progress", "completed", "incomplete", "calling", "failed")),
    },
  ),
  mcp_approval_request: item({ server_label: text, name: text, arguments: text }),
  mcp_approval_response: item({ approval_request_id: text, approve: bool }, { reason: nullable(text) }),
  tool_search_call: item(
    { arguments: anyObject },
    { call_id: nullable(callId), execution: nullable(oneOf("server", "client")), status },
  ),
  tool_search_output: item(
    { tools: listOf(responsesTool) },
    { call_id: nullable(callId), execution: nullable(oneOf("server", "client")), status },
  ),
  additional_tools: item({ role: oneOf("developer"), tools: listOf(responsesTool) }),
  program: item({ call_id: callId, code: text, fingerprint: text }),
  program_output: item({ call_id: callId, result: text, status: oneOf("completed", "incomplete") }),
};

const ITEMS: Fields = {
  message,
  ...CALLS,
  ...HOSTED_CALLS,
  reasoning: item(
    { summary: listOf(object({ type: oneOf("summary_text"), text })) },
    {
      // The types list text of open models. The API accepts only an empty list.
      content: nullable(listOf(anyObject, { max: 0 })),
      encrypted_content: nullable(text),
      status: anything,
    },
  ),
  compaction: item({ encrypted_content: longText }),
  compaction_trigger: item({}),
  configuration_update: item(
    {},
    { reasoning: object({}, { effort: nullable(effort) }), text: object({ format: anyObject }) },
  ),
  // Items of the multi-agent beta. Their fields are not checked.
  agent_message: anything,
  multi_agent_call: anything,
  multi_agent_call_output: anything,
  item_reference: object({ id: text }, { type: nullable(text) }),
};

const taggedItem = tagged(ITEMS);

/** Type of an item. A message and a reference may omit it. */
export function itemType(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const type = own(value, "type");
  if (typeof type === "string") return type;
  if (type !== undefined && type !== null) return undefined;
  if (own(value, "role") !== undefined) return "message";
  return own(value, "id") === undefined ? undefined : "item_reference";
}

export const inputItem: Shape = (value, path, report: Report) => {
  const type = itemType(value);
  const shape = type === undefined ? undefined : ITEMS[type];
  if (type !== undefined && Object.hasOwn(ITEMS, type) && shape !== undefined) shape(value, path, report);
  else taggedItem(value, path, report);
};

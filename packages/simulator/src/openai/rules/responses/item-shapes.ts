import { isRecord } from "@longhaul/core/internal/messages";
import {
  anything,
  boolean,
  integer,
  list,
  nullable,
  number,
  object,
  oneOf,
  record,
  required,
  string,
  tagged,
} from "../../../shape/shape-check.ts";
import { refuse } from "../../wording/refuse.ts";
import { type Check, type Fields, type Inspection, listed, shortened, union } from "../shape/inspection.ts";
import { inputContent, outputContent, screenshot, toolOutput } from "./part-shapes.ts";
import { textFormat } from "./text-format.ts";
import { tools } from "./tool-shapes.ts";
import { callId, idWith, listOfRecords, listOfStrings, longText, toolName } from "./value-checks.ts";

/**
 * Fields that the API puts on items of its answers and takes back: `created_by` is in the types of stored
 * items, `agent` in those of the multi-agent beta. The third field is undocumented. Codex 0.169 sends it to the
 * API of OpenAI, but not to other providers.
 */
const returned: Fields = {
  created_by: nullable(string),
  agent: nullable(record),
  internal_chat_message_metadata_passthrough: nullable(record),
};

/**
 * Item ids are optional: the API accepts replayed items without them (measured for messages, reasoning,
 * function and custom tool calls, their outputs, and web searches). The types of the SDK require them on some
 * other items. It is not documented whether the API does, so they stay optional there too.
 */
const withId = (prefix: string): Fields => ({ id: nullable(idWith(prefix)), ...returned });

/** Id of items for which no prefix is documented or captured. */
const anyId: Fields = withId("");

const status = nullable(oneOf("in_progress", "completed", "incomplete"));
const caller = nullable(tagged({ direct: {}, program: { caller_id: required(string) } }));

// Messages

const message: Fields = { type: anything, role: anything, status, ...withId("msg") };

const inputMessage = object({ ...message, content: required(inputContent) });
const outputMessage = object({
  ...message,
  content: required(outputContent),
  phase: nullable(oneOf("commentary", "final_answer")),
});

const ROLES = ["assistant", "system", "developer", "user"];

const messageItem: Check = (value, inspection) => {
  const role = isRecord(value) ? value.role : undefined;
  if (role === "assistant") return outputMessage(value, inspection);
  if (typeof role === "string" && ROLES.includes(role)) return inputMessage(value, inspection);
  refuseValue(role, ROLES, inspection);
};

// Calls of tools and their outputs

const call: Fields = { call_id: required(callId), status, caller, async: nullable(boolean) };
const output: Fields = { call_id: required(callId), status, caller };

const functionCall: Fields = {
  ...call,
  ...withId("fc"),
  name: required(toolName),
  namespace: nullable(string),
  arguments: required(string),
};

const functionCallOutput: Fields = {
  ...output,
  ...withId("fc"),
  // Optional since openai 7.55.0. Outputs of asynchronous tools name the tool in its place.
  call_id: nullable(callId),
  name: nullable(string),
  namespace: nullable(string),
  output: required(toolOutput),
};

const customToolCall: Fields = {
  ...call,
  ...withId("ctc"),
  name: required(toolName),
  namespace: nullable(string),
  input: required(string),
};

const customToolCallOutput: Fields = { ...output, ...withId("ctc"), output: required(toolOutput) };

const localShellCall: Fields = {
  ...call,
  ...anyId,
  action: required(
    tagged({
      exec: {
        command: required(listOfStrings),
        env: nullable(record),
        timeout_ms: nullable(integer(0)),
        user: nullable(string),
        working_directory: nullable(string),
      },
    }),
  ),
};

/** The types name the call by `id`, the guide on the local shell names it by `call_id`. */
const localShellCallOutput: Fields = {
  id: nullable(string),
  call_id: nullable(callId),
  output: required(string),
  status,
  ...returned,
};

const shellCall: Fields = {
  ...call,
  ...anyId,
  action: required(
    object({
      commands: required(listOfStrings),
      max_output_length: nullable(integer(0)),
      timeout_ms: nullable(integer(0)),
    }),
  ),
  environment: nullable(record),
};

const shellCallOutput: Fields = {
  ...output,
  ...anyId,
  output: required(
    list(
      object({
        stdout: required(longText),
        stderr: required(longText),
        outcome: required(tagged({ timeout: {}, exit: { exit_code: required(integer(-Infinity)) } })),
        created_by: nullable(string),
      }),
      { of: "objects" },
    ),
  ),
  max_output_length: nullable(integer(0)),
};

const applyPatchCall: Fields = {
  ...call,
  ...anyId,
  status: required(oneOf("in_progress", "completed")),
  operation: required(
    tagged({
      create_file: { path: required(string), diff: required(longText) },
      update_file: { path: required(string), diff: required(longText) },
      delete_file: { path: required(string) },
    }),
  ),
};

const applyPatchCallOutput: Fields = {
  ...output,
  ...anyId,
  status: required(oneOf("completed", "failed")),
  output: nullable(longText),
};

const safetyChecks = nullable(
  list(object({ id: required(string), code: nullable(string), message: nullable(string) })),
);
/** A position on the screen. */
const coordinate = required(number(-Infinity, Infinity));
const point: Fields = { x: coordinate, y: coordinate };
const keys = nullable(listOfStrings);

/** Actions of the computer tool: ComputerAction of the official SDK. */
const computerAction: Check = tagged({
  click: { button: required(oneOf("left", "right", "wheel", "back", "forward")), ...point, keys },
  double_click: { ...point, keys },
  drag: { path: required(list(object(point), { of: "objects" })), keys },
  keypress: { keys: required(listOfStrings) },
  move: { ...point, keys },
  screenshot: {},
  scroll: { scroll_x: coordinate, scroll_y: coordinate, ...point, keys },
  type: { text: required(string) },
  wait: {},
});

const computerCall: Fields = {
  ...call,
  ...anyId,
  pending_safety_checks: safetyChecks,
  action: nullable(computerAction),
  actions: nullable(list(computerAction)),
};

const computerCallOutput: Fields = {
  ...output,
  ...anyId,
  output: required(screenshot),
  acknowledged_safety_checks: safetyChecks,
};

const toolSearchCall: Fields = {
  ...withId("tsc"),
  arguments: required(record),
  call_id: nullable(callId),
  execution: nullable(oneOf("server", "client")),
  status,
};

const toolSearchOutput: Fields = {
  ...anyId,
  tools: required(tools),
  call_id: nullable(callId),
  execution: nullable(oneOf("server", "client")),
  status,
};

// Work of tools that OpenAI runs

/** Search of the web. The API accepts it without an action and with any status. */
const webSearchCall: Fields = {
  ...withId("ws"),
  status: nullable(oneOf("in_progress", "searching", "completed", "failed", "incomplete")),
  action: nullable(
    tagged({
      search: { query: nullable(string), queries: nullable(listOfStrings), sources: nullable(listOfRecords) },
      open_page: { url: nullable(string) },
      find_in_page: { pattern: nullable(string), url: nullable(string) },
    }),
  ),
  results: nullable(listOfRecords),
};

const fileSearchCall: Fields = {
  ...anyId,
  queries: required(listOfStrings),
  status: required(oneOf("in_progress", "searching", "completed", "incomplete", "failed")),
  results: nullable(listOfRecords),
};

const codeInterpreterCall: Fields = {
  ...anyId,
  code: nullable(string),
  container_id: required(string),
  outputs: nullable(list(tagged({ logs: { logs: required(string) }, image: { url: required(string) } }))),
  status: nullable(oneOf("in_progress", "completed", "incomplete", "interpreting", "failed")),
};

const imageGenerationCall: Fields = {
  ...anyId,
  result: nullable(string),
  status: nullable(oneOf("in_progress", "completed", "incomplete", "generating", "failed")),
  action: anything,
  background: anything,
  error: anything,
  output_format: anything,
  quality: anything,
  revised_prompt: nullable(string),
  size: anything,
  svg_usage: anything,
};

const mcpListTools: Fields = {
  ...anyId,
  server_label: required(string),
  tools: required(
    list(
      object({
        name: required(string),
        input_schema: required(anything),
        annotations: anything,
        description: nullable(string),
      }),
    ),
  ),
  error: anything,
};

const mcpTarget: Fields = {
  arguments: required(string),
  name: required(string),
  server_label: required(string),
};

const mcpCall: Fields = {
  ...anyId,
  ...mcpTarget,
  approval_request_id: nullable(string),
  error: anything,
  output: nullable(string),
  status: nullable(oneOf("in_progress", "completed", "incomplete", "calling", "failed")),
};

const mcpApprovalResponse: Fields = {
  ...anyId,
  approval_request_id: required(string),
  approve: required(boolean),
  reason: nullable(string),
};

const program: Fields = {
  id: nullable(string),
  call_id: required(callId),
  code: required(string),
  fingerprint: required(string),
  ...returned,
};

const programOutput: Fields = {
  id: nullable(string),
  call_id: required(callId),
  result: required(string),
  status: required(oneOf("completed", "incomplete")),
  ...returned,
};

// Reasoning, compaction and the rest

const reasoning: Fields = {
  ...withId("rs"),
  summary: required(list(tagged({ summary_text: { text: required(string) } }), { of: "objects" })),
  // The types list text of open models. The API accepts only an empty list.
  content: nullable(list(record, { maximum: 0, of: "objects" })),
  encrypted_content: nullable(string),
  // In the types, but one capture shows an "unknown parameter". Sources conflict, so it is accepted.
  status: nullable(anything),
};

const configurationUpdate: Fields = {
  ...anyId,
  reasoning: object({ effort: nullable(oneOf("none", "minimal", "low", "medium", "high", "xhigh", "max")) }),
  text: object({ format: required(textFormat) }),
};

/** Item types of the multi-agent beta. Their fields are not checked. */
const UNCHECKED = ["agent_message", "multi_agent_call", "multi_agent_call_output"];

const ITEMS: Readonly<Record<string, Fields>> = {
  additional_tools: { ...anyId, role: required(oneOf("developer")), tools: required(tools) },
  apply_patch_call: applyPatchCall,
  apply_patch_call_output: applyPatchCallOutput,
  code_interpreter_call: codeInterpreterCall,
  compaction: { ...withId("cmp"), encrypted_content: required(longText) },
  compaction_trigger: anyId,
  computer_call: computerCall,
  computer_call_output: computerCallOutput,
  configuration_update: configurationUpdate,
  custom_tool_call: customToolCall,
  custom_tool_call_output: customToolCallOutput,
  file_search_call: fileSearchCall,
  function_call: functionCall,
  function_call_output: functionCallOutput,
  image_generation_call: imageGenerationCall,
  item_reference: { id: required(string) },
  local_shell_call: localShellCall,
  local_shell_call_output: localShellCallOutput,
  mcp_approval_request: { ...anyId, ...mcpTarget },
  mcp_approval_response: mcpApprovalResponse,
  mcp_call: mcpCall,
  mcp_list_tools: mcpListTools,
  program,
  program_output: programOutput,
  reasoning,
  shell_call: shellCall,
  shell_call_output: shellCallOutput,
  tool_search_call: toolSearchCall,
  tool_search_output: toolSearchOutput,
  web_search_call: webSearchCall,
};

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["message", messageItem],
  ...UNCHECKED.map((type): [string, Check] => [type, anything]),
  ...Object.entries(ITEMS).map(([type, fields]): [string, Check] => [
    type,
    object({ type: anything, ...fields }),
  ]),
]);

/** Item types that the API names when it gets an unknown one. */
const ITEM_TYPES: readonly string[] = [...checks.keys()].sort();

/** Type of an item. Items without a type are messages, or references if they have only an id. */
export function itemType(item: Readonly<Record<string, unknown>>): unknown {
  const { type } = item;
  if (type !== undefined && type !== null) return type;
  return item.id !== undefined && item.role === undefined ? "item_reference" : "message";
}

function refuseValue(value: unknown, choices: readonly string[], inspection: Inspection): never {
  const shown = typeof value === "string" ? shortened(value) : "";
  return refuse("valueUnknown", inspection.path, { value: shown, choices: listed(choices) });
}

/** Checks one item of the input. */
export const inputItem: Check = (value, inspection) => {
  if (!isRecord(value)) return inspection.refuseType("an input item", value);
  const type = itemType(value);
  const check = typeof type === "string" ? checks.get(type) : undefined;
  if (check === undefined) return refuseValue(type, ITEM_TYPES, inspection);
  check(value, inspection);
};

/** Checks the input: a text or a list of items. */
export const input: Check = union({
  string: anything,
  "array of input items": list(inputItem),
});

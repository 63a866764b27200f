import { isRecord } from "@longhaul/core/internal/messages";
import {
  anything,
  boolean,
  filledString,
  integer,
  list,
  nullable,
  number,
  object,
  oneOf,
  record,
  required,
  string,
  stringOr,
  tagged,
} from "../../../shape/shape-check.ts";
import { type Check, type Fields, union } from "../shape/inspection.ts";
import { listOfStrings, toolName, withSource } from "./value-checks.ts";

const allowedCallers = nullable(list(oneOf("direct", "programmatic")));

/** Fields of tools that the client runs. */
const clientTool: Fields = {
  async: nullable(boolean),
  defer_loading: nullable(boolean),
  allowed_callers: allowedCallers,
};

const functionTool: Fields = {
  name: required(toolName),
  // The types of the SDK require both. The API fills them in, and clients leave them out.
  parameters: nullable(record),
  strict: nullable(boolean),
  description: nullable(string),
  output_schema: nullable(record),
  ...clientTool,
};

const customTool: Fields = {
  name: required(toolName),
  description: nullable(string),
  format: nullable(
    tagged({
      text: {},
      grammar: { definition: required(string), syntax: required(oneOf("lark", "regex")) },
    }),
  ),
  ...clientTool,
};

// Tools that OpenAI runs

const contextSize = nullable(oneOf("low", "medium", "high"));
const location = nullable(
  object({
    type: oneOf("approximate"),
    city: nullable(string),
    country: nullable(string),
    region: nullable(string),
    timezone: nullable(string),
  }),
);

const webSearch: Fields = {
  external_web_access: nullable(boolean),
  // Documented for the preview only. Clients send it with the current tool too.
  search_content_types: nullable(listOfStrings),
  filters: nullable(record),
  search_context_size: contextSize,
  user_location: location,
};

const webSearchPreview: Fields = {
  search_content_types: nullable(list(oneOf("text", "image"))),
  search_context_size: contextSize,
  user_location: location,
};

const fileSearch: Fields = {
  vector_store_ids: required(listOfStrings),
  filters: nullable(record),
  max_num_results: nullable(integer(1, 50)),
  ranking_options: nullable(
    object({
      hybrid_search: record,
      ranker: oneOf("auto", "none", "default-2024-11-15"),
      score_threshold: number(0, 1),
    }),
  ),
};

const memoryLimit = nullable(oneOf("1g", "4g", "16g", "64g"));
const networkPolicy = nullable(
  tagged({
    disabled: {},
    allowlist: { allowed_domains: required(listOfStrings), domain_secrets: nullable(list(record)) },
  }),
);

const container = tagged({
  auto: { file_ids: nullable(listOfStrings), memory_limit: memoryLimit, network_policy: networkPolicy },
});

const shellEnvironment = tagged({
  container_auto: {
    file_ids: nullable(listOfStrings),
    memory_limit: memoryLimit,
    network_policy: networkPolicy,
    skills: nullable(list(record)),
  },
  local: { skills: nullable(list(record)) },
  container_reference: { container_id: required(string) },
});

const imageGeneration: Fields = {
  action: oneOf("generate", "edit", "auto"),
  background: oneOf("transparent", "opaque", "auto"),
  complexity: oneOf("low", "medium", "high"),
  frame_count: integer(1),
  frame_duration_ms: integer(1),
  input_fidelity: nullable(oneOf("high", "low")),
  input_image_mask: object({ file_id: string, image_url: string }),
  model: string,
  moderation: oneOf("auto", "low"),
  output_compression: integer(0, 100),
  output_format: oneOf("png", "webp", "jpeg", "gif", "svg"),
  partial_images: integer(0, 3),
  quality: oneOf("low", "medium", "high", "xhigh", "max", "auto"),
  size: string,
  svg: record,
};

/** Filter of the tools of a server: McpToolFilter and McpToolApprovalFilter of the official SDK. */
const toolFilter = object({ read_only: nullable(boolean), tool_names: nullable(listOfStrings) });

const mcp: Fields = {
  server_label: required(filledString),
  allowed_callers: allowedCallers,
  allowed_tools: nullable(union({ "array of strings": listOfStrings, object: toolFilter })),
  authorization: nullable(string),
  connector_id: nullable(string),
  defer_loading: nullable(boolean),
  headers: nullable(record),
  require_approval: nullable(
    union({
      string: oneOf("always", "never"),
      object: object({ always: nullable(toolFilter), never: nullable(toolFilter) }),
    }),
  ),
  server_description: nullable(string),
  server_url: nullable(string),
  tunnel_id: nullable(string),
};

const MCP_SOURCES = ["server_url", "connector_id", "tunnel_id"];

const namespace: Fields = {
  name: required(toolName),
  description: required(string),
  tools: required(list(tagged({ function: functionTool, custom: customTool }))),
};

const typedTool: Check = tagged({
  function: functionTool,
  custom: customTool,
  web_search: webSearch,
  web_search_2025_08_26: webSearch,
  web_search_preview: webSearchPreview,
  web_search_preview_2025_03_11: webSearchPreview,
  file_search: fileSearch,
  computer: {},
  computer_use: {},
  computer_use_preview: {
    display_height: required(integer(1)),
    display_width: required(integer(1)),
    environment: required(oneOf("windows", "mac", "linux", "ubuntu", "browser")),
  },
  code_interpreter: { container: required(stringOr(container)), allowed_callers: allowedCallers },
  image_generation: imageGeneration,
  mcp,
  local_shell: {},
  shell: { environment: nullable(shellEnvironment), allowed_callers: allowedCallers },
  apply_patch: { allowed_callers: allowedCallers },
  namespace,
  tool_search: {
    description: nullable(string),
    execution: oneOf("server", "client"),
    parameters: nullable(anything),
  },
  programmatic_tool_calling: {},
});

const mcpTool = withSource(typedTool, MCP_SOURCES);

/** Checks the definition of a tool. */
const tool: Check = (value, inspection) => {
  const check = isRecord(value) && value.type === "mcp" ? mcpTool : typedTool;
  check(value, inspection);
};

/** Checks a list of tools. */
export const tools: Check = list(tool, { of: "tools" });

// Choice of a tool

const CHOICES = ["none", "auto", "required"];

const namedChoice: Fields = { name: required(filledString) };
const mcpChoice: Fields = { server_label: required(filledString), name: nullable(string) };

const choiceObject = tagged({
  function: namedChoice,
  custom: namedChoice,
  mcp: mcpChoice,
  allowed_tools: { mode: required(oneOf("auto", "required")), tools: required(list(record)) },
  file_search: {},
  web_search: {},
  web_search_2025_08_26: {},
  web_search_preview: {},
  web_search_preview_2025_03_11: {},
  computer: {},
  computer_use: {},
  computer_use_preview: {},
  code_interpreter: {},
  image_generation: {},
  local_shell: {},
  shell: {},
  apply_patch: {},
  programmatic_tool_calling: {},
});

export const toolChoice: Check = (value, inspection) => {
  if (isRecord(value)) return choiceObject(value, inspection);
  if (typeof value === "string") return oneOf(...CHOICES)(value, inspection);
  inspection.refuseType("one of an object or 'none', 'auto', or 'required'", value);
};

import { ALLOWED_TOOLS, customFormat, GRAMMAR, nameUpTo } from "./common.ts";
import {
  anyObject,
  anything,
  bool,
  byType,
  type Fields,
  listOf,
  nullable,
  number,
  object,
  oneOf,
  type Shape,
  tagged,
  text,
  textOfLength,
} from "./shape.ts";

/** Shapes of `tools` and `tool_choice` of the Responses API, after the types of the official SDK. */

/** Characters of a tool's name. Responses accept longer names than chat completions. */
export const MAX_TOOL_NAME_LENGTH = 128;

const name = nameUpTo(MAX_TOOL_NAME_LENGTH);

/** Fields of tools that the client runs. */
const CLIENT_TOOL: Fields = {
  allowed_callers: nullable(listOf(oneOf("direct", "programmatic"))),
  async: nullable(bool),
  defer_loading: nullable(bool),
};

const ALLOWED_CALLERS: Fields = {
  allowed_callers: nullable(listOf(oneOf("direct", "programmatic"))),
};

const networkPolicy = tagged({
  disabled: object({ type: text }),
  allowlist: object(
    { type: text, allowed_domains: listOf(text) },
    { domain_secrets: listOf(object({ domain: text, name: text, value: text })) },
  ),
});

const AUTO_CONTAINER: Fields = {
  file_ids: nullable(listOf(text)),
  memory_limit: nullable(oneOf("1g", "4g", "16g", "64g")),
  network_policy: nullable(networkPolicy),
};

const skill = tagged({
  skill_reference: object({ type: text, skill_id: text }, { version: text }),
  inline: object({
    type: text,
    name: text,
    description: text,
    source: object({ type: oneOf("base64"), media_type: oneOf("application/zip"), data: text }),
  }),
});

const localSkill = object({ name: text, description: text, path: text });

/** Place in which a shell command runs. */
export const environments: Fields = {
  local: object({ type: text }, { skills: listOf(localSkill) }),
  container_reference: object({ type: text, container_id: text }),
};

const shellEnvironment = tagged({
  ...environments,
  container_auto: object({ type: text }, { ...AUTO_CONTAINER, skills: listOf(skill) }),
});

const functionTool = object(
  { type: text, name },
  {
    description: nullable(text),
    parameters: nullable(anyObject),
    strict: nullable(bool),
    output_schema: nullable(anyObject),
    ...CLIENT_TOOL,
  },
);

const customTool = object(
  { type: text, name },
  {
    description: nullable(text),
    format: nullable(customFormat(object({ type: text, ...GRAMMAR }))),
    ...CLIENT_TOOL,
  },
);

const toolFilter = object({}, { read_only: nullable(bool), tool_names: nullable(listOf(text)) });

const mcpTool = object(
  { type: text, server_label: textOfLength({ min: 1 }) },
  {
    allowed_tools: nullable(byType({ array: listOf(text), object: toolFilter })),
    authorization: nullable(text),
    connector_id: nullable(text),
    defer_loading: nullable(bool),
    headers: nullable(anyObject),
    require_approval: nullable(
      byType({
        string: oneOf("always", "never"),
        object: object({}, { always: nullable(toolFilter), never: nullable(toolFilter) }),
      }),
    ),
    server_description: nullable(text),
    server_url: nullable(text),
    tunnel_id: nullable(text),
    ...ALLOWED_CALLERS,
  },
);

const place: Fields = {
  city: nullable(text),
  country: nullable(text),
  region: nullable(text),
  timezone: nullable(text),
};

const searchSize = oneOf("low", "medium", "high");

const previewSearch = object(
  { type: text },
  {
    search_content_types: nullable(listOf(oneOf("text", "image"))),
    search_context_size: nullable(searchSize),
    user_location: nullable(object({}, { type: oneOf("approximate"), ...place })),
  },
);

// The web search guide describes `blocked_domains` and `external_web_access`, which the SDK lacks.
const webSearch = object(
  { type: text },
  {
    external_web_access: nullable(bool),
    filters: nullable(anyObject),
    search_content_types: nullable(listOf(text)),
    search_context_size: nullable(searchSize),
    user_location: nullable(object({}, { type: oneOf("approximate"), ...place })),
  },
);

const fileSearch = object(
  { type: text, vector_store_ids: listOf(text) },
  {
    filters: nullable(anyObject),
    max_num_results: nullable(number({ min: 1, max: 50, whole: true })),
    ranking_options: nullable(
      object(
        {},
        {
          hybrid_search: anyObject,
          ranker: text,
          score_threshold: number({ min: 0, max: 1 }),
        },
      ),
    ),
  },
);

const imageGeneration = object(
  { type: text },
  {
    action: oneOf("generate", "edit", "auto"),
    background: oneOf("transparent", "opaque", "auto"),
    input_fidelity: nullable(oneOf("high", "low")),
    input_image_mask: object({}, { file_id: text, image_url: text }),
    model: text,
    moderation: oneOf("auto", "low"),
    output_compression: number({ min: 0, max: 100, whole: true }),
    output_format: text,
    partial_images: number({ min: 0, max: 3, whole: true }),
    quality: text,
    size: text,
    // The newest types add animated and drawn images.
    complexity: text,
    frame_count: number({ min: 1, whole: true }),
    frame_duration_ms: number({ min: 1, whole: true }),
    svg: anyObject,
  },
);

const noOptions = object({ type: text });

const TOOLS: Fields = {
  function: functionTool,
  custom: customTool,
  namespace: object({
    type: text,
    name,
    description: text,
    tools: listOf(tagged({ function: functionTool, custom: customTool })),
  }),
  tool_search: object(
    { type: text },
    { description: nullable(text), execution: oneOf("server", "client"), parameters: anything },
  ),
  mcp: mcpTool,
  web_search: webSearch,
  web_search_2025_08_26: webSearch,
  web_search_preview: previewSearch,
  web_search_preview_2025_03_11: previewSearch,
  file_search: fileSearch,
  code_interpreter: object(
    {
      type: text,
      container: byType({
        string: text,
        object: object({ type: oneOf("auto") }, AUTO_CONTAINER),
      }),
    },
    ALLOWED_CALLERS,
  ),
  image_generation: imageGeneration,
  computer: noOptions,
  computer_use: noOptions,
  computer_use_preview: object({
    type: text,
    display_height: number({ min: 1, whole: true }),
    display_width: number({ min: 1, whole: true }),
    environment: oneOf("windows", "mac", "linux", "ubuntu", "browser"),
  }),
  shell: object({ type: text }, { environment: nullable(shellEnvironment), ...ALLOWED_CALLERS }),
  local_shell: noOptions,
  apply_patch: object({ type: text }, ALLOWED_CALLERS),
  programmatic_tool_calling: noOptions,
};

export const responsesTool: Shape = tagged(TOOLS);

/** Hosted tools that `tool_choice` selects by their type alone. */
const CHOSEN_BY_TYPE: readonly string[] = [
  "file_search",
  "web_search",
  "web_search_2025_08_26",
  "web_search_preview",
  "web_search_preview_2025_03_11",
  "computer",
  "computer_use",
  "computer_use_preview",
  "image_generation",
  "code_interpreter",
  "local_shell",
  "shell",
  "apply_patch",
  "programmatic_tool_calling",
];

export const responsesToolChoice: Shape = byType({
  string: oneOf("none", "auto", "required"),
  object: tagged({
    ...Object.fromEntries(CHOSEN_BY_TYPE.map((type) => [type, noOptions])),
    function: object({ type: text, name: textOfLength({ min: 1 }) }),
    custom: object({ type: text, name: textOfLength({ min: 1 }) }),
    mcp: object({ type: text, server_label: textOfLength({ min: 1 }) }, { name: nullable(text) }),
    allowed_tools: object({ type: text, ...ALLOWED_TOOLS }),
  }),
});

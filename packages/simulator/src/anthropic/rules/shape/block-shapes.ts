import { isRecord } from "@longhaul/core/internal/messages";
import { IMAGE_MEDIA_TYPES, TOOL_NAME_PATTERN, TOOL_USE_ID_PATTERN } from "@longhaul/core/internal/request";
import {
  anything,
  boolean,
  filledString,
  gated,
  integer,
  list,
  matching,
  nullable,
  object,
  oneOf,
  record,
  required,
  string,
  stringOr,
  tagged,
} from "../../../shape/shape-check.ts";
import { BETAS, BETAS_FOR } from "../../wording/betas.ts";
import { refuse } from "../../wording/refuse.ts";
import { type Check, type Fields, withBeta } from "./inspection.ts";

export const cacheControl: Check = nullable(
  object({ type: required(oneOf("ephemeral")), ttl: oneOf("5m", "1h") }),
);
const marked: Fields = { cache_control: cacheControl };

// Text and media

const citations = nullable(object({ enabled: boolean }));

export const textBlock: Fields = { text: required(string), citations: nullable(list(record)), ...marked };
const texts = list(tagged({ text: textBlock }));

const sources = { url: { url: required(string) }, file: { file_id: required(string) } };

const imageBlock: Fields = {
  source: required(
    tagged({
      base64: { data: required(string), media_type: required(oneOf(...IMAGE_MEDIA_TYPES)) },
      ...sources,
    }),
  ),
  transformations: nullable(object({ oversized_image: oneOf("downsize", "error") })),
  ...marked,
};

const documentBlock: Fields = {
  source: required(
    tagged({
      base64: { data: required(filledString), media_type: required(oneOf("application/pdf")) },
      text: { data: required(string), media_type: required(oneOf("text/plain")) },
      content: { content: required(stringOr(list(tagged({ text: textBlock, image: imageBlock })))) },
      ...sources,
    }),
  ),
  title: nullable(string),
  context: nullable(string),
  citations,
  ...marked,
};

const searchResult: Fields = {
  content: required(texts),
  source: required(string),
  title: required(string),
  citations,
  ...marked,
};

// Tool definitions

const strings = list(string);

/** Fields of every tool except toolsets. */
const common: Fields = { allowed_callers: strings, defer_loading: boolean, strict: boolean, ...marked };
const withExamples: Fields = { ...common, input_examples: list(record) };

const isObjectType = oneOf("object");

const inputSchema: Check = (value, inspection) => {
  if (!isRecord(value)) return refuse("notObject", { path: inspection.path });
  if (value.oneOf !== undefined || value.allOf !== undefined || value.anyOf !== undefined) {
    refuse("schemaComposed", { path: inspection.path });
  }
  inspection.enter("type");
  if (value.type === undefined) refuse("fieldRequired", { path: inspection.path });
  isObjectType(value.type, inspection);
  inspection.leave();
};

const customTool: Fields = {
  ...withExamples,
  type: anything,
  name: required(matching(TOOL_NAME_PATTERN)),
  description: string,
  input_schema: required(inputSchema),
  eager_input_streaming: nullable(boolean),
};

const builtIn = (name: string, fields: Fields): Fields => ({ ...fields, name: required(oneOf(name)) });

const display: Fields = {
  ...withExamples,
  display_height_px: required(integer(1)),
  display_width_px: required(integer(1)),
  display_number: nullable(integer(0)),
};
const computer = builtIn("computer", display);
const bash = builtIn("bash", withExamples);
const olderEditor = builtIn("str_replace_editor", withExamples);
const codeExecution = builtIn("code_execution", common);

const web: Fields = {
  ...common,
  allowed_domains: nullable(strings),
  blocked_domains: nullable(strings),
  max_uses: nullable(integer(1)),
};
const search: Fields = { ...web, user_location: nullable(record) };
const fetchPage: Fields = {
  ...web,
  citations,
  max_content_tokens: nullable(integer(1)),
  url_sources: anything,
};
const inclusion: Fields = { response_inclusion: oneOf("full", "excluded") };
const useCache: Fields = { use_cache: boolean };
const toolset: Fields = { ...marked, configs: nullable(record) };
const regexSearch = builtIn("tool_search_tool_regex", common);
const bm25Search = builtIn("tool_search_tool_bm25", common);

const TOOL_FIELDS: Readonly<Record<string, Fields>> = {
  custom: customTool,
  bash_20241022: bash,
  bash_20250124: bash,
  code_execution_20250522: codeExecution,
  code_execution_20250825: codeExecution,
  code_execution_20260120: codeExecution,
  code_execution_20260521: codeExecution,
  computer_20241022: computer,
  computer_20250124: computer,
  computer_20251124: { ...computer, enable_zoom: boolean },
  text_editor_20241022: olderEditor,
  text_editor_20250124: olderEditor,
  text_editor_20250429: builtIn("str_replace_based_edit_tool", withExamples),
  text_editor_20250728: builtIn("str_replace_based_edit_tool", {
    ...withExamples,
    max_characters: nullable(integer(1)),
  }),
  memory_20250818: builtIn("memory", withExamples),
  web_search_20250305: builtIn("web_search", search),
  web_search_20260209: builtIn("web_search", search),
  web_search_20260318: builtIn("web_search", { ...search, ...inclusion }),
  web_fetch_20250910: builtIn("web_fetch", fetchPage),
  web_fetch_20260209: builtIn("web_fetch", fetchPage),
  web_fetch_20260309: builtIn("web_fetch", { ...fetchPage, ...useCache }),
  web_fetch_20260318: builtIn("web_fetch", { ...fetchPage, ...useCache, ...inclusion }),
  advisor_20260301: builtIn("advisor", {
    ...common,
    model: required(string),
    caching: cacheControl,
    max_tokens: nullable(integer(1)),
    max_uses: nullable(integer(1)),
  }),
  tool_search_tool_regex: regexSearch,
  tool_search_tool_regex_20251119: regexSearch,
  tool_search_tool_bm25: bm25Search,
  tool_search_tool_bm25_20251119: bm25Search,
  browser_toolset_20260801: toolset,
  computer_toolset_20260801: toolset,
  mcp_toolset: {
    ...toolset,
    mcp_server_name: required(string),
    default_config: record,
    tools: nullable(list(record)),
  },
};

/**
 * Tool types that exist only with a beta: those that the SDK (1.8.0) lists in `BetaToolUnion` but not in
 * `ToolUnion`. The betas are those that the documentation pages of these tools name.
 */
const TOOL_BETAS: Readonly<Record<string, ReturnType<typeof withBeta>>> = {
  bash_20241022: withBeta(...BETAS_FOR.computerUse20241022),
  text_editor_20241022: withBeta(...BETAS_FOR.computerUse20241022),
  computer_20241022: withBeta(...BETAS_FOR.computerUse20241022),
  computer_20250124: withBeta(...BETAS_FOR.computerUse20250124),
  computer_20251124: withBeta(...BETAS_FOR.computerUse20251124),
  advisor_20260301: withBeta(...BETAS_FOR.advisor),
  mcp_toolset: withBeta(...BETAS_FOR.mcp),
};

const typedTool = tagged(TOOL_FIELDS, TOOL_BETAS);

const untypedTool = object(customTool);

/** Checks a tool definition. A tool without a type is a client tool. */
export const toolDefinition: Check = (value, inspection) => {
  if (!isRecord(value) || (value.type !== undefined && value.type !== null)) {
    return typedTool(value, inspection);
  }
  inspection.enter("custom");
  untypedTool(value, inspection);
  inspection.leave();
};

// Blocks about tools

/**
 * Tools that the provider runs. The key is the name of the tool, the value is the block type of its result.
 */
export const SERVER_TOOL_RESULTS: Readonly<Record<string, string>> = {
  advisor: "advisor_tool_result",
  web_search: "web_search_tool_result",
  web_fetch: "web_fetch_tool_result",
  code_execution: "code_execution_tool_result",
  bash_code_execution: "bash_code_execution_tool_result",
  text_editor_code_execution: "text_editor_code_execution_tool_result",
  tool_search_tool_regex: "tool_search_tool_result",
  tool_search_tool_bm25: "tool_search_tool_result",
};

const toolUseId = required(matching(TOOL_USE_ID_PATTERN));
const serverToolUseId = required(matching(/^srvtoolu_[a-zA-Z0-9_]+$/));

const resultContent = tagged({
  text: textBlock,
  image: imageBlock,
  search_result: searchResult,
  document: documentBlock,
  tool_reference: { tool_name: required(string), ...marked },
  browser_state: { tabs: required(list(record)), state_changes: nullable(list(record)), ...marked },
});

const serverResult: Fields = {
  tool_use_id: serverToolUseId,
  content: required(anything),
  caller: record,
  ...marked,
};

const referredTools = {
  tool_reference: { name: required(string) },
  mcp_tool_reference: { name: required(string), server_name: required(string) },
  mcp_toolset_reference: { server_name: required(string) },
};
const toolAddition: Fields = {
  tool: required(
    tagged(
      { ...referredTools, tool_definition: { definition: required(toolDefinition) } },
      { tool_definition: withBeta(BETAS.inlineTools) },
    ),
  ),
  ...marked,
};
const toolRemoval: Fields = { tool: required(tagged(referredTools)), ...marked };

/**
 * Fields of a compaction block. The signature and the tool changes exist only with the beta for on-demand
 * compaction.
 */
const compaction: Fields = {
  content: nullable(filledString),
  encrypted_content: nullable(string),
  signature: gated(nullable(string), withBeta(BETAS.onDemandCompaction)),
  tool_changes: gated(
    nullable(list(tagged({ tool_addition: toolAddition, tool_removal: toolRemoval }))),
    withBeta(BETAS.onDemandCompaction),
  ),
  ...marked,
};

const fallbackModel = required(object({ model: required(string) }));
const withMcp = withBeta(...BETAS_FOR.mcp);
const withToolChanges = withBeta(BETAS.toolChanges);

/** All block types of a message. Another rule checks which role may have which block type. */
export const contentBlock: Check = tagged(
  {
    text: textBlock,
    image: imageBlock,
    document: documentBlock,
    search_result: searchResult,
    thinking: { thinking: required(string), signature: required(string) },
    redacted_thinking: { data: required(string) },
    tool_use: {
      id: toolUseId,
      name: required(matching(TOOL_NAME_PATTERN)),
      input: required(record),
      caller: record,
      toolset_name: nullable(string),
      ...marked,
    },
    tool_result: {
      tool_use_id: toolUseId,
      content: stringOr(list(resultContent)),
      is_error: boolean,
      toolset_name: nullable(string),
      ...marked,
    },
    server_tool_use: {
      id: serverToolUseId,
      name: required(oneOf(...Object.keys(SERVER_TOOL_RESULTS))),
      input: required(record),
      caller: record,
      ...marked,
    },
    ...Object.fromEntries(Object.values(SERVER_TOOL_RESULTS).map((kind) => [kind, serverResult])),
    mcp_tool_use: {
      id: toolUseId,
      name: required(string),
      server_name: required(string),
      input: required(record),
      ...marked,
    },
    mcp_tool_result: { tool_use_id: toolUseId, content: stringOr(texts), is_error: boolean, ...marked },
    mcp_tool_listing: { mcp_server_name: required(string), tools: required(list(record)) },
    container_upload: { file_id: required(string), ...marked },
    compaction,
    fallback: { from: fallbackModel, to: fallbackModel, trigger: nullable(record) },
    tool_addition: toolAddition,
    tool_removal: toolRemoval,
  },
  {
    mcp_tool_use: withMcp,
    mcp_tool_result: withMcp,
    mcp_tool_listing: withMcp,
    compaction: withBeta(BETAS.thresholdCompaction, BETAS.onDemandCompaction),
    tool_addition: withToolChanges,
    tool_removal: withToolChanges,
  },
);

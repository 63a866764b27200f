import { TOOL_NAME_PATTERN, TOOL_USE_ID_PATTERN } from "../../../../conversation/check/limits.ts";
import { BETAS, MCP_BETAS } from "../../wording/betas.ts";
import {
  anything,
  boolean,
  type Check,
  type Fields,
  filledString,
  gated,
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
  withBeta,
} from "./checks.ts";
import { cacheControl, citationsConfig, documentBlock, imageBlock, textBlock } from "./media.ts";
import { toolDefinition } from "./tools.ts";

const type = string;

/** Names of the tools that the provider runs, with the kind of block that answers each. */
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

const SERVER_TOOL_USE_ID_PATTERN = /^srvtoolu_[a-zA-Z0-9_]+$/;

const toolUseId = required(matching(TOOL_USE_ID_PATTERN));

const searchResult = object({
  type,
  content: required(list(tagged({ text: textBlock }))),
  source: required(string),
  title: required(string),
  citations: citationsConfig,
  cache_control: cacheControl,
});

const resultContent = tagged({
  text: textBlock,
  image: imageBlock,
  search_result: searchResult,
  document: documentBlock,
  tool_reference: object({ type, tool_name: required(string), cache_control: cacheControl }),
  browser_state: object({
    type,
    tabs: required(list(record)),
    state_changes: nullable(list(record)),
    cache_control: cacheControl,
  }),
});

const serverResultFields: Fields = {
  type,
  tool_use_id: required(matching(SERVER_TOOL_USE_ID_PATTERN)),
  content: required(anything),
  caller: record,
  cache_control: cacheControl,
};

const toolReference = object({ type, name: required(string) });
const mcpToolReference = object({ type, name: required(string), server_name: required(string) });
const mcpToolsetReference = object({ type, server_name: required(string) });
const toolAddition = object({
  type,
  tool: required(
    tagged({
      tool_reference: toolReference,
      mcp_tool_reference: mcpToolReference,
      mcp_toolset_reference: mcpToolsetReference,
      tool_definition: gated(
        object({ type, definition: required(toolDefinition) }),
        withBeta(BETAS.inlineTools),
      ),
    }),
  ),
  cache_control: cacheControl,
});
const toolRemoval = object({
  type,
  tool: required(
    tagged({
      tool_reference: toolReference,
      mcp_tool_reference: mcpToolReference,
      mcp_toolset_reference: mcpToolsetReference,
    }),
  ),
  cache_control: cacheControl,
});

/** A signed summary and its tool changes are known only to the beta that gives them out. */
const compaction = object({
  type,
  content: nullable(filledString),
  encrypted_content: nullable(string),
  signature: gated(nullable(string), withBeta(BETAS.onDemandCompaction)),
  tool_changes: gated(
    nullable(list(tagged({ tool_addition: toolAddition, tool_removal: toolRemoval }))),
    withBeta(BETAS.onDemandCompaction),
  ),
  cache_control: cacheControl,
});

const fallbackModel = object({ model: required(string) });

/** All kinds that a message may hold; which role holds which is a rule of its own. */
export const contentBlock: Check = tagged({
  text: textBlock,
  image: imageBlock,
  document: documentBlock,
  search_result: searchResult,
  thinking: object({ type, thinking: required(string), signature: required(string) }),
  redacted_thinking: object({ type, data: required(string) }),
  tool_use: object({
    type,
    id: toolUseId,
    name: required(matching(TOOL_NAME_PATTERN)),
    input: required(record),
    caller: record,
    toolset_name: nullable(string),
    cache_control: cacheControl,
  }),
  tool_result: object({
    type,
    tool_use_id: toolUseId,
    content: stringOr(list(resultContent)),
    is_error: boolean,
    toolset_name: nullable(string),
    cache_control: cacheControl,
  }),
  server_tool_use: object({
    type,
    id: required(matching(SERVER_TOOL_USE_ID_PATTERN)),
    name: required(oneOf(...Object.keys(SERVER_TOOL_RESULTS))),
    input: required(record),
    caller: record,
    cache_control: cacheControl,
  }),
  ...Object.fromEntries(
    [...new Set(Object.values(SERVER_TOOL_RESULTS))].map((result) => [result, object(serverResultFields)]),
  ),
  mcp_tool_use: gated(
    object({
      type,
      id: toolUseId,
      name: required(string),
      server_name: required(string),
      input: required(record),
      cache_control: cacheControl,
    }),
    withBeta(...MCP_BETAS),
  ),
  mcp_tool_result: gated(
    object({
      type,
      tool_use_id: toolUseId,
      content: stringOr(list(tagged({ text: textBlock }))),
      is_error: boolean,
      cache_control: cacheControl,
    }),
    withBeta(...MCP_BETAS),
  ),
  mcp_tool_listing: gated(
    object({ type, mcp_server_name: required(string), tools: required(list(record)) }),
    withBeta(...MCP_BETAS),
  ),
  container_upload: object({ type, file_id: required(string), cache_control: cacheControl }),
  compaction: gated(compaction, withBeta(BETAS.thresholdCompaction, BETAS.onDemandCompaction)),
  fallback: object({
    type,
    from: required(fallbackModel),
    to: required(fallbackModel),
    trigger: nullable(record),
  }),
  tool_addition: gated(toolAddition, withBeta(BETAS.toolChanges)),
  tool_removal: gated(toolRemoval, withBeta(BETAS.toolChanges)),
});

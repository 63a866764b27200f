import { TOOL_NAME_PATTERN } from "../../../../conversation/check/limits.ts";
import { isRecord } from "../../../../conversation/untrusted.ts";
import { refuse } from "../../wording/refuse.ts";
import {
  anything,
  boolean,
  type Check,
  type Fields,
  integer,
  list,
  matching,
  nullable,
  object,
  oneOf,
  record,
  required,
  string,
  tagged,
} from "./checks.ts";
import { cacheControl, citationsConfig } from "./media.ts";

const strings = list(string);

/** What every tool but the toolsets may carry. */
const common: Fields = {
  allowed_callers: strings,
  cache_control: cacheControl,
  defer_loading: boolean,
  strict: boolean,
};

const withExamples: Fields = { ...common, input_examples: list(record) };

const objectType = oneOf("object");

const inputSchema: Check = (value, inspection) => {
  if (!isRecord(value)) return refuse("notObject", { path: inspection.path });
  if (value.oneOf !== undefined || value.allOf !== undefined || value.anyOf !== undefined) {
    refuse("schemaComposed", { path: inspection.path });
  }
  inspection.enter("type");
  if (value.type === undefined) refuse("fieldRequired", { path: inspection.path });
  objectType(value.type, inspection);
  inspection.leave();
};

const customTool = object({
  ...withExamples,
  type: nullable(oneOf("custom")),
  name: required(matching(TOOL_NAME_PATTERN)),
  description: string,
  input_schema: required(inputSchema),
  eager_input_streaming: nullable(boolean),
});

function builtIn(name: string, fields: Fields): Check {
  return object({ ...fields, type: string, name: required(oneOf(name)) });
}

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
  citations: citationsConfig,
  max_content_tokens: nullable(integer(1)),
  url_sources: anything,
};
const inclusion: Fields = { response_inclusion: oneOf("full", "excluded") };
const useCache: Fields = { use_cache: boolean };

const toolset = object({ type: string, cache_control: cacheControl, configs: nullable(record) });
const regexSearch = builtIn("tool_search_tool_regex", common);
const bm25Search = builtIn("tool_search_tool_bm25", common);

const typedTool = tagged({
  custom: customTool,
  bash_20241022: bash,
  bash_20250124: bash,
  code_execution_20250522: codeExecution,
  code_execution_20250825: codeExecution,
  code_execution_20260120: codeExecution,
  code_execution_20260521: codeExecution,
  computer_20241022: computer,
  computer_20250124: computer,
  computer_20251124: builtIn("computer", { ...display, enable_zoom: boolean }),
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
  mcp_toolset: object({
    type: string,
    mcp_server_name: required(string),
    cache_control: cacheControl,
    configs: nullable(record),
    default_config: record,
    tools: nullable(list(record)),
  }),
});

/** A tool without a type is the caller's own. */
export const toolDefinition: Check = (value, inspection) => {
  if (!isRecord(value) || (value.type !== undefined && value.type !== null)) {
    return typedTool(value, inspection);
  }
  inspection.enter("custom");
  customTool(value, inspection);
  inspection.leave();
};

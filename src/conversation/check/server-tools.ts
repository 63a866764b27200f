import type { ContentBlock } from "../message.ts";

/** Blocks of tools that the provider runs itself. To us they are opaque but for what pairs them. */
interface ServerToolUse {
  readonly type: string;
  readonly id: string;
  /** The kind of block that answers it; undefined for a tool that we do not know. */
  readonly resultType: string | undefined;
}

const RESULT_TYPES: ReadonlyMap<unknown, string> = new Map([
  ["advisor", "advisor_tool_result"],
  ["web_search", "web_search_tool_result"],
  ["web_fetch", "web_fetch_tool_result"],
  ["code_execution", "code_execution_tool_result"],
  ["bash_code_execution", "bash_code_execution_tool_result"],
  ["text_editor_code_execution", "text_editor_code_execution_tool_result"],
  ["tool_search_tool_regex", "tool_search_tool_result"],
  ["tool_search_tool_bm25", "tool_search_tool_result"],
]);

interface ServerToolResult {
  readonly type: string;
  readonly tool_use_id: string;
}

/** Both as the block's own type tag; the union of block kinds knows them as opaque. */
export function serverToolUse(block: ContentBlock): ServerToolUse | undefined {
  const { type, id, name } = block as unknown as {
    readonly type: string;
    readonly id?: unknown;
    readonly name?: unknown;
  };
  if (type !== "server_tool_use" && type !== "mcp_tool_use") return undefined;
  const resultType = type === "mcp_tool_use" ? "mcp_tool_result" : RESULT_TYPES.get(name);
  return { type, id: typeof id === "string" ? id : "", resultType };
}

export function serverToolResult(block: ContentBlock): ServerToolResult | undefined {
  const { type, tool_use_id } = block as unknown as {
    readonly type: string;
    readonly tool_use_id?: unknown;
  };
  if (!type.endsWith("_tool_result")) return undefined;
  return { type, tool_use_id: typeof tool_use_id === "string" ? tool_use_id : "" };
}

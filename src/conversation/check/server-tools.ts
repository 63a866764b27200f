import type { ContentBlock } from "../block.ts";

/** Blocks of tools that the provider runs itself. To us they are opaque but for what pairs them. */
interface ServerToolUse {
  readonly type: string;
  readonly id: string;
}

interface ServerToolResult {
  readonly type: string;
  readonly tool_use_id: string;
}

/** Both as the block's own type tag; the union of block kinds knows them as opaque. */
export function serverToolUse(block: ContentBlock): ServerToolUse | undefined {
  const { type, id } = block as unknown as { readonly type: string; readonly id?: unknown };
  if (type !== "server_tool_use" && type !== "mcp_tool_use") return undefined;
  return { type, id: typeof id === "string" ? id : "" };
}

export function serverToolResult(block: ContentBlock): ServerToolResult | undefined {
  const { type, tool_use_id } = block as unknown as {
    readonly type: string;
    readonly tool_use_id?: unknown;
  };
  if (!type.endsWith("_tool_result")) return undefined;
  return { type, tool_use_id: typeof tool_use_id === "string" ? tool_use_id : "" };
}

/** The tag as the provider sent it, for comparing with kinds that the union does not name. */
export function tagOf(block: ContentBlock): string {
  return block.type;
}

import type { ApiMessage } from "../message.ts";
import { type ContentBlock, tagOf } from "../message.ts";
import { serverToolResult, serverToolUse } from "./server-tools.ts";

type Role = ApiMessage["role"];

const EVERYONE: readonly Role[] = ["user", "assistant", "system"];
const SPEAKERS: readonly Role[] = ["user", "assistant"];
const USER: readonly Role[] = ["user"];
const ASSISTANT: readonly Role[] = ["assistant"];
const SYSTEM: readonly Role[] = ["system"];
const NOBODY: readonly Role[] = [];

/** Which roles may hold the kinds that we know. A kind that is not here may stand anywhere. */
const ROLES_BY_KIND: ReadonlyMap<string, readonly Role[]> = new Map([
  ["text", EVERYONE],
  ["image", USER],
  ["document", USER],
  ["search_result", USER],
  ["tool_result", USER],
  ["container_upload", SPEAKERS],
  ["compaction", SPEAKERS],
  ["thinking", ASSISTANT],
  ["redacted_thinking", ASSISTANT],
  ["tool_use", ASSISTANT],
  ["mcp_tool_listing", ASSISTANT],
  ["fallback", ASSISTANT],
  ["tool_addition", SYSTEM],
  ["tool_removal", SYSTEM],
  ["tool_reference", NOBODY],
  ["browser_state", NOBODY],
]);

/** Of the kinds that we know, those that a tool result may hold. */
const KINDS_IN_RESULTS: ReadonlySet<string> = new Set([
  "text",
  "image",
  "document",
  "search_result",
  "tool_reference",
  "browser_state",
]);

export function mayStandIn(block: ContentBlock, role: Role): boolean {
  return rolesOf(block)?.includes(role) ?? true;
}

export function mayStandInResult(block: ContentBlock): boolean {
  return KINDS_IN_RESULTS.has(tagOf(block)) || rolesOf(block) === undefined;
}

function rolesOf(block: ContentBlock): readonly Role[] | undefined {
  const roles = ROLES_BY_KIND.get(tagOf(block));
  if (roles !== undefined) return roles;
  const isServerTool = serverToolUse(block) !== undefined || serverToolResult(block) !== undefined;
  return isServerTool ? ASSISTANT : undefined;
}

import type { Draft } from "../draft.ts";
import { MAX_TOOL_NAME_LENGTH, TOOL_NAME_PATTERN } from "../limits.ts";
import { rewriteParts, withBlock } from "../rewrite.ts";

const NAMELESS_TOOL = "unknown_tool";

export function mendToolNames(draft: Draft): void {
  rewriteParts(draft, (part) => {
    const { block, origin } = part;
    if (block.type !== "tool_use" || isToolName(block.name)) return part;
    const message = "The tool's name is missing or holds characters that the API refuses.";
    draft.report({ rule: "tool-name-invalid", at: origin, message, action: "rewritten" });
    return withBlock(part, { ...block, name: toolNameFrom(block.name) });
  });
}

function isToolName(name: unknown): boolean {
  return typeof name === "string" && TOOL_NAME_PATTERN.test(name);
}

function toolNameFrom(name: unknown): string {
  if (typeof name !== "string" || name === "") return NAMELESS_TOOL;
  return name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, MAX_TOOL_NAME_LENGTH);
}

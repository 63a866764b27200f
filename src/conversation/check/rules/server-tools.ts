import type { Draft, Part } from "../draft.ts";
import { rewriteParts } from "../rewrite.ts";
import { serverToolResult, serverToolUse } from "../server-tools.ts";

/**
 * A call of a tool that the provider runs has its result in the same assistant turn. The turn may be cut
 * by user messages of nothing but tool results, and a turn that the conversation ends in may still be open.
 */
export function pairServerTools(draft: Draft): void {
  const dropped = new Set<Part>();
  let open = new Map<string, Part>();
  for (const message of draft.messages) {
    if (message.role === "assistant") {
      for (const part of message.parts) visitServerBlock(draft, part, open, dropped);
    } else if (message.parts.some((part) => part.block.type !== "tool_result")) {
      for (const part of open.values()) reportUnanswered(draft, part, dropped);
      open = new Map();
    }
  }
  if (dropped.size > 0) rewriteParts(draft, (part) => (dropped.has(part) ? undefined : part));
}

function visitServerBlock(draft: Draft, part: Part, open: Map<string, Part>, dropped: Set<Part>): void {
  const use = serverToolUse(part.block);
  if (use !== undefined) {
    const earlier = open.get(use.id);
    if (earlier !== undefined) reportUnanswered(draft, earlier, dropped);
    open.set(use.id, part);
    return;
  }
  const result = serverToolResult(part.block);
  if (result === undefined) return;
  if (isAnswer(open.get(result.tool_use_id), result.type)) {
    open.delete(result.tool_use_id);
    return;
  }
  dropped.add(part);
  draft.report({
    rule: "server-result-orphan",
    at: part.origin,
    message: `A block of type ${result.type} has no call before it in its turn and was left out.`,
    action: "dropped",
    detail: { toolUseId: result.tool_use_id },
  });
}

function isAnswer(call: Part | undefined, resultType: string): boolean {
  if (call === undefined) return false;
  const expected = serverToolUse(call.block)?.resultType;
  return expected === undefined || expected === resultType;
}

function reportUnanswered(draft: Draft, part: Part, dropped: Set<Part>): void {
  dropped.add(part);
  draft.report({
    rule: "server-tool-unanswered",
    at: part.origin,
    message: "A call of a tool run by the provider has no result in its turn and was left out.",
    action: "dropped",
    detail: { toolUseId: serverToolUse(part.block)?.id ?? "" },
  });
}

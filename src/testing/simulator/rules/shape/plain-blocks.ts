import { TOOL_NAME_PATTERN, TOOL_USE_ID_PATTERN } from "../../../../conversation/check/limits.ts";
import { isRecord, type JsonRecord } from "../../../../conversation/untrusted.ts";

/**
 * The few forms that nearly every block of a conversation has, recognised at a glance: the general checks
 * cost several times as much, and a long conversation is sent again with every call. Whatever is not
 * recognised goes through the general checks, which alone refuse.
 */
export function isPlainBlock(block: unknown): boolean {
  if (!isRecord(block)) return false;
  switch (block.type) {
    case "text":
      return typeof block.text === "string" && hasFields(block, 2);
    case "thinking":
      return typeof block.thinking === "string" && typeof block.signature === "string" && hasFields(block, 3);
    case "tool_use":
      return isId(block.id) && isName(block.name) && isRecord(block.input) && hasFields(block, 4);
    case "tool_result": {
      const isTold = typeof block.is_error === "boolean";
      return isId(block.tool_use_id) && typeof block.content === "string" && hasFields(block, isTold ? 4 : 3);
    }
    default:
      return false;
  }
}

/** Nothing but a role and content. */
export function isPlainMessage(message: JsonRecord): boolean {
  return message.content !== undefined && hasFields(message, 2);
}

function hasFields(block: object, count: number): boolean {
  let found = 0;
  for (const _ in block) found++;
  return found === count;
}

function isId(value: unknown): boolean {
  return typeof value === "string" && TOOL_USE_ID_PATTERN.test(value);
}

function isName(value: unknown): boolean {
  return typeof value === "string" && TOOL_NAME_PATTERN.test(value);
}

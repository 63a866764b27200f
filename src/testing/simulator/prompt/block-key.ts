import { isRecord, type JsonRecord } from "../../../conversation/untrusted.ts";

/**
 * What a block says, as one string: equal for blocks that the provider holds to be the same, whatever
 * their cache marks. The common kinds are put together by hand: a stringify of everything would cost as
 * much as parsing the body did.
 */
export function blockKey(block: JsonRecord): string {
  if (block.type === "text" && typeof block.text === "string" && !block.citations) return `t\0${block.text}`;
  if (block.type === "tool_use") {
    return `u\0${String(block.id)}\0${String(block.name)}\0${JSON.stringify(block.input)}`;
  }
  if (block.type === "tool_result" && (block.content === undefined || typeof block.content === "string")) {
    return `r\0${String(block.tool_use_id)}\0${block.is_error === true}\0${block.content ?? ""}`;
  }
  if (block.type === "thinking") return `h\0${String(block.signature)}\0${String(block.thinking)}`;
  return `j\0${JSON.stringify(withoutMarks(block))}`;
}

/** Cache marks steer the cache and are no part of what is cached, at whatever depth they stand. */
export function withoutMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMarks);
  if (!isRecord(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    if (name !== "cache_control") copy[name] = typeof field === "object" ? withoutMarks(field) : field;
  }
  return copy;
}

import { isRecord, type JsonRecord } from "@longhaul/core/internal/messages";

/** Depth at which a field `cache_control` is a cache mark. Cache marks are not compared. */
export type MarkDepth = "none" | "top" | "any";

/**
 * Content of a block in two parts: a short text, and a value that is compared without copying it. A copy or a
 * serialized text would take longer than parsing the body.
 */
export interface BlockParts {
  readonly head: string;
  readonly value: unknown;
  readonly marks: MarkDepth;
}

export function blockParts(block: JsonRecord): BlockParts {
  switch (block.type) {
    case "text":
      if (typeof block.text === "string" && !block.citations) return strict("t", block.text);
      break;
    case "tool_use":
      return strict(`u\0${String(block.id)}\0${String(block.name)}`, block.input);
    case "tool_result":
      if (block.content === undefined || typeof block.content === "string") {
        return strict(`r\0${String(block.tool_use_id)}\0${block.is_error === true}`, block.content ?? "");
      }
      break;
    case "thinking":
      return strict(`h\0${String(block.signature)}`, block.thinking);
  }
  return { head: "j", value: block, marks: "any" };
}

/**
 * Returns the parts of a tool definition. Only its own field `cache_control` is a cache mark, because its
 * schema may have a property of that name.
 */
export function toolParts(tool: JsonRecord): BlockParts {
  return { head: "d", value: tool, marks: "top" };
}

const strict = (head: string, value: unknown): BlockParts => ({ head, value, marks: "none" });

/** Returns the key of a block. Two blocks have the same key exactly if the provider treats them as equal. */
export function partsKey({ head, value, marks }: BlockParts): string {
  if (value === undefined) return head;
  if (typeof value === "string") return `${head}\0${value}`;
  return `${head}\0${JSON.stringify(withoutMarks(value, marks))}`;
}

/** Removes cache marks at any depth. They control the cache and are not part of the cached content. */
export function withoutMarks(value: unknown, marks: MarkDepth = "any"): unknown {
  if (marks === "none") return value;
  if (Array.isArray(value)) return value.map((item) => withoutMarks(item, marks));
  if (!isRecord(value)) return value;
  const inner = marks === "top" ? "none" : marks;
  const fields = Object.entries(value).filter(([name]) => name !== "cache_control");
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutMarks(field, inner)]));
}

/** Returns true if two JSON values serialize to the same bytes, apart from cache marks. */
export function isSameJson(one: unknown, other: unknown, marks: MarkDepth): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    for (let index = 0; index < one.length; index++) {
      if (!isSameJson(one[index], other[index], marks)) return false;
    }
    return true;
  }
  return !Array.isArray(other) && isSameRecord(one as JsonRecord, other as JsonRecord, marks);
}

function isSameRecord(one: JsonRecord, other: JsonRecord, marks: MarkDepth): boolean {
  const names = fieldNames(one, marks);
  const otherNames = fieldNames(other, marks);
  if (names.length !== otherNames.length) return false;
  const inner = marks === "top" ? "none" : marks;
  for (let index = 0; index < names.length; index++) {
    const name = names[index] ?? "";
    if (name !== otherNames[index] || !isSameJson(one[name], other[name], inner)) return false;
  }
  return true;
}

function fieldNames(record: JsonRecord, marks: MarkDepth): readonly string[] {
  const names = Object.keys(record);
  return marks !== "none" && record.cache_control !== undefined
    ? names.filter((name) => name !== "cache_control")
    : names;
}

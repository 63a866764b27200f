import { asList, isRecord, type JsonRecord } from "../../../conversation/untrusted.ts";

export type CacheTtl = "5m" | "1h";

/** What the rules of the cache tell apart. */
export type PositionKind =
  | "tool_use"
  | "tool_result"
  /** The result of a tool that the provider runs itself. */
  | "server_result"
  /** Cannot be marked. */
  | "thinking"
  | "empty"
  | "other";

export function positionKind(block: JsonRecord): PositionKind {
  const type = block.type;
  if (type === "tool_use" || type === "tool_result") return type;
  if (type === "thinking" || type === "redacted_thinking") return "thinking";
  if (type === "text") return block.text === "" ? "empty" : "other";
  return typeof type === "string" && type.endsWith("_tool_result") ? "server_result" : "other";
}

/** A mark on a block inside a tool result stands for the whole result: a result is one position. */
export function explicitMark(block: JsonRecord): CacheTtl | undefined {
  const own = markOf(block.cache_control);
  if (block.type !== "tool_result" || !Array.isArray(block.content)) return own;
  let longest = own;
  for (const nested of asList(block.content)) {
    const mark = isRecord(nested) ? markOf(nested.cache_control) : undefined;
    if (mark === "1h" || longest === undefined) longest = mark ?? longest;
  }
  return longest;
}

function markOf(control: unknown): CacheTtl | undefined {
  if (!isRecord(control) || control.type !== "ephemeral") return undefined;
  return control.ttl === "1h" ? "1h" : "5m";
}

interface Markable {
  readonly kind: PositionKind;
  mark: CacheTtl | undefined;
}

/**
 * Adds the marks that the request does not spell out: that of the top level on the last block that can
 * carry one, and, as soon as there is any, one of five minutes on every result of a server tool.
 */
export function placeMarks(positions: readonly Markable[], topLevel: unknown): void {
  const automatic = markOf(topLevel);
  if (automatic !== undefined) {
    const last = positions.findLast(({ kind }) => isMarkable(kind));
    if (last !== undefined) last.mark ??= automatic;
  }
  if (positions.every(({ mark }) => mark === undefined)) return;
  for (const position of positions) if (position.kind === "server_result") position.mark ??= "5m";
}

export const isMarkable = (kind: PositionKind): boolean => kind !== "thinking" && kind !== "empty";

import { isRecord, type JsonRecord } from "../../../../conversation/untrusted.ts";
import type { SimulatedRequest } from "../../exchange.ts";

/** Readers for fields whose shape has been checked: what is absent or null is undefined. */

export function recordField(body: JsonRecord, name: string): JsonRecord | undefined {
  const value = body[name];
  return isRecord(value) ? value : undefined;
}

export function recordsField(body: JsonRecord, name: string): readonly JsonRecord[] {
  const value = body[name];
  return Array.isArray(value) ? value : [];
}

export function isForced(toolChoice: JsonRecord | undefined): boolean {
  return toolChoice?.type === "any" || toolChoice?.type === "tool";
}

export function outputFormatOf(body: JsonRecord): JsonRecord | undefined {
  return (
    recordField(recordField(body, "output_config") ?? {}, "format") ?? recordField(body, "output_format")
  );
}

export function editsOf(body: JsonRecord): readonly JsonRecord[] {
  return recordsField(recordField(body, "context_management") ?? {}, "edits");
}

/**
 * The call asks for a summary of the conversation, which is then no beginning of an answer. Counting takes the
 * field and ignores it.
 */
export function asksForCompaction({ endpoint, body }: Pick<SimulatedRequest, "endpoint" | "body">): boolean {
  return endpoint === "messages" && recordField(body, "compaction") !== undefined;
}

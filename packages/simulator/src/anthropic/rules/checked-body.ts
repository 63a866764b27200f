import { isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import type { SimulatedRequest } from "../request.ts";

/**
 * This file reads bodies whose shape was checked before. A field that is absent or null counts as undefined.
 */

export function recordField(body: JsonRecord, name: string): JsonRecord | undefined {
  const value = body[name];
  return isRecord(value) ? value : undefined;
}

export function recordsField(body: JsonRecord, name: string): readonly JsonRecord[] {
  const value = body[name];
  return Array.isArray(value) ? value : [];
}

export function isForced(body: JsonRecord): boolean {
  const type = recordField(body, "tool_choice")?.type;
  return type === "any" || type === "tool";
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
 * Returns true if the call asks for a summary of the conversation instead of an answer. The endpoint that
 * counts tokens accepts the field `compaction` and ignores it.
 */
export function asksForCompaction({ endpoint, body }: Pick<SimulatedRequest, "endpoint" | "body">): boolean {
  return endpoint === "messages" && recordField(body, "compaction") !== undefined;
}

export type Role = "user" | "assistant" | "system";

/**
 * A block and its position in the request. `index` is undefined if the content is plain text instead of a
 * list.
 */
export interface PlacedBlock {
  readonly type: string;
  readonly block: JsonRecord;
  readonly message: number;
  readonly index: number | undefined;
}

export interface SentMessage {
  readonly role: Role;
  readonly message: number;
  readonly blocks: readonly PlacedBlock[];
  /** True for a system message that only sets the effort. Only such a message may have no content. */
  readonly isEffortOnly: boolean;
}

export function readMessages(messages: readonly JsonRecord[]): readonly SentMessage[] {
  return messages.map((sent, message): SentMessage => {
    const role = sent.role as Role;
    const blocks = readBlocks(sent.content as string | readonly JsonRecord[] | undefined, message);
    const isEffortOnly =
      role === "system" &&
      blocks.length === 0 &&
      typeof recordField(sent, "output_config")?.effort === "string";
    return { role, message, blocks, isEffortOnly };
  });
}

function readBlocks(
  content: string | readonly JsonRecord[] | undefined,
  message: number,
): readonly PlacedBlock[] {
  if (content === undefined || content === "") return [];
  if (typeof content === "string") {
    return [{ type: "text", block: { type: "text", text: content }, message, index: undefined }];
  }
  return content.map((block, index) => ({ type: block.type as string, block, message, index }));
}

export function pathOf({ message, index }: PlacedBlock): string {
  return index === undefined ? `messages.${message}` : `messages.${message}.content.${index}`;
}

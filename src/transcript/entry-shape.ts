import type { CompactMetadata, Entry } from "../conversation/entry.ts";
import { isRecord, type JsonRecord } from "../conversation/untrusted.ts";

/**
 * The one place where JSON becomes an {@link Entry}. It looks only at what code of ours reads without
 * asking first; everything else, and every kind we do not know, passes as it is.
 */
export function entryFromJson(value: unknown): Entry | undefined {
  if (!isRecord(value) || typeof value.type !== "string") return undefined;
  const uuid = value.uuid;
  if (uuid !== undefined && typeof uuid !== "string") return undefined;
  switch (value.type) {
    case "user":
    case "assistant":
      return uuid !== undefined && hasContent(value.message) ? messageEntry(value) : undefined;
    case "attachment":
      return uuid !== undefined && isTagged(value.attachment) ? asEntry(value) : undefined;
    case "system":
      return uuid !== undefined ? systemEntry(value) : undefined;
    default:
      return asEntry(value);
  }
}

/** Only the reader says that a message came from the queue: on disk the mark means nothing. */
function messageEntry(value: JsonRecord): Entry {
  if (value.fromQueue === undefined) return asEntry(value);
  const { fromQueue: _, ...message } = value;
  return asEntry(message);
}

function systemEntry(value: JsonRecord): Entry | undefined {
  if (value.subtype === "compact_boundary" && !isRecord(value.compactMetadata)) {
    // Dropping the boundary would bring all the old history back, so it is read as one that knows little.
    const compactMetadata: CompactMetadata = { trigger: "auto", preTokens: 0 };
    return asEntry({ ...value, compactMetadata });
  }
  if (value.subtype !== "microcompact_boundary") return asEntry(value);
  const metadata = value.microcompactMetadata;
  return isRecord(metadata) && Array.isArray(metadata.compactedToolIds) ? asEntry(value) : undefined;
}

function hasContent(message: unknown): boolean {
  if (!isRecord(message)) return false;
  const content = message.content;
  if (typeof content === "string") return true;
  if (!Array.isArray(content)) return false;
  for (const block of content) {
    if (!isTagged(block)) return false;
    if (block.type === "tool_result" && !isResultContent(block.content)) return false;
  }
  return true;
}

function isResultContent(content: unknown): boolean {
  return (
    content === undefined ||
    typeof content === "string" ||
    (Array.isArray(content) && content.every(isTagged))
  );
}

function isTagged(value: unknown): value is JsonRecord {
  return isRecord(value) && typeof value.type === "string";
}

const asEntry = (value: unknown): Entry => value as Entry;

import {
  contentText,
  entryBlocks,
  field,
  filePathIn,
  firstString,
  isBlock,
  isCleared,
  isCollapseMark,
  isCompactBoundary,
  isMicrocompactBoundary,
  isQueueOperation,
  isRecord,
  isStandIn,
  isSummaryEntry,
  listField,
  rewindRecordOf,
  stringField,
  stringListField,
} from "@longhaul/core/internal/messages";
import type { AttachmentEntry, ContentBlock, Entry } from "@longhaul/core/messages";
import { sentContent } from "@longhaul/core/request";

/**
 * Kinds of documents. Add new kinds at the end, because an index stores a kind as its position in this list.
 */
export const DOCUMENT_KINDS = [
  "user",
  "assistant",
  "thinking",
  "call",
  "result",
  "attachment",
  "system",
  "summary",
  "other",
] as const;

export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

/** Unit of search: one block of a message, an attachment, or a line of the host. */
export interface SearchDocument {
  readonly kind: DocumentKind;
  /** Position among the documents of its entry. */
  readonly block: number;
  readonly text: string;
  /** Tool of a call. A result gets the tool of its call. */
  readonly tool?: string | undefined;
  readonly toolUseId?: string | undefined;
  readonly path?: string | undefined;
}

/**
 * Returns all searchable parts of an entry, in order. Omits marks without content. Also omits content that
 * was only on the screen, such as progress, titles, and the agent's own copy of a result.
 */
export function documentsOf(entry: Entry): readonly SearchDocument[] {
  switch (entry.type) {
    case "user":
    case "assistant":
      return messageDocuments(entry);
    case "attachment":
      return attachmentDocuments(entry);
    case "system":
      return systemDocuments(entry);
    default:
      return isQueueOperation(entry) ? queuedDocuments(entry) : [];
  }
}

/**
 * Returns text that was typed while the agent worked. Only the whole queue shows whether the agent received
 * it.
 */
function queuedDocuments(entry: Entry): readonly SearchDocument[] {
  const text = stringField(entry, "content")?.trim() ?? "";
  return text === "" ? [] : [{ kind: "user", block: 0, text }];
}

function messageDocuments(entry: Extract<Entry, { type: "user" | "assistant" }>): readonly SearchDocument[] {
  const spoken = repeatsOthers(entry) ? "summary" : entry.type;
  const found: SearchDocument[] = [];
  for (const [block, content] of entryBlocks(entry).entries()) {
    const document = blockDocument(content, spoken, block);
    if (document.text !== "") found.push(document);
  }
  return found;
}

/** Checks whether an entry restates earlier ones. */
const repeatsOthers = (entry: Entry): boolean => isSummaryEntry(entry) || isStandIn(entry);

function blockDocument(block: ContentBlock, spoken: DocumentKind, nth: number): SearchDocument {
  switch (block.type) {
    case "text":
      return { kind: spoken, block: nth, text: stringField(block, "text") ?? "" };
    case "thinking":
      return { kind: "thinking", block: nth, text: stringField(block, "thinking") ?? "" };
    case "tool_use":
      return {
        kind: "call",
        block: nth,
        text: callText(block),
        tool: stringField(block, "name"),
        toolUseId: stringField(block, "id"),
        path: filePathIn(field(block, "input")),
      };
    case "tool_result":
      return {
        kind: "result",
        block: nth,
        // A cleared conversation may have been written again. In that case, an earlier line contains the
        // result itself.
        text: isCleared(block) ? "" : contentText(field(block, "content")),
        toolUseId: stringField(block, "tool_use_id"),
      };
    default:
      return { kind: "other", block: nth, text: leafText(block) };
  }
}

const callText = (block: ContentBlock): string => {
  const name = stringField(block, "name") ?? "";
  const input = leafText(field(block, "input"));
  return input === "" ? name : `${name}\n${input}`;
};

function attachmentDocuments(entry: AttachmentEntry): readonly SearchDocument[] {
  const { attachment } = entry;
  if (!isRecord(attachment) || typeof attachment.type !== "string") return [];
  const text = contentText(sentContent(entry));
  if (text === "") return [];
  const path = firstString(attachment, "filename", "path", "file_path", "displayPath", "planFilePath");
  return [{ kind: "attachment", block: 0, text, tool: attachment.type, path }];
}

function systemDocuments(entry: Entry): readonly SearchDocument[] {
  const text = stringField(entry, "content") ?? "";
  // Facts are looked up by id, so the boundary that contains them must be a document.
  if (isCompactBoundary(entry)) {
    return text === "" && ledgerFactIds(entry).length === 0 ? [] : [{ kind: "summary", block: 0, text }];
  }
  if (isMicrocompactBoundary(entry) || isCollapseMark(entry) || rewindRecordOf(entry) !== undefined)
    return [];
  return text === "" ? [] : [{ kind: "system", block: 0, text, tool: stringField(entry, "subtype") }];
}

/** Names of fields with encoded bytes, or with content that only the provider can read. */
const UNREADABLE: ReadonlySet<string> = new Set([
  "data",
  "signature",
  "encrypted_content",
  "encrypted_index",
]);

/** Maximum depth at which the values of an input are listed one by one. A deeper value is added as JSON. */
const DEEPEST = 12;

/**
 * Joins all values with their names. Texts stay verbatim, so that searches find text that was written to a
 * file.
 */
function leafText(value: unknown): string {
  const lines: string[] = [];
  addLeaves(value, "", lines, 0);
  return lines.join("\n");
}

function addLeaves(value: unknown, name: string, lines: string[], depth: number): void {
  if (value === null || value === undefined || UNREADABLE.has(name)) return;
  const label = name === "" ? "" : `${name}: `;
  if (typeof value === "string") lines.push(`${label}${value}`);
  else if (typeof value !== "object") lines.push(`${label}${String(value)}`);
  else if (depth === DEEPEST) lines.push(`${label}${JSON.stringify(value)}`);
  else if (Array.isArray(value)) for (const item of value) addLeaves(item, name, lines, depth + 1);
  else for (const [key, inner] of Object.entries(value)) addLeaves(inner, key, lines, depth + 1);
}

/** Returns the facts in a boundary. */
function ledgerFacts(entry: Entry): readonly unknown[] {
  const longhaul = isCompactBoundary(entry) ? field(entry.compactMetadata, "longhaul") : undefined;
  return listField(field(longhaul, "ledger"), "facts");
}

export const ledgerFactIds = (entry: Entry): readonly string[] =>
  ledgerFacts(entry).flatMap((fact) => stringField(fact, "id") ?? []);

/** Returns the entries in which a fact of a boundary was found. */
export function entriesOfFact(entry: Entry, id: string): readonly string[] {
  const fact = ledgerFacts(entry).find((one) => stringField(one, "id") === id);
  return stringListField(fact, "entryIds");
}

export const hasThinking = (entry: Entry): boolean =>
  entry.type === "assistant" &&
  entryBlocks(entry).some((block) => isBlock(block) && block.type === "thinking");

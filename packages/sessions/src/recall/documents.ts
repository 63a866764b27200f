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
  stringField,
  stringListField,
  turnedBack,
} from "@longhaul/core/internal/messages";
import type { AttachmentEntry, ContentBlock, Entry } from "@longhaul/core/messages";
import { sentContent } from "@longhaul/core/request";

/** What a document is; the order is that of the numbers in an index, so that new ones come last. */
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

/** What is searched and found: one block of a message, an attachment, a line of the host's. */
export interface SearchDocument {
  readonly kind: DocumentKind;
  /** Its place among the documents of its entry. */
  readonly block: number;
  readonly text: string;
  /** Of calls, and by the call's id of results. */
  readonly tool?: string | undefined;
  readonly toolUseId?: string | undefined;
  readonly path?: string | undefined;
}

/**
 * Everything in an entry that can be searched, in its order. What only the screen had is left out: progress, the
 * agent's own copy of a result, titles. So are marks that say nothing.
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

/** Text that was typed while the agent worked. Only the queue as a whole tells whether the agent received it. */
function queuedDocuments(entry: Entry): readonly SearchDocument[] {
  const text = stringField(entry, "content")?.trim() ?? "";
  return text === "" ? [] : [{ kind: "user", block: 0, text }];
}

function messageDocuments(entry: Extract<Entry, { type: "user" | "assistant" }>): readonly SearchDocument[] {
  const spoken = isRetelling(entry) ? "summary" : entry.type;
  const found: SearchDocument[] = [];
  for (const [block, content] of entryBlocks(entry).entries()) {
    const document = blockDocument(content, spoken, block);
    if (document.text !== "") found.push(document);
  }
  return found;
}

/** It says again what stands above it. */
const isRetelling = (entry: Entry): boolean => isSummaryEntry(entry) || isStandIn(entry);

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
        // Where a cleared conversation was written again, the result itself stands further up.
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
  // Its facts are asked for by their ids, and have to stand somewhere.
  if (isCompactBoundary(entry)) {
    return text === "" && ledgerFactIds(entry).length === 0 ? [] : [{ kind: "summary", block: 0, text }];
  }
  if (isMicrocompactBoundary(entry) || isCollapseMark(entry) || turnedBack(entry) !== undefined) return [];
  return text === "" ? [] : [{ kind: "system", block: 0, text, tool: stringField(entry, "subtype") }];
}

/** Bytes in letters, and what only the provider can read. */
const UNREADABLE: ReadonlySet<string> = new Set([
  "data",
  "signature",
  "encrypted_content",
  "encrypted_index",
]);

/** Inputs are nested as deep as a model likes; nobody searches further down. */
const DEEPEST = 12;

/** Every value with its name, texts as they are: what was written into a file can be found word for word. */
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

/** Facts that a boundary tells of. */
function ledgerFacts(entry: Entry): readonly unknown[] {
  const longhaul = isCompactBoundary(entry) ? field(entry.compactMetadata, "longhaul") : undefined;
  return listField(field(longhaul, "ledger"), "facts");
}

export const ledgerFactIds = (entry: Entry): readonly string[] =>
  ledgerFacts(entry).flatMap((fact) => stringField(fact, "id") ?? []);

/** The entries that a fact of a boundary was found in. */
export function entriesOfFact(entry: Entry, id: string): readonly string[] {
  const fact = ledgerFacts(entry).find((one) => stringField(one, "id") === id);
  return stringListField(fact, "entryIds");
}

export const hasThinking = (entry: Entry): boolean =>
  entry.type === "assistant" &&
  entryBlocks(entry).some((block) => isBlock(block) && block.type === "thinking");

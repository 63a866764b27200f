import {
  asList,
  field,
  firstString,
  isBlock,
  isMedia,
  isRecord,
  type JsonRecord,
  stringField,
} from "@longhaul/core/internal/messages";
import type { ContentBlock, DocumentBlock, ImageBlock, ToolResultBlock } from "@longhaul/core/messages";
import { type Mapping, markOptions, withOptions } from "./mapping.ts";
import { wireToolId } from "./wire-tool-ids.ts";

/** A message for the AI SDK. We do not use the SDK's own types, because they differ between its versions. */
export interface PromptMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly PromptPart[];
  readonly providerOptions?: JsonRecord;
}

export interface PromptPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

export const textPart = (text: string, providerOptions?: JsonRecord): PromptPart => ({
  type: "text",
  text,
  ...withOptions(providerOptions),
});

/** An image or document in the form that this provider accepts: a file, or text that describes it. */
type Medium = FileMedium | { readonly kind: "text"; readonly text: string };

interface FileMedium {
  readonly kind: "file";
  readonly data: string | Uint8Array | URL;
  readonly mediaType: string;
  readonly filename?: string;
  readonly options?: JsonRecord | undefined;
}

export function mediumOf(block: ImageBlock | DocumentBlock, mapping: Mapping): Medium {
  const { source } = block;
  const form = stringField(source, "type");
  if (block.type === "document" && form === "text") return textDocument(block, mapping);
  if (block.type === "document" && form === "content") {
    mapping.changes.notSupported("documents made of blocks, sent as text");
    return { kind: "text", text: documentText(block) ?? "" };
  }
  const data = mapping.images ? dataOf(source) : undefined;
  if (data === undefined) return inWords(block, mapping);
  const mediaType = stringField(source, "media_type");
  if (block.type === "image") return { kind: "file", data, mediaType: mediaType ?? "image/*" };
  return { kind: "file", data, mediaType: mediaType ?? "application/pdf", ...describedBy(block, mapping) };
}

function inWords(block: ImageBlock | DocumentBlock, { changes }: Mapping): Medium {
  const kind = stringField(block.source, "type") === "file" ? "files stored by the provider" : block.type;
  changes.notSupported(`${kind}, replaced by a short description`);
  return { kind: "text", text: mediaAsText(block) };
}

function dataOf(source: unknown): string | URL | undefined {
  const data = stringField(source, "data");
  if (stringField(source, "type") === "base64" && data !== undefined && data !== "") return data;
  const url = stringField(source, "url");
  return url !== undefined && URL.canParse(url) ? new URL(url) : undefined;
}

function textDocument(block: DocumentBlock, mapping: Mapping): Medium {
  const text = stringField(block.source, "data") ?? "";
  if (mapping.dialect.textDocuments && text !== "") {
    const data = new TextEncoder().encode(text);
    return { kind: "file", data, mediaType: "text/plain", ...describedBy(block, mapping) };
  }
  mapping.changes.notSupported("text documents, sent as text");
  return { kind: "text", text: documentText(block) ?? text };
}

/** Returns a document's title, context and citations. */
function describedBy(
  block: DocumentBlock,
  { dialect, changes }: Mapping,
): { readonly filename?: string; readonly options?: JsonRecord } {
  const title = stringField(block, "title");
  const context = stringField(block, "context");
  const citations = field(block, "citations");
  const named = title === undefined || title === "" ? {} : { filename: title };
  if (context === undefined && !isRecord(citations)) return named;
  if (dialect.flavor !== "anthropic") {
    changes.notSupported("a document's context and citations");
    return named;
  }
  const described = {
    ...(context === undefined ? {} : { context }),
    ...(isRecord(citations) ? { citations } : {}),
  };
  return { ...named, options: { anthropic: described } };
}

interface MappedResult {
  readonly part: PromptPart;
  /** Media that this provider does not accept inside a result. They follow in a user message. */
  readonly after: readonly PromptPart[];
}

export function mapToolResult(result: ToolResultBlock, toolName: string, mapping: Mapping): MappedResult {
  const items = itemsOf(result, mapping);
  const files = items.filter((item): item is FileMedium => item.kind === "file");
  const mustFollow = files.length > 0 && !mapping.dialect.mediaInResults;
  if (mustFollow) mapping.changes.notSupported("media in a tool result, sent after it");
  return {
    part: {
      type: "tool-result",
      toolCallId: wireToolId(result.tool_use_id, mapping.dialect.toolIds),
      toolName,
      output: outputOf(mustFollow ? items.map(announced) : items, result.is_error === true, mapping),
      ...withOptions(markOptions(result, mapping) ?? nestedMark(result, mapping)),
    },
    after: mustFollow ? [textPart(`From the result of ${toolName}:`), ...files.map(filePart)] : [],
  };
}

function itemsOf(result: ToolResultBlock, mapping: Mapping): readonly Medium[] {
  const { content } = result;
  if (typeof content === "string") return [{ kind: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: unknown): readonly Medium[] => {
    if (isBlock(block)) return [itemOf(block, mapping)];
    mapping.changes.notSupported("unreadable blocks");
    return [];
  });
}

function itemOf(block: ContentBlock, mapping: Mapping): Medium {
  if (block.type === "text") return { kind: "text", text: typeof block.text === "string" ? block.text : "" };
  if (!isMedia(block)) {
    mapping.changes.notSupported(`${block.type} in a tool result, sent as text`);
    return { kind: "text", text: blockAsText(block) };
  }
  // A tool result cannot contain a plain-text document as a document, so the document becomes text.
  const text = block.type === "document" ? documentText(block) : undefined;
  if (text === undefined) return mediumOf(block, mapping);
  mapping.changes.notSupported("text documents in a tool result, sent as text");
  return { kind: "text", text };
}

function announced(item: Medium): Medium {
  if (item.kind === "text") return item;
  const kind = item.mediaType.startsWith("image") ? "image" : "document";
  return { kind: "text", text: `[${kind}: shown after this result]` };
}

export const filePart = ({ data, mediaType, filename, options }: FileMedium): PromptPart => ({
  type: "file",
  data,
  mediaType,
  ...(filename === undefined ? {} : { filename }),
  ...withOptions(options),
});

function outputOf(items: readonly Medium[], isError: boolean, mapping: Mapping): PromptPart {
  const isTextOnly = items.every((item) => item.kind === "text");
  const keepsBlocks = mapping.dialect.flavor === "anthropic" && items.length > 1 && !isError;
  if (isTextOnly && !keepsBlocks) {
    const text = items.map((item) => (item.kind === "text" ? item.text : "")).join("\n");
    if (!isError) return { type: "text", value: text };
    if (mapping.dialect.errorFlag) return { type: "error-text", value: text };
    mapping.changes.notSupported("is_error, sent as text");
    return { type: "text", value: asErrorText(text) };
  }
  const value = items.map((item) => nestedPart(item, mapping));
  if (!isError) return { type: "content", value };
  mapping.changes.notSupported("is_error of a result with media, sent as text");
  return { type: "content", value: [textPart("Error:"), ...value] };
}

/**
 * Marks a text as an error for a provider without an error flag, so that the model still sees that the call
 * failed.
 */
const asErrorText = (text: string): string => (/^\W*error/i.test(text) ? text : `Error: ${text}`);

function nestedPart(item: Medium, { isVersionSeven }: Mapping): PromptPart {
  if (item.kind === "text") return textPart(item.text);
  const { data, mediaType, filename } = item;
  const named = filename === undefined ? {} : { filename };
  if (isVersionSeven) {
    const source = data instanceof URL ? { type: "url", url: data } : { type: "data", data };
    return { type: "file", data: source, mediaType, ...named };
  }
  const kind = mediaType.startsWith("image") ? "image" : "file";
  if (data instanceof URL) {
    return { type: `${kind}-url`, url: data.href, ...(kind === "file" ? { mediaType } : {}) };
  }
  return { type: `${kind}-data`, data, mediaType, ...(kind === "file" ? named : {}) };
}

/**
 * Moves the cache mark of a nested block to the whole result, because the SDK supports cache marks only on a
 * whole result.
 */
function nestedMark(result: ToolResultBlock, mapping: Mapping): JsonRecord | undefined {
  if (!Array.isArray(result.content)) return undefined;
  const marked = result.content.findLastIndex(
    (block: unknown) => field(block, "cache_control") !== undefined,
  );
  if (marked < 0) return undefined;
  if (marked < result.content.length - 1) mapping.changes.notSupported("cache_control inside a tool result");
  return markOptions(result.content[marked], mapping);
}

/**
 * Converts a block to text for a provider that does not support its type. Omits content that only the
 * original provider can read (encrypted content, signatures, raw data).
 */
export function blockAsText(block: ContentBlock): string {
  const type: string = block.type;
  switch (type) {
    case "tool_use":
      return `[Called ${stringField(block, "name") ?? "a tool"} with ${json(field(block, "input"))}]`;
    case "tool_result":
      return `[Result of a tool: ${contentAsText(field(block, "content"))}]`;
    case "compaction":
      return stringField(block, "content") ?? "";
    case "search_result": {
      const heading = [stringField(block, "title"), stringField(block, "source")].filter(Boolean).join(" – ");
      return `[Search result: ${heading}]\n${contentAsText(field(block, "content"))}`;
    }
    case "text":
      return stringField(block, "text") ?? "";
    case "image":
      return mediaAsText(block);
    case "document":
      return documentText(block) ?? mediaAsText(block);
    default:
      return `[${type}: ${json(block)}]`;
  }
}

function contentAsText(content: unknown): string {
  if (typeof content === "string") return content;
  return asList(content).filter(isBlock).map(blockAsText).join("\n");
}

/** Returns the text of a text document, below its title and context. */
function documentText(block: ContentBlock): string | undefined {
  const source = field(block, "source");
  const kind = stringField(source, "type");
  if (kind !== "text" && kind !== "content") return undefined;
  const text = kind === "text" ? stringField(source, "data") : contentAsText(field(source, "content"));
  const lines = [stringField(block, "title"), stringField(block, "context"), text];
  return lines.filter((line) => line !== undefined && line !== "").join("\n\n");
}

/** Describes an image or document that cannot be sent itself. */
function mediaAsText(block: ContentBlock): string {
  const source = field(block, "source");
  const name = firstString(block, "title") ?? firstString(source, "url", "file_id", "media_type");
  return name === undefined ? `[${block.type}]` : `[${block.type}: ${name}]`;
}

const UNREADABLE = /^encrypted_|^(signature|data|cache_control)$/;

const json = (value: unknown): string =>
  JSON.stringify(value, (key, inner: unknown) => (UNREADABLE.test(key) ? undefined : inner)) ?? "";

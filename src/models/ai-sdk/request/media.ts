import type { DocumentBlock, ImageBlock } from "../../../conversation/message.ts";
import { field, isRecord, type JsonRecord, stringField } from "../../../conversation/untrusted.ts";
import { documentText, mediaAsText } from "./block-text.ts";
import type { Mapping } from "./prompt.ts";

/** A picture or document as this provider gets it: as a file, or in words. */
export type Medium =
  | {
      readonly kind: "file";
      readonly data: string | Uint8Array | URL;
      readonly mediaType: string;
      readonly filename?: string;
      readonly options?: JsonRecord;
    }
  | { readonly kind: "text"; readonly text: string };

const PDF = "application/pdf";

export function mediumOf(block: ImageBlock | DocumentBlock, mapping: Mapping): Medium {
  if (block.type === "image") return imageOf(block, mapping);
  const { source } = block;
  if (stringField(source, "type") === "text") return textDocument(block, mapping);
  if (stringField(source, "type") === "content") {
    mapping.changes.notSupported("documents made of blocks, sent as text");
    return { kind: "text", text: documentText(block) ?? "" };
  }
  if (!mapping.images) return inWords(block, mapping);
  const data = dataOf(source);
  if (data === undefined) return inWords(block, mapping);
  const mediaType = stringField(source, "media_type") ?? PDF;
  return { kind: "file", data, mediaType, ...describedBy(block, mapping) };
}

function imageOf(block: ImageBlock, mapping: Mapping): Medium {
  const data = mapping.images ? dataOf(block.source) : undefined;
  if (data === undefined) return inWords(block, mapping);
  return { kind: "file", data, mediaType: stringField(block.source, "media_type") ?? "image/*" };
}

function inWords(block: ImageBlock | DocumentBlock, { changes }: Mapping): Medium {
  const kind = stringField(block.source, "type") === "file" ? "files kept by the provider" : block.type;
  changes.notSupported(`${kind}, named in its place`);
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

/** A document's title, context and citations. */
function describedBy(
  block: DocumentBlock,
  { dialect, changes }: Mapping,
): { readonly filename?: string; readonly options?: JsonRecord } {
  const title = stringField(block, "title");
  const context = stringField(block, "context");
  const citations = field(block, "citations");
  const named = title === undefined || title === "" ? {} : { filename: title };
  if (context === undefined && !isRecord(citations)) return named;
  if (dialect.flavour !== "anthropic") {
    changes.notSupported("a document's context and citations");
    return named;
  }
  const described = {
    ...(context === undefined ? {} : { context }),
    ...(isRecord(citations) ? { citations } : {}),
  };
  return { ...named, options: { anthropic: described } };
}

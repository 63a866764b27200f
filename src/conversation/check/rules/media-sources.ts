import type { ContentBlock, DocumentBlock, ImageBlock } from "../../message.ts";
import { isMedia } from "../../message.ts";
import { isRecord, type JsonRecord } from "../../untrusted.ts";
import type { Draft } from "../draft.ts";
import { DOCUMENT_MEDIA_TYPES, IMAGE_MEDIA_TYPES } from "../limits.ts";
import { rewriteNested, rewriteParts, withBlock } from "../rewrite.ts";
import { mediaMarker } from "./media-marker.ts";

/** A picture without data or of a type the API does not take fails the whole request. */
export function replaceUnusableMedia(draft: Draft): void {
  rewriteParts(draft, (part) => {
    const replace = (block: ContentBlock): ContentBlock => {
      const fault = isMedia(block) ? mediaFault(block) : undefined;
      if (!isMedia(block) || fault === undefined) return block;
      draft.report({
        rule: "media-source",
        at: part.origin,
        message: `This ${block.type} ${fault}; a marker stands for it.`,
        action: "replaced-by-text",
      });
      return mediaMarker(block);
    };
    return withBlock(part, rewriteNested(replace(part.block), replace));
  });
}

function mediaFault(block: ImageBlock | DocumentBlock): string | undefined {
  const source: unknown = block.source;
  if (!isRecord(source) || typeof source.type !== "string") return "has no source";
  if (source.type !== "base64") return hasItsField(source) ? undefined : "has no source";
  if (typeof source.data !== "string" || source.data === "") return "has no data";
  const allowed = block.type === "image" ? IMAGE_MEDIA_TYPES : DOCUMENT_MEDIA_TYPES;
  const isAllowed = typeof source.media_type === "string" && allowed.has(source.media_type);
  return isAllowed ? undefined : "has a media type that the API does not take";
}

/** A source of a kind that we do not know passes. */
function hasItsField(source: JsonRecord): boolean {
  switch (source.type) {
    case "url":
      return typeof source.url === "string";
    case "file":
      return typeof source.file_id === "string";
    case "text":
      return typeof source.data === "string" && source.media_type === "text/plain";
    case "content":
      return typeof source.content === "string" || Array.isArray(source.content);
    default:
      return true;
  }
}

import type { DocumentBlock, ImageBlock, TextBlock } from "../../message.ts";

const IMAGE_MARKER = "[image]";
const DOCUMENT_MARKER = "[document]";

/** A cache mark stays where it was: the prefix up to here is still the prefix to be cached. */
export function mediaMarker(block: ImageBlock | DocumentBlock): TextBlock {
  const text = block.type === "image" ? IMAGE_MARKER : DOCUMENT_MARKER;
  const { cache_control } = block;
  return cache_control ? { type: "text", text, cache_control } : { type: "text", text };
}

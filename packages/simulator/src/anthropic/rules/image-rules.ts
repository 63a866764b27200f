import type { JsonRecord } from "@longhaul/core/internal/messages";
import { imageSize } from "image-size";
import { refuse } from "../wording/refuse.ts";
import { type PlacedBlock, pathOf, recordField, recordsField } from "./checked-body.ts";

/** Standard base64, without line breaks. */
const BASE64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/;

/** Base64 characters to decode. A JPEG may have a preview and a color profile before its size. */
const HEADER_CHARACTERS = 256 * 1_024;

/** Media types by the names of the library that reads images. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  gif: "image/gif",
  jpg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
};

/**
 * Refuses images that the API cannot decode. It reads formats and sizes with the package `image-size`, and not
 * with the reader of core, because the request checker of core is tested against this rule. Pixels are not
 * decoded, so an image with intact headers passes.
 */
export function checkImages(placed: PlacedBlock): void {
  checkImage(placed.block, () => pathOf(placed));
  const { type, block } = placed;
  if (type === "tool_result") checkNested(recordsField(block, "content"), `${pathOf(placed)}.content`);
  if (type !== "document") return;
  const source = recordField(block, "source") ?? {};
  checkNested(recordsField(source, "content"), `${pathOf(placed)}.source.content`);
}

function checkNested(blocks: readonly JsonRecord[], path: string): void {
  for (const [index, block] of blocks.entries()) checkImage(block, () => `${path}.${index}`);
}

function checkImage(block: JsonRecord, path: () => string): void {
  if (block.type !== "image") return;
  const { type, data, media_type: mediaType } = recordField(block, "source") ?? {};
  if (type !== "base64" || typeof data !== "string") return;
  if (!BASE64.test(data)) refuse("imageNotBase64", { path: path() });
  const actual = typeOf(data);
  if (actual === undefined) refuse("imageUnreadable");
  if (actual !== mediaType) refuse("imageOtherType", { path: path(), type: String(mediaType) });
}

/** Returns the media type of an image, or undefined if the data is no complete image header. */
function typeOf(base64: string): string | undefined {
  try {
    const { type, width, height } = imageSize(Buffer.from(base64.slice(0, HEADER_CHARACTERS), "base64"));
    return width > 0 && height > 0 ? MEDIA_TYPES[type ?? ""] : undefined;
  } catch {
    // The library throws for unknown formats and for data that ends too early.
    return undefined;
  }
}

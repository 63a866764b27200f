import { readBase64Image } from "../../messages/image-header.ts";
import type { ContentBlock } from "../../messages/message.ts";
import { field, stringField } from "../../messages/untrusted.ts";

/**
 * Claude bills an image by its area. It scales a large image down, but bills at least LARGEST_IMAGE_TOKENS
 * for it.
 */
const PIXELS_PER_TOKEN = 750;
const LARGEST_IMAGE_TOKENS = 1_500;

/**
 * Returns the minimum number of tokens of an image. Returns 0 for other blocks, and for an image of unknown
 * size.
 */
export function minImageTokens(block: ContentBlock): number {
  const source = block.type === "image" ? field(block, "source") : undefined;
  const data = stringField(source, "type") === "base64" ? stringField(source, "data") : undefined;
  return Math.min(LARGEST_IMAGE_TOKENS, Math.floor(pixelsIn(data ?? "") / PIXELS_PER_TOKEN));
}

/** Returns 0 if the data is not an image, not base64, or ends before the size. */
function pixelsIn(base64: string): number {
  const { size } = readBase64Image(base64) ?? {};
  return size === undefined ? 0 : size.width * size.height;
}

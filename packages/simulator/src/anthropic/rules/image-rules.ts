import type { JsonRecord } from "@longhaul/core/internal/messages";
import { imageTypeOf } from "../../shape/image-type.ts";
import { refuse } from "../wording/refuse.ts";
import { type PlacedBlock, pathOf, recordField, recordsField } from "./checked-body.ts";

/** Standard base64, without line breaks. */
const BASE64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/;

/**
 * Refuses images that the API cannot decode. Pixels are not decoded, so an image with intact headers passes.
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
  const actual = imageTypeOf(data);
  if (actual === undefined) refuse("imageUnreadable");
  if (actual !== mediaType) refuse("imageOtherType", { path: path(), type: String(mediaType) });
}

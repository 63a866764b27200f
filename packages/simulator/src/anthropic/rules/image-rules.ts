import { isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import { readImage } from "../../shape/image-type.ts";
import { refuse } from "../wording/refuse.ts";
import { type PlacedBlock, pathOf, recordField, recordsField, type SentMessage } from "./checked-body.ts";

/** Characters of base64. A pattern of whole groups would overflow the stack for images of some megabytes. */
const BASE64_CHARACTERS = /^[A-Za-z\d+/]*={0,2}$/;
/** Base64 writes three bytes as four characters. */
const GROUP_CHARACTERS = 4;

/** Maximum length of the base64 data of an image. The API calls it 10 MB. */
const MAX_IMAGE_BYTES = 10_485_760;

/** Maximum pixels of a side. */
const MAX_SIDE = 8_000;
/** Maximum pixels of a side in a request with more images than `MANY_IMAGES`. */
const MAX_SIDE_OF_MANY = 2_000;
const MANY_IMAGES = 20;

/** Base64 characters at the start of a PDF that must contain its signature. Readers allow junk before it. */
const PDF_START_CHARACTERS = 1_400;

/**
 * Refuses images that the API cannot decode or that are too large, and data that is no PDF. Pixels are not
 * decoded, so an image with intact headers passes. White space in base64 data passes too, because no source
 * says that the API refuses it.
 */
export class MediaRules {
  readonly #hasMany: boolean;

  constructor(messages: readonly SentMessage[]) {
    let images = 0;
    for (const { blocks } of messages) {
      for (const { block } of blocks) {
        for (const one of [block, ...nestedIn(block)]) if (one.type === "image") images++;
      }
    }
    this.#hasMany = images > MANY_IMAGES;
  }

  check(placed: PlacedBlock): void {
    const { type, block } = placed;
    this.#checkOne(block, () => pathOf(placed));
    if (type !== "tool_result" && type !== "document") return;
    const holder = type === "document" ? "source.content" : "content";
    for (const [index, nested] of nestedIn(block).entries()) {
      this.#checkOne(nested, () => `${pathOf(placed)}.${holder}.${index}`);
    }
  }

  #checkOne(block: JsonRecord, path: () => string): void {
    if (block.type === "document") checkPdf(block, path);
    else if (block.type === "image") this.#checkImage(block, path);
  }

  #checkImage(block: JsonRecord, path: () => string): void {
    const { type, data: sent, media_type: mediaType } = recordField(block, "source") ?? {};
    if (type !== "base64" || typeof sent !== "string") return;
    if (sent === "") refuse("imageEmpty", { path: path() });
    const data = /\s/.test(sent) ? sent.replace(/\s+/g, "") : sent;
    if (!isBase64(data)) refuse("imageNotBase64", { path: path() });
    if (data.length > MAX_IMAGE_BYTES) {
      refuse("imageTooLarge", { path: path(), bytes: data.length, maximum: MAX_IMAGE_BYTES });
    }
    const image = readImage(data);
    if (image === undefined) refuse("imageUnreadable");
    if (image.mediaType !== mediaType) refuse("imageOtherType", { path: path(), type: String(mediaType) });
    if (image.longSide > MAX_SIDE) refuse("imageSide", { path: path(), maximum: MAX_SIDE });
    if (this.#hasMany && image.longSide > MAX_SIDE_OF_MANY) {
      refuse("imageSideOfMany", { path: path(), maximum: MAX_SIDE_OF_MANY });
    }
  }
}

const isBase64 = (data: string): boolean =>
  data.length % GROUP_CHARACTERS === 0 && BASE64_CHARACTERS.test(data);

/** Returns the blocks inside a tool result or a document. */
function nestedIn(block: JsonRecord): readonly JsonRecord[] {
  const holder = block.type === "document" ? (recordField(block, "source") ?? {}) : block;
  const isHolder = block.type === "document" || block.type === "tool_result";
  return isHolder ? recordsField(holder, "content").filter(isRecord) : [];
}

function checkPdf(block: JsonRecord, path: () => string): void {
  const { type, data } = recordField(block, "source") ?? {};
  if (type !== "base64" || typeof data !== "string") return;
  const start = Buffer.from(data.slice(0, PDF_START_CHARACTERS), "base64").toString("latin1");
  if (!start.includes("%PDF-")) refuse("pdfInvalid", { path: path() });
}

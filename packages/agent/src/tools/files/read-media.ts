import { inflateSync } from "node:zlib";
import type { ContentBlock } from "@longhaul/core";
import { type ImageHeader, readImageHeader } from "@longhaul/core/measure";

/**
 * Images and PDFs, recognized by their bytes. We use no parser package: these checks are enough, and a full
 * parser would be one more target for hostile files.
 */

/**
 * Maximum size of an image, in base64 characters: the API's limit. A larger image would make every later call
 * fail too.
 */
const MAX_IMAGE_CHARS = 5 * 1024 * 1024;
/** Maximum width and height of an image. The API rejects larger ones. */
const MAX_IMAGE_SIDE = 8_000;
/**
 * Maximum size of a PDF. Several PDFs of this size fit into a request, which is limited to 32 MB including
 * the conversation.
 */
const MAX_PDF_BYTES = 6 * 1024 * 1024;
/**
 * Maximum number of pages. A page costs 1,500 to 3,000 tokens, so this many pages take about a quarter of a
 * common window.
 */
const MAX_PDF_PAGES = 20;

type MediaReading =
  | { readonly block: ContentBlock /** Description, such as "PNG image, 800×600". */; readonly words: string }
  | { readonly refusal: string };

/**
 * Recognizes an image or PDF by its bytes and prepares it for the model. Returns undefined for all other
 * files.
 */
export function readMedia(bytes: Buffer): MediaReading | undefined {
  const image = readImageHeader(bytes);
  if (image !== undefined) return readImage(bytes, image);
  return isPdf(bytes) ? readPdf(bytes) : undefined;
}

function readImage(bytes: Buffer, { type, size }: ImageHeader): MediaReading {
  const name = `${type.slice("image/".length).toUpperCase()} image`;
  if (size === undefined || size.width === 0 || size.height === 0)
    return { refusal: `It looks like a ${name}, but it is damaged: it contains no valid width and height.` };
  const words = `${name}, ${size.width}×${size.height}`;
  const data = bytes.toString("base64");
  if (size.width > MAX_IMAGE_SIDE || size.height > MAX_IMAGE_SIDE)
    return {
      refusal: `It is a ${words}. Models accept at most ${MAX_IMAGE_SIDE} pixels per side. ${SHRINK}`,
    };
  if (data.length > MAX_IMAGE_CHARS)
    return {
      refusal: `It is a ${words} of ${megabytes(bytes)} MB. Models accept at most 3.75 MB. ${SHRINK}`,
    };
  return { block: { type: "image", source: { type: "base64", media_type: type, data } }, words };
}

const SHRINK = "Make a smaller copy with a command and read that.";
const BY_COMMAND =
  "Extract the text of the pages that you need with a command such as pdftotext -f 1 -l 10, and read that.";

function readPdf(bytes: Buffer): MediaReading {
  const pages = pdfPages(bytes);
  const words = pages === undefined ? "PDF" : `PDF, ${pages} ${pages === 1 ? "page" : "pages"}`;
  if (isLockedPdf(bytes))
    return { refusal: `It is a ${words}, locked with a password, so models cannot read it.` };
  if (bytes.length > MAX_PDF_BYTES)
    return {
      refusal: `It is a ${words} of ${megabytes(bytes)} MB. Read shows at most 6 MB. ${BY_COMMAND}`,
    };
  if (pages !== undefined && pages > MAX_PDF_PAGES)
    return { refusal: `It is a ${words}. Read shows at most ${MAX_PDF_PAGES} pages. ${BY_COMMAND}` };
  const data = bytes.toString("base64");
  return {
    block: { type: "document", source: { type: "base64", media_type: "application/pdf", data } },
    words,
  };
}

const megabytes = (bytes: Buffer): string => (bytes.length / 1024 / 1024).toFixed(1);

/** Range in which PDF readers search for the file header. */
const HEAD_BYTES = 1_024;
const PAGE = /\/Type\s*\/Page(?![a-zA-Z])/g;
/** Pattern of object streams. Newer PDF files store their objects in such streams, including the pages. */
const PACKED = /\/Type\s*\/ObjStm[\s\S]{0,500}?stream\r?\n/g;
/** Maximum unpacked size. An object stream that unpacks to more is not a list of pages. */
const MAX_UNPACKED_BYTES = 1024 * 1024;
/**
 * Maximum number of object streams to unpack. A file of a few pages has only a few object streams. A hostile
 * file could make us unpack a megabyte for each stream.
 */
const MAX_PACKED = 100;

const isPdf = (bytes: Buffer): boolean => bytes.toString("latin1", 0, HEAD_BYTES).includes("%PDF-");

const isLockedPdf = (bytes: Buffer): boolean => /\/Encrypt\s+\d+\s+\d+\s+R/.test(bytes.toString("latin1"));

/** Counts pages as far as possible without parsing the whole file. */
function pdfPages(bytes: Buffer): number | undefined {
  const text = bytes.toString("latin1");
  let pages = text.match(PAGE)?.length ?? 0;
  let packed = 0;
  for (const found of text.matchAll(PACKED)) {
    if (++packed > MAX_PACKED) break;
    pages += unpackedAt(bytes, found.index + found[0].length).match(PAGE)?.length ?? 0;
  }
  return pages === 0 ? undefined : pages;
}

function unpackedAt(bytes: Buffer, from: number): string {
  try {
    // Data after the compressed part is ignored.
    return inflateSync(bytes.subarray(from), { maxOutputLength: MAX_UNPACKED_BYTES }).toString("latin1");
  } catch {
    return "";
  }
}

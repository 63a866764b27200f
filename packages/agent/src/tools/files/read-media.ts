import { inflateSync } from "node:zlib";
import type { ContentBlock } from "@longhaul/core";
import { type ImageHeader, readImageHeader } from "@longhaul/core/measure";

/**
 * Images and PDFs, told by their own bytes. No package reads their pages: a look at the bytes is enough, and a parser of
 * whole files would be one more for a stranger's file to break.
 */

/** The API's limit for one image, in characters of base64. An image that is too large would fail every later call too. */
const MAX_IMAGE_CHARS = 5 * 1024 * 1024;
/** The API refuses images that are wider or higher. */
const MAX_IMAGE_SIDE = 8_000;
/** A few of them fit a request, whose limit is 32 MB with all that was said before. */
const MAX_PDF_BYTES = 6 * 1024 * 1024;
/** A page costs 1,500 to 3,000 tokens: this is a quarter of a common window. */
const MAX_PDF_PAGES = 20;

type MediaReading =
  | { readonly block: ContentBlock /** "PNG image, 800×600". */; readonly words: string }
  | { readonly refusal: string };

/** An image or PDF, told by its bytes, for the model to look at; undefined for everything else. */
export function readMedia(bytes: Buffer): MediaReading | undefined {
  const image = readImageHeader(bytes);
  if (image !== undefined) return readImage(bytes, image);
  return isPdf(bytes) ? readPdf(bytes) : undefined;
}

function readImage(bytes: Buffer, { type, size }: ImageHeader): MediaReading {
  const name = `${type.slice("image/".length).toUpperCase()} image`;
  if (size === undefined || size.width === 0 || size.height === 0)
    return { refusal: `It begins like a ${name} but is damaged: it does not say how large it is.` };
  const words = `${name}, ${size.width}×${size.height}`;
  const data = bytes.toString("base64");
  if (size.width > MAX_IMAGE_SIDE || size.height > MAX_IMAGE_SIDE)
    return { refusal: `It is a ${words}; models take at most ${MAX_IMAGE_SIDE} pixels a side. ${SHRINK}` };
  if (data.length > MAX_IMAGE_CHARS)
    return { refusal: `It is a ${words} of ${megabytes(bytes)} MB; models take at most 3.75 MB. ${SHRINK}` };
  return { block: { type: "image", source: { type: "base64", media_type: type, data } }, words };
}

const SHRINK = "Make a smaller copy with a command and read that.";
const BY_COMMAND =
  "Take out the text of the pages you need with a command such as pdftotext -f 1 -l 10, and read that.";

function readPdf(bytes: Buffer): MediaReading {
  const pages = pdfPages(bytes);
  const words = pages === undefined ? "PDF" : `PDF, ${pages} ${pages === 1 ? "page" : "pages"}`;
  if (isLockedPdf(bytes))
    return { refusal: `It is a ${words}, locked with a password: models cannot read it.` };
  if (bytes.length > MAX_PDF_BYTES)
    return {
      refusal: `It is a ${words} of ${megabytes(bytes)} MB; at most 6 MB are read at once. ${BY_COMMAND}`,
    };
  if (pages !== undefined && pages > MAX_PDF_PAGES)
    return { refusal: `It is a ${words}; at most ${MAX_PDF_PAGES} are read at once. ${BY_COMMAND}` };
  const data = bytes.toString("base64");
  return {
    block: { type: "document", source: { type: "base64", media_type: "application/pdf", data } },
    words,
  };
}

const megabytes = (bytes: Buffer): string => (bytes.length / 1024 / 1024).toFixed(1);

/** Programs look for the mark there. */
const HEAD_BYTES = 1_024;
const PAGE = /\/Type\s*\/Page(?![a-zA-Z])/g;
/** Streams in which newer files keep their objects, pages among them. */
const PACKED = /\/Type\s*\/ObjStm[\s\S]{0,500}?stream\r?\n/g;
/** One that unpacks to more is not a list of pages. */
const MAX_UNPACKED_BYTES = 1024 * 1024;
/** A file of a few pages has a handful. In one that was made for it, each would be unpacked to a megabyte. */
const MOST_PACKED = 100;

const isPdf = (bytes: Buffer): boolean => bytes.toString("latin1", 0, HEAD_BYTES).includes("%PDF-");

const isLockedPdf = (bytes: Buffer): boolean => /\/Encrypt\s+\d+\s+\d+\s+R/.test(bytes.toString("latin1"));

/** How many pages it has, as far as it shows without being read as a whole. */
function pdfPages(bytes: Buffer): number | undefined {
  const text = bytes.toString("latin1");
  let pages = text.match(PAGE)?.length ?? 0;
  let packed = 0;
  for (const found of text.matchAll(PACKED)) {
    if (++packed > MOST_PACKED) break;
    pages += unpackedAt(bytes, found.index + found[0].length).match(PAGE)?.length ?? 0;
  }
  return pages === 0 ? undefined : pages;
}

function unpackedAt(bytes: Buffer, from: number): string {
  try {
    // What follows the packed part is not looked at.
    return inflateSync(bytes.subarray(from), { maxOutputLength: MAX_UNPACKED_BYTES }).toString("latin1");
  } catch {
    return "";
  }
}

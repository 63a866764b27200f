import { inflateSync } from "node:zlib";

/** Programs look for the mark there. */
const HEAD_BYTES = 1_024;
const PAGE = /\/Type\s*\/Page(?![a-zA-Z])/g;
/** Where newer files keep their objects, pages among them. */
const PACKED = /\/Type\s*\/ObjStm[\s\S]{0,500}?stream\r?\n/g;
/** One that unpacks to more is not a list of pages. */
const MAX_UNPACKED_BYTES = 1024 * 1024;
/** A file of a few pages has a handful. In one that was made for it, each would be unpacked to a megabyte. */
const MOST_PACKED = 100;

export const isPdf = (bytes: Buffer): boolean => bytes.toString("latin1", 0, HEAD_BYTES).includes("%PDF-");

export const isLockedPdf = (bytes: Buffer): boolean =>
  /\/Encrypt\s+\d+\s+\d+\s+R/.test(bytes.toString("latin1"));

/** How many pages it has, as far as it shows without being read as a whole. */
export function pdfPages(bytes: Buffer): number | undefined {
  const text = bytes.toString("latin1");
  let pages = text.match(PAGE)?.length ?? 0;
  let packed = 0;
  for (const found of text.matchAll(PACKED)) {
    if (++packed > MOST_PACKED) break;
    pages += unpacked(bytes, found.index + found[0].length).match(PAGE)?.length ?? 0;
  }
  return pages === 0 ? undefined : pages;
}

function unpacked(bytes: Buffer, from: number): string {
  try {
    // What follows the packed part is not looked at.
    return inflateSync(bytes.subarray(from), { maxOutputLength: MAX_UNPACKED_BYTES }).toString("latin1");
  } catch {
    return "";
  }
}

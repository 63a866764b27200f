/**
 * Our own reader of image headers: the package `image-size` does the same for more formats, but the core has no
 * dependencies and imports nothing from node. These are the four formats that models take.
 */
import type { ContentBlock } from "../conversation/message.ts";
import { field, stringField } from "../conversation/untrusted.ts";

/** Claude bills a picture by its area. It scales a larger picture down, to no fewer tokens than the largest. */
const PIXELS_PER_TOKEN = 750;
const LARGEST_IMAGE_TOKENS = 1_500;

/** Base64 characters of the header. A JPEG may have a preview and a color profile before its size. */
const HEADER_CHARACTERS = 128 * 1_024;

/** Fewest tokens that a picture takes. 0 where the block does not show its size, and for every other block. */
export function leastImageTokens(block: ContentBlock): number {
  const source = block.type === "image" ? field(block, "source") : undefined;
  const data = stringField(source, "type") === "base64" ? stringField(source, "data") : undefined;
  return Math.min(LARGEST_IMAGE_TOKENS, Math.floor(pixelsIn(data ?? "") / PIXELS_PER_TOKEN));
}

/** 0 for what is no image, is not base64, or ends before it states its size. */
function pixelsIn(base64: string): number {
  try {
    const header = atob(base64.slice(0, HEADER_CHARACTERS));
    return pixelsOf(header, new DataView(Uint8Array.from(header, (byte) => byte.charCodeAt(0)).buffer));
  } catch {
    // Thrown by `atob`, or by the view for a read behind its end.
    return 0;
  }
}

/** The format shows in how the file begins, whatever its name says. */
function pixelsOf(header: string, view: DataView): number {
  if (header.startsWith("\x89PNG\r\n\x1a\n")) return view.getUint32(16) * view.getUint32(20);
  if (/^GIF8[79]a/.test(header)) return view.getUint16(6, true) * view.getUint16(8, true);
  if (header.startsWith("\xff\xd8\xff")) return jpegPixels(view);
  return /^RIFF.{4}WEBP/s.test(header) ? webpPixels(header.slice(12, 16), view) : 0;
}

/** Markers of frames are 0xC0 to 0xCF, but for three that mean tables. */
const NO_FRAMES: readonly number[] = [0xc4, 0xc8, 0xcc];

function jpegPixels(view: DataView): number {
  for (let at = 2; view.getUint8(at) === 0xff; ) {
    const marker = view.getUint8(at + 1);
    if (marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.includes(marker))
      return view.getUint16(at + 5) * view.getUint16(at + 7);
    // Markers may be padded with more of 0xFF.
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
  return 0;
}

function webpPixels(form: string, view: DataView): number {
  const threeBytes = (at: number): number => view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000;
  switch (form) {
    case "VP8X":
      return (threeBytes(24) + 1) * (threeBytes(27) + 1);
    case "VP8L": {
      const bits = view.getUint32(21, true);
      return ((bits & 0x3fff) + 1) * (((bits >> 14) & 0x3fff) + 1);
    }
    case "VP8 ":
      return (view.getUint16(26, true) & 0x3fff) * (view.getUint16(28, true) & 0x3fff);
    default:
      return 0;
  }
}

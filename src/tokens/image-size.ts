import type { ContentBlock } from "../conversation/message.ts";
import { field, stringField } from "../conversation/untrusted.ts";

/** The agent has a reader of its own: it is built on the public entries alone. */
interface ImageSize {
  readonly width: number;
  readonly height: number;
}

type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** Claude bills a picture by its area. It scales a larger picture down, to no fewer tokens than the largest. */
const PIXELS_PER_TOKEN = 750;
const LARGEST_IMAGE_TOKENS = 1_500;

/** Base64 characters of the header. A JPEG may have a preview and a color profile before its size. */
const HEADER_CHARACTERS = 128 * 1_024;

/** Fewest tokens that a picture takes. 0 where the block does not show its size, and for every other block. */
export function leastImageTokens(block: ContentBlock): number {
  const source = block.type === "image" ? field(block, "source") : undefined;
  const data = stringField(source, "type") === "base64" ? stringField(source, "data") : undefined;
  const bytes = data === undefined ? undefined : decoded(data.slice(0, HEADER_CHARACTERS));
  const type = bytes && imageTypeOf(bytes);
  const { width, height } = (bytes && type && imageSize(bytes, type)) ?? { width: 0, height: 0 };
  return Math.min(LARGEST_IMAGE_TOKENS, Math.floor((width * height) / PIXELS_PER_TOKEN));
}

function decoded(base64: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** By how it begins, whatever its name says; undefined for what models do not take as an image. */
function imageTypeOf(bytes: Uint8Array): ImageType | undefined {
  const name = latin1(bytes, 0, 12);
  if (name.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (name.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (name.startsWith("GIF87a") || name.startsWith("GIF89a")) return "image/gif";
  return name.startsWith("RIFF") && name.endsWith("WEBP") ? "image/webp" : undefined;
}

/** In pixels; undefined where the file ends before it says so. */
function imageSize(bytes: Uint8Array, type: ImageType): ImageSize | undefined {
  try {
    return SIZES[type](bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch (error) {
    // A view answers so to a read behind its end.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const SIZES: Readonly<Record<ImageType, (bytes: Uint8Array, view: DataView) => ImageSize | undefined>> = {
  "image/png": (_, view) => ({ width: view.getUint32(16), height: view.getUint32(20) }),
  "image/gif": (_, view) => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) }),
  "image/jpeg": (_, view) => jpegSize(view),
  "image/webp": webpSize,
};

/** Markers of frames are 0xC0 to 0xCF, but for three that mean tables. */
const NO_FRAMES: readonly number[] = [0xc4, 0xc8, 0xcc];

function jpegSize(view: DataView): ImageSize | undefined {
  for (let at = 2; ; ) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      // Padding before a marker.
      at += 1;
      continue;
    }
    if (marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.includes(marker))
      return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    at += 2 + view.getUint16(at + 2);
  }
}

function webpSize(bytes: Uint8Array, view: DataView): ImageSize | undefined {
  const threeBytes = (at: number): number => view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000;
  switch (latin1(bytes, 12, 16)) {
    case "VP8X":
      return { width: threeBytes(24) + 1, height: threeBytes(27) + 1 };
    case "VP8L": {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case "VP8 ":
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    default:
      return undefined;
  }
}

const latin1 = (bytes: Uint8Array, from: number, to: number): string =>
  String.fromCharCode(...bytes.subarray(from, to));

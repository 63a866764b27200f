/**
 * Our own reader of image headers. The package `image-size` supports more formats, but the core has no
 * dependencies and imports nothing from Node. Models accept the four formats here.
 */
import type { ContentBlock } from "../../messages/message.ts";
import { field, stringField } from "../../messages/untrusted.ts";

/**
 * Claude bills an image by its area. It scales a large image down, but bills at least LARGEST_IMAGE_TOKENS
 * for it.
 */
const PIXELS_PER_TOKEN = 750;
const LARGEST_IMAGE_TOKENS = 1_500;

/** Base64 characters to read as the header. A JPEG may have a preview and a color profile before its size. */
const HEADER_CHARACTERS = 128 * 1_024;

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
  try {
    const header = atob(base64.slice(0, HEADER_CHARACTERS));
    const { size } = readImageHeader(Uint8Array.from(header, (byte) => byte.charCodeAt(0))) ?? {};
    return size === undefined ? 0 : size.width * size.height;
  } catch {
    // `atob` throws for a text that is not base64.
    return 0;
  }
}

type ImageSize = Readonly<Record<"width" | "height", number>>;
type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

export interface ImageHeader {
  readonly type: ImageType;
  /** Size in pixels. Undefined if the data ends before the size. */
  readonly size: ImageSize | undefined;
}

/**
 * Reads format and size from the first bytes of an image, whatever its file name says. Returns undefined for
 * formats that models do not accept.
 */
export function readImageHeader(bytes: Uint8Array): ImageHeader | undefined {
  const type = imageType(String.fromCharCode(...bytes.subarray(0, 12)));
  if (type === undefined) return undefined;
  try {
    return { type, size: SIZES[type](new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)) };
  } catch (error) {
    // A DataView throws a RangeError for a read past its end.
    if (error instanceof RangeError) return { type, size: undefined };
    throw error;
  }
}

function imageType(start: string): ImageType | undefined {
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (/^GIF8[79]a/.test(start)) return "image/gif";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  return /^RIFF.{4}WEBP/s.test(start) ? "image/webp" : undefined;
}

const SIZES: Readonly<Record<ImageType, (view: DataView) => ImageSize | undefined>> = {
  "image/png": (view) => ({ width: view.getUint32(16), height: view.getUint32(20) }),
  "image/gif": (view) => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) }),
  "image/jpeg": jpegSize,
  "image/webp": webpSize,
};

/** Frame markers are 0xC0 to 0xCF, except for these three, which mark tables. */
const NO_FRAMES: readonly number[] = [0xc4, 0xc8, 0xcc];

function jpegSize(view: DataView): ImageSize | undefined {
  for (let at = 2; view.getUint8(at) === 0xff; ) {
    const marker = view.getUint8(at + 1);
    if (marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.includes(marker))
      return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    // Additional 0xFF bytes may pad a marker.
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
  return undefined;
}

function webpSize(view: DataView): ImageSize | undefined {
  const threeBytes = (at: number): number => view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000;
  switch (String.fromCharCode(...[12, 13, 14, 15].map((at) => view.getUint8(at)))) {
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

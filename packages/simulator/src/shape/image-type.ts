import { imageSize } from "image-size";

/**
 * Base64 characters to decode at first. A JPEG may have a preview and a color profile before its size. If they are
 * larger, the whole image is decoded.
 */
const HEADER_CHARACTERS = 256 * 1_024;

/** Media types by the names of the library that reads images. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  gif: "image/gif",
  jpg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
};

export interface ImageHeader {
  readonly mediaType: string;
  /** Pixels of the longer side. */
  readonly longSide: number;
}

/**
 * Reads the header of an image. Returns undefined if the data is no complete image header. It reads formats
 * and sizes with the package `image-size`, and not with the reader of core, because the request checker of
 * core is tested against the rules of the simulator.
 */
export function readImage(base64: string): ImageHeader | undefined {
  const image = headerIn(base64.slice(0, HEADER_CHARACTERS));
  return image === undefined && base64.length > HEADER_CHARACTERS ? headerIn(base64) : image;
}

/** Returns the bytes up to the end of the size, because the library reads missing bytes as zero. */
function headerBytes(type: string | undefined, bytes: Buffer): number {
  if (type === "png") return 24;
  if (type === "webp") return bytes.toString("latin1", 12, 16) === "VP8L" ? 25 : 30;
  return 10;
}

function headerIn(base64: string): ImageHeader | undefined {
  try {
    const bytes = Buffer.from(base64, "base64");
    const { type, width, height } = imageSize(bytes);
    const isWhole = width > 0 && height > 0 && bytes.length >= headerBytes(type, bytes);
    const mediaType = isWhole ? MEDIA_TYPES[type ?? ""] : undefined;
    return mediaType === undefined ? undefined : { mediaType, longSide: Math.max(width, height) };
  } catch {
    // The library throws for unknown formats and for data that ends too early.
    return undefined;
  }
}

/** Returns the media type of an image, or undefined if the data is no complete image header. */
export const imageTypeOf = (base64: string): string | undefined => readImage(base64)?.mediaType;

import { imageSize } from "image-size";

/** Base64 characters to decode. A JPEG may have a preview and a color profile before its size. */
const HEADER_CHARACTERS = 256 * 1_024;

/** Media types by the names of the library that reads images. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  gif: "image/gif",
  jpg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
};

/**
 * Returns the media type of an image, or undefined if the data is no complete image header. It reads formats
 * and sizes with the package `image-size`, and not with the reader of core, because the request checker of
 * core is tested against the rules of the simulator.
 */
export function imageTypeOf(base64: string): string | undefined {
  try {
    const { type, width, height } = imageSize(Buffer.from(base64.slice(0, HEADER_CHARACTERS), "base64"));
    return width > 0 && height > 0 ? MEDIA_TYPES[type ?? ""] : undefined;
  } catch {
    // The library throws for unknown formats and for data that ends too early.
    return undefined;
  }
}

/**
 * Our own reader of image headers. The package `image-size` supports more formats, but the core has no
 * dependencies and imports nothing from Node. Models accept the four formats here.
 */
export type ImageSize = Readonly<Record<"width" | "height", number>>;
export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

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
  const type = imageType(String.fromCharCode(...bytes.subarray(0, MAGIC_BYTES)));
  if (type === undefined) return undefined;
  try {
    return { type, size: SIZES[type](new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)) };
  } catch (error) {
    // A DataView throws a RangeError for a read past its end.
    if (error instanceof RangeError) return { type, size: undefined };
    throw error;
  }
}

/** Base64 characters to read at first. A JPEG may have a preview and a color profile before its size. */
const HEADER_CHARACTERS = 128 * 1_024;
/** Base64 writes three bytes as four characters. */
const GROUP_CHARACTERS = 4;

/**
 * Reads format and size of an image from its base64 data, which may contain white space. Returns undefined if the
 * data is not base64 or no image of a format that models accept.
 */
export function readBase64Image(base64: string): ImageHeader | undefined {
  if (base64.length > HEADER_CHARACTERS) {
    const header = headerIn(base64, HEADER_CHARACTERS);
    if (header === undefined || header.size !== undefined) return header;
  }
  // `atob` accepts data without padding, but the API does not.
  const isPadded = base64.replace(/\s+/g, "").length % GROUP_CHARACTERS === 0;
  return isPadded ? headerIn(base64, base64.length) : undefined;
}

function headerIn(base64: string, characters: number): ImageHeader | undefined {
  const start = startOfBase64(base64, characters);
  return start === undefined
    ? undefined
    : readImageHeader(Uint8Array.from(start, (byte) => byte.charCodeAt(0)));
}

/**
 * Decodes the first characters of base64 data, which may contain white space, as far as they form whole groups. Each
 * character of the result is one byte. Returns undefined if the data is not base64.
 */
export function startOfBase64(base64: string, characters: number): string | undefined {
  const start = base64.slice(0, characters).replace(/\s+/g, "");
  try {
    return atob(start.slice(0, start.length - (start.length % GROUP_CHARACTERS)));
  } catch {
    // `atob` throws for a text that is not base64.
    return undefined;
  }
}

/** Bytes at the start of an image that name its format. */
const MAGIC_BYTES = 12;

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

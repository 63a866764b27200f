export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** By how it begins, whatever its name says; undefined for what models do not take as an image. */
export function imageTypeOf(bytes: Buffer): ImageType | undefined {
  if (bytes.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])))
    return "image/png";
  if (bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) return "image/jpeg";
  const name = bytes.toString("latin1", 0, 12);
  if (name.startsWith("GIF87a") || name.startsWith("GIF89a")) return "image/gif";
  return name.startsWith("RIFF") && name.endsWith("WEBP") ? "image/webp" : undefined;
}

/** In pixels; undefined where the file ends before it says so. */
export function imageSize(bytes: Buffer, type: ImageType): ImageSize | undefined {
  try {
    return SIZES[type](bytes);
  } catch (error) {
    // Buffers answer so to a read behind their end.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const SIZES: Readonly<Record<ImageType, (bytes: Buffer) => ImageSize | undefined>> = {
  "image/png": (bytes) => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }),
  "image/gif": (bytes) => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }),
  "image/jpeg": jpegSize,
  "image/webp": webpSize,
};

/** Markers of frames are 0xC0 to 0xCF, but for three that mean tables. */
const NO_FRAMES: readonly number[] = [0xc4, 0xc8, 0xcc];

function jpegSize(bytes: Buffer): ImageSize | undefined {
  for (let at = 2; ; ) {
    if (bytes.readUInt8(at) !== 0xff) return undefined;
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) {
      // Padding before a marker.
      at += 1;
      continue;
    }
    if (marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.includes(marker))
      return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
}

function webpSize(bytes: Buffer): ImageSize | undefined {
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case "VP8 ":
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    default:
      return undefined;
  }
}

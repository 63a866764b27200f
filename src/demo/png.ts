/** Two bits per pixel: index into the palette. */
export type Shade = 0 | 1 | 2 | 3;

export interface Picture {
  readonly width: number;
  readonly height: number;
  shadeAt(x: number, y: number): Shade;
}

/** Paper, grid, sea, ink. */
const PALETTE = [0xf7, 0xf4, 0xea, 0xc9, 0xd3, 0xd6, 0x7f, 0xb2, 0xc8, 0x1d, 0x2b, 0x3a];
const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const PIXELS_PER_BYTE = 4;
const LARGEST_STORED_BLOCK_BYTES = 65_535;

/** A valid PNG whose pixels are stored, not compressed: no zlib needed, and the same bytes everywhere. */
export function pngAsBase64(picture: Picture): string {
  const header = [...bigEndian(picture.width), ...bigEndian(picture.height), 2, 3, 0, 0, 0];
  const bytes = [
    ...SIGNATURE,
    ...chunk("IHDR", header),
    ...chunk("PLTE", PALETTE),
    ...chunk("IDAT", storedZlib(scanlines(picture))),
    ...chunk("IEND", []),
  ];
  return btoa(bytes.map((byte) => String.fromCharCode(byte)).join(""));
}

function scanlines(picture: Picture): number[] {
  const bytes: number[] = [];
  for (let y = 0; y < picture.height; y++) {
    bytes.push(0);
    for (let x = 0; x < picture.width; x += PIXELS_PER_BYTE) {
      let packed = 0;
      for (let offset = 0; offset < PIXELS_PER_BYTE; offset++) {
        packed = (packed << 2) | (x + offset < picture.width ? picture.shadeAt(x + offset, y) : 0);
      }
      bytes.push(packed);
    }
  }
  return bytes;
}

function storedZlib(raw: readonly number[]): number[] {
  const bytes = [0x78, 0x01];
  for (let start = 0; start < raw.length; start += LARGEST_STORED_BLOCK_BYTES) {
    const block = raw.slice(start, start + LARGEST_STORED_BLOCK_BYTES);
    const isLast = start + block.length >= raw.length;
    const [low, high] = [block.length & 0xff, block.length >> 8];
    bytes.push(isLast ? 1 : 0, low, high, ~low & 0xff, ~high & 0xff, ...block);
  }
  return [...bytes, ...bigEndian(adler32(raw))];
}

function chunk(name: string, data: readonly number[]): number[] {
  const body = [...name].map((letter) => letter.charCodeAt(0)).concat(data);
  return [...bigEndian(data.length), ...body, ...bigEndian(crc32(body))];
}

const bigEndian = (value: number): number[] => [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff);

function adler32(bytes: readonly number[]): number {
  let [low, high] = [1, 0];
  for (const byte of bytes) {
    low = (low + byte) % 65_521;
    high = (high + low) % 65_521;
  }
  return ((high << 16) | low) >>> 0;
}

function crc32(bytes: readonly number[]): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb8_8320 : crc >>> 1;
  }
  return (crc ^ 0xffff_ffff) >>> 0;
}

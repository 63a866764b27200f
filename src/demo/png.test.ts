import { crc32, inflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { pngAsBase64, type Shade } from "./png.ts";

const picture = { width: 401, height: 700, shadeAt: (x: number, y: number): Shade => ((x + y) % 4) as Shade };

function chunksOf(bytes: Buffer): { name: string; data: Buffer; isIntact: boolean }[] {
  const chunks = [];
  for (let at = 8; at < bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at);
    const isIntact = crc32(bytes.subarray(at + 4, end)) === bytes.readUInt32BE(end);
    chunks.push({
      name: bytes.toString("latin1", at + 4, at + 8),
      data: bytes.subarray(at + 8, end),
      isIntact,
    });
    at = end + 4;
  }
  return chunks;
}

describe("the demo's pictures", () => {
  const chunks = chunksOf(Buffer.from(pngAsBase64(picture), "base64"));

  it("are PNG files with intact chunks in the order the format asks for", () => {
    expect(chunks.map(({ name }) => name)).toEqual(["IHDR", "PLTE", "IDAT", "IEND"]);
    expect(chunks.every(({ isIntact }) => isIntact)).toBe(true);
  });

  it("hold every pixel, also when they need more than one stored block", () => {
    const raw = inflateSync(chunks[2]?.data ?? Buffer.alloc(0));
    const bytesPerRow = 1 + Math.ceil(picture.width / 4);
    expect(raw.length).toBe(bytesPerRow * picture.height);
    expect(raw.length).toBeGreaterThan(65_535);
    expect(raw[bytesPerRow * 2 + 1]).toBe(0b10_11_00_01);
  });
});

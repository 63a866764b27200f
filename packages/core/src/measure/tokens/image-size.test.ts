import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ContentBlock } from "../../messages/message.ts";
import { minImageTokens } from "./image-size.ts";

const png = (width: number, height: number): Buffer => {
  const bytes = Buffer.alloc(33);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};

const picture = (bytes: Uint8Array): ContentBlock => ({
  type: "image",
  source: { type: "base64", media_type: "image/png", data: Buffer.from(bytes).toString("base64") },
});

describe("minImageTokens", () => {
  it("counts an image by its area, but at most 1,500 tokens", () => {
    const side = fc.integer({ min: 1, max: 8_000 });
    fc.assert(
      fc.property(side, side, (width, height) => {
        const expected = Math.min(1_500, Math.floor((width * height) / 750));
        expect(minImageTokens(picture(png(width, height)))).toBe(expected);
      }),
    );
  });

  it("counts 0 tokens for an image of unknown size", () => {
    const url = { type: "image", source: { type: "url", url: "https://example.com/a.png" } };
    const broken = { type: "image", source: { type: "base64", media_type: "image/png", data: "%%%" } };
    const blocks = [url, broken, { type: "image" }, { type: "image", source: 7 }, { type: "document" }];
    for (const block of blocks) expect(minImageTokens(block as ContentBlock)).toBe(0);
  });

  it("counts a valid number of tokens for any image bytes", () => {
    const starts = fc.constantFrom([], [0xff, 0xd8, 0xff], [...png(3, 4)], [...Buffer.from("GIF89a")]);
    fc.assert(
      fc.property(starts, fc.uint8Array({ maxLength: 64 }), (start, rest) => {
        const tokens = minImageTokens(picture(Uint8Array.from([...start, ...rest])));
        expect(tokens).toBeGreaterThanOrEqual(0);
        expect(tokens).toBeLessThanOrEqual(1_500);
      }),
    );
  });
});

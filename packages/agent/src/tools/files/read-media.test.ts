import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { answerOf, callTool, filePlace } from "../../../../../test/support/file-place.ts";
import { temporaryFolder } from "../../../../../test/transcript/temporary-folder.ts";
import { readTool } from "./read-file.ts";
import { readMedia } from "./read-media.ts";

function png(width: number, height: number, more = 0): Buffer {
  const head = Buffer.from([
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52,
  ]);
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  return Buffer.concat([head, size, Buffer.alloc(more)]);
}

function gif(width: number, height: number): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt16LE(width, 0);
  size.writeUInt16LE(height, 2);
  return Buffer.concat([Buffer.from("GIF89a"), size]);
}

/** Builds a JPEG with a segment and padding before the frame, like a file from a camera. */
function jpeg(width: number, height: number): Buffer {
  const frame = Buffer.from([0xff, 0xff, 0xc2, 0, 17, 8, 0, 0, 0, 0, 3]);
  frame.writeUInt16BE(height, 6);
  frame.writeUInt16BE(width, 8);
  return Buffer.concat([
    Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 6, 1, 2, 3, 4, 0xff, 0xc4, 0, 4, 9, 9]),
    frame,
  ]);
}

function webp(kind: "VP8X" | "VP8L" | "VP8 ", width: number, height: number): Buffer {
  const bytes = Buffer.alloc(40);
  bytes.write("RIFF....WEBP", "latin1");
  bytes.write(kind, 12, "latin1");
  if (kind === "VP8X") {
    bytes.writeUIntLE(width - 1, 24, 3);
    bytes.writeUIntLE(height - 1, 27, 3);
  } else if (kind === "VP8L") bytes.writeUInt32LE(((height - 1) << 14) | (width - 1), 21);
  else {
    bytes.writeUInt16LE(width, 26);
    bytes.writeUInt16LE(height, 28);
  }
  return bytes;
}

function pdf(pages: number, more = ""): Buffer {
  return Buffer.from(`%PDF-1.4\n<< /Type /Pages >>\n${"<< /Type /Page >>\n".repeat(pages)}${more}`);
}

const packedPdf = (pages: number): Buffer =>
  Buffer.concat([
    Buffer.from("%PDF-1.7\n1 0 obj << /Type /ObjStm /N 3 /Filter /FlateDecode >>\nstream\r\n"),
    deflateSync(Buffer.from("<</Type/Page>>".repeat(pages))),
    Buffer.from("\nendstream"),
  ]);

const wordsOf = (bytes: Buffer): string | undefined => {
  const media = readMedia(bytes);
  return media && ("refusal" in media ? `REFUSED: ${media.refusal}` : media.words);
};

describe("readMedia for images", () => {
  it("recognizes an image by its bytes, and reports its size", () => {
    expect(wordsOf(png(800, 600))).toBe("PNG image, 800×600");
    expect(wordsOf(gif(3, 4))).toBe("GIF image, 3×4");
    expect(wordsOf(jpeg(640, 480))).toBe("JPEG image, 640×480");
    expect(wordsOf(webp("VP8X", 5_000, 7))).toBe("WEBP image, 5000×7");
    expect(wordsOf(webp("VP8L", 300, 8_000))).toBe("WEBP image, 300×8000");
    expect(wordsOf(webp("VP8 ", 300, 200))).toBe("WEBP image, 300×200");
    expect(wordsOf(Buffer.from("<svg/>"))).toBeUndefined();
  });

  it("refuses an image that the provider would reject", () => {
    expect(wordsOf(png(8_001, 10))).toMatch(/^REFUSED: .*8000 pixels per side/);
    expect(wordsOf(png(10, 10, 4 * 1024 * 1024))).toMatch(/^REFUSED: .*3\.75 MB/);
    expect(wordsOf(png(10, 10).subarray(0, 18))).toMatch(/^REFUSED: .*damaged/);
    expect(wordsOf(png(0, 10))).toMatch(/^REFUSED: .*damaged/);
    expect(wordsOf(jpeg(1, 1).subarray(0, 18))).toMatch(/^REFUSED: .*damaged/);
    expect(wordsOf(webp("VP8X", 5, 5).fill("ABCD", 12, 16))).toMatch(/^REFUSED: .*damaged/);
  });
});

describe("readMedia for PDFs", () => {
  it("limits the time to inspect a PDF with huge compressed streams", () => {
    const bomb = Buffer.concat([
      Buffer.from("/Type /ObjStm >>\nstream\n"),
      deflateSync(Buffer.alloc(3 * 1024 * 1024)),
    ]);
    const startedAt = performance.now();
    wordsOf(Buffer.concat([pdf(1), ...Array.from({ length: 1_500 }, () => bomb)]));
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it("accepts a short PDF, even if its pages are compressed", () => {
    expect(wordsOf(pdf(1))).toBe("PDF, 1 page");
    expect(wordsOf(pdf(20))).toBe("PDF, 20 pages");
    expect(wordsOf(packedPdf(7))).toBe("PDF, 7 pages");
    expect(wordsOf(pdf(0))).toBe("PDF");
    expect(wordsOf(packedPdf(7).fill(0, 80))).toBe("PDF");
  });

  it("refuses a PDF that is too long, too large or encrypted", () => {
    expect(wordsOf(pdf(21))).toMatch(/^REFUSED: .*21 pages\. Read shows at most 20 pages/);
    expect(wordsOf(packedPdf(50))).toMatch(/^REFUSED: .*50 pages/);
    expect(wordsOf(pdf(2, " ".repeat(7 * 1024 * 1024)))).toMatch(/^REFUSED: .*at most 6 MB/);
    expect(wordsOf(pdf(2, "trailer << /Encrypt 5 0 R >>"))).toMatch(/^REFUSED: .*password/);
  });
});

describe("images and PDFs in results of the Read tool", () => {
  const cwd = realpathSync(temporaryFolder());
  const read = readTool(filePlace(cwd));

  it("the Read tool returns an image as an image block on each read, whatever the file name", async () => {
    writeFileSync(join(cwd, "photo.txt"), gif(3, 4));
    const source = { type: "base64", media_type: "image/gif", data: gif(3, 4).toString("base64") };
    for (const _ of [1, 2]) {
      const { content, summary } = await callTool(read, { file_path: "photo.txt" });
      expect(content).toEqual([
        { type: "text", text: "photo.txt: GIF image, 3×4" },
        { type: "image", source },
      ]);
      expect(summary).toBe("GIF image, 3×4");
    }
  });

  it("the Read tool returns a PDF as a document block, and a text file named .png as text", async () => {
    writeFileSync(join(cwd, "a.pdf"), pdf(2));
    writeFileSync(join(cwd, "fake.png"), "text\n");
    const { content } = await callTool(read, { file_path: "a.pdf" });
    expect(content[1]).toMatchObject({ type: "document", source: { media_type: "application/pdf" } });
    expect(await answerOf(read, { file_path: "fake.png" })).toBe("     1\ttext");
  });
});

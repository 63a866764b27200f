import { writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { cachingTail, lastLineWith, lineStartAt, readerOf } from "./file-bytes.ts";

const path = join(temporaryFolder(), "file");
const MARK = Buffer.from('"compact_boundary"');

describe("searching a file from its end", () => {
  it("finds the last line that contains the given bytes, wherever chunks begin and end", async () => {
    const size = 3_000_000;
    const lineLength = fc.constantFrom(100, 10_000, 500_000);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(size - 100),
        fc.nat(size),
        lineLength,
        fc.boolean(),
        async (at, before, length, isCached) => {
          const bytes = Buffer.alloc(size, "x");
          for (let newline = length; newline < size; newline += length) bytes[newline] = 0x0a;
          MARK.copy(bytes, at);
          writeFileSync(path, bytes);
          const handle = await open(path, "r");
          const expected = at + MARK.length <= before ? bytes.lastIndexOf(0x0a, at - 1) + 1 : undefined;
          const readAt = isCached ? cachingTail(readerOf(handle), size) : readerOf(handle);
          expect(await lastLineWith(readAt, MARK, before)).toBe(
            at === 0 && expected !== undefined ? 0 : expected,
          );
          await handle.close();
        },
      ),
      { numRuns: 60 },
    );
  });

  it("finds bytes that cross the border between two chunks", async () => {
    const size = 500_000;
    const seams = [size - 64 * 1024, size - 64 * 1024 - 256 * 1024];
    for (const at of seams.flatMap((seam) => [seam - MARK.length, seam - MARK.length + 1, seam - 1, seam])) {
      const bytes = Buffer.alloc(size, "x");
      MARK.copy(bytes, at);
      bytes[at - 1] = 0x0a;
      writeFileSync(path, bytes);
      const handle = await open(path, "r");
      expect(await lastLineWith(readerOf(handle), MARK, size)).toBe(at);
      await handle.close();
    }
  });

  it("reads the same bytes with and without the end of the file cached in memory", async () => {
    const size = 6_000_000;
    writeFileSync(path, Buffer.from(Uint8Array.from({ length: size }, (_, at) => (at * 7919) % 251)));
    const place = fc.tuple(fc.nat(size), fc.constantFrom(1, 5_000, 1_000_000));
    const handle = await open(path, "r");
    await fc.assert(
      fc.asyncProperty(fc.array(place, { minLength: 1, maxLength: 12 }), async (places) => {
        const [plain, caching] = [readerOf(handle), cachingTail(readerOf(handle), size)];
        for (const [before, length] of places) {
          const position = Math.max(0, before - length);
          const [expected, seen] = [Buffer.alloc(length), Buffer.alloc(length)];
          expect(await caching(seen, position)).toBe(await plain(expected, position));
          expect(seen.equals(expected)).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
    await handle.close();
  });

  it("finds the start of the line that contains an offset", async () => {
    writeFileSync(path, "ab\ncd\n");
    const handle = await open(path, "r");
    const starts = await Promise.all(
      [0, 1, 2, 3, 5, 6].map((offset) => lineStartAt(readerOf(handle), offset)),
    );
    expect(starts).toEqual([0, 0, 0, 3, 3, 6]);
    await handle.close();
  });
});

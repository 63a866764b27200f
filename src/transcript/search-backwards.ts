import type { ReadAt } from "./session-file.ts";

const NEWLINE = Buffer.from("\n");

/** What is looked for is mostly near the end, so the first step is small; each next one is four times as large. */
const FIRST_CHUNK_BYTES = 64 * 1024;
const LARGEST_CHUNK_BYTES = 1024 * 1024;

/** Where the last line above `before` that contains these bytes starts; undefined when none does. */
export async function lastLineWith(
  readAt: ReadAt,
  bytes: Buffer,
  before: number,
): Promise<number | undefined> {
  const found = await lastIndexOf(readAt, bytes, before);
  return found === undefined ? undefined : lineStartAt(readAt, found);
}

/** Where the line that holds this offset starts. */
export async function lineStartAt(readAt: ReadAt, offset: number): Promise<number> {
  const newline = await lastIndexOf(readAt, NEWLINE, offset);
  return newline === undefined ? 0 : newline + 1;
}

async function lastIndexOf(readAt: ReadAt, bytes: Buffer, before: number): Promise<number | undefined> {
  const overlap = bytes.length - 1;
  let chunkBytes = FIRST_CHUNK_BYTES;
  let buffer = Buffer.allocUnsafeSlow(chunkBytes + overlap);
  for (let end = before; end > 0; ) {
    const start = Math.max(0, end - chunkBytes);
    // Reaches a little into the chunk below, for what lies across the seam.
    const chunk = buffer.subarray(0, Math.min(end + overlap, before) - start);
    const length = await readAt(chunk, start);
    const found = chunk.subarray(0, length).lastIndexOf(bytes);
    if (found >= 0) return start + found;
    end = start;
    if (chunkBytes < LARGEST_CHUNK_BYTES) {
      chunkBytes *= 4;
      buffer = Buffer.allocUnsafeSlow(chunkBytes + overlap);
    }
  }
  return undefined;
}

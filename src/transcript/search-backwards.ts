import type { ReadAt } from "./session-file.ts";

const NEWLINE = Buffer.from("\n");

/** Cheap to look for, and seldom in a line that is no boundary: inside a string its quotes are escaped. */
export const BOUNDARY_MARK: Buffer = Buffer.from('"compact_boundary"');

/** What is looked for is mostly near the end, so the first step is small; each next one is four times as large. */
const FIRST_CHUNK_BYTES = 64 * 1024;
const LARGEST_CHUNK_BYTES = 1024 * 1024;

/** Where the last line above `before` that contains these bytes starts; undefined when none does. */
export async function lastLineWith(
  readAt: ReadAt,
  bytes: Buffer,
  before: number,
): Promise<number | undefined> {
  return (await lastLineWithAny(readAt, [bytes], before))?.start;
}

/** The last line above `before` that contains one of these, and which one it contains; not above `from`. */
export async function lastLineWithAny(
  readAt: ReadAt,
  wanted: readonly Buffer[],
  before: number,
  from = 0,
): Promise<{ readonly start: number; readonly nth: number } | undefined> {
  const found = await lastIndexOf(readAt, wanted, before, from);
  return found && { start: await lineStartAt(readAt, found.at), nth: found.nth };
}

/** Where the line that holds this offset starts. */
export async function lineStartAt(readAt: ReadAt, offset: number): Promise<number> {
  const newline = await lastIndexOf(readAt, [NEWLINE], offset, 0);
  return newline === undefined ? 0 : newline.at + 1;
}

async function lastIndexOf(
  readAt: ReadAt,
  wanted: readonly Buffer[],
  before: number,
  from: number,
): Promise<{ readonly at: number; readonly nth: number } | undefined> {
  const overlap = Math.max(...wanted.map(({ length }) => length)) - 1;
  let chunkBytes = FIRST_CHUNK_BYTES;
  let buffer = Buffer.allocUnsafeSlow(chunkBytes + overlap);
  for (let end = before; end > from; ) {
    const start = Math.max(from, end - chunkBytes);
    // Reaches a little into the chunk below, for what lies across the seam.
    const chunk = buffer.subarray(0, Math.min(end + overlap, before) - start);
    const length = await readAt(chunk, start);
    const found = wanted.map((bytes) => chunk.subarray(0, length).lastIndexOf(bytes));
    const last = Math.max(...found);
    if (last >= 0) return { at: start + last, nth: found.indexOf(last) };
    end = start;
    if (chunkBytes < LARGEST_CHUNK_BYTES) {
      chunkBytes *= 4;
      buffer = Buffer.allocUnsafeSlow(chunkBytes + overlap);
    }
  }
  return undefined;
}

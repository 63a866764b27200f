import { constants, readSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** Flags for opening. Without O_NONBLOCK, opening a named pipe would wait for a writer. */
export const READ_WITHOUT_WAITING: number = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Opens a file for reading and closes it afterwards. Does not wait for the writer of a pipe. */
export async function withOpenFile<T>(
  path: string,
  use: (handle: FileHandle) => Promise<T>,
  flags = 0,
): Promise<T> {
  const handle = await open(path, READ_WITHOUT_WAITING | flags);
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

/**
 * Function that fills the buffer with the bytes from this position of the file. It stops at the end of the
 * file. Returns the number of bytes read.
 */
export type ReadAt = (buffer: Buffer, position: number) => Promise<number>;

export function readerOf(handle: FileHandle): ReadAt {
  return async (buffer, position) => {
    let filled = 0;
    // A single read may return fewer bytes than requested.
    while (filled < buffer.length) {
      const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, position + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return filled;
  };
}

/** Reads synchronously, because a small read takes less time than an await. */
export function readNow(fd: number, buffer: Buffer, position: number): number {
  let filled = 0;
  for (let count = -1; count !== 0 && filled < buffer.length; filled += count) {
    count = readSync(fd, buffer, filled, buffer.length - filled, position + filled);
  }
  return filled;
}

/** Size of the cached end of a file, which usually contains the conversation. */
const CACHED_TAIL_BYTES = 4 * 1024 * 1024;

/**
 * Caches the end of the file. So the disk is accessed only once to find a line and to read from that line on.
 */
export function cachingTail(readAt: ReadAt, bytes: number): ReadAt {
  let tail = Buffer.alloc(0);
  return async (buffer, position) => {
    const tailStart = bytes - tail.length;
    const isJoined = position < tailStart && position + buffer.length >= tailStart;
    if (isJoined && bytes - position <= CACHED_TAIL_BYTES) {
      const above = Buffer.allocUnsafeSlow(tailStart - position);
      const length = await readAt(above, position);
      if (length < above.length) return readAt(buffer, position);
      tail = Buffer.concat([above, tail]);
    }
    if (position < bytes - tail.length) return readAt(buffer, position);
    return tail.copy(buffer, 0, position - (bytes - tail.length));
  };
}

export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string" && "syscall" in error;
}

const NEWLINE = 0x0a;
/**
 * Size of a chunk. It is large enough that the read calls cost little compared with JSON.parse, and small
 * enough to use little memory.
 */
const CHUNK_BYTES = 1024 * 1024;

export interface FileRange {
  readonly from: number;
  /**
   * End of the range. Excludes lines that a running agent appends after it, so that no line is read in part.
   */
  readonly to: number;
}

/** Reads the lines of a range, which must start at a line. Reports progress to `onChunk` after each chunk. */
export async function readLines(
  readAt: ReadAt,
  range: FileRange,
  onLine: LineHandler,
  onChunk: (position: number) => void = () => undefined,
): Promise<void> {
  const splitter = new LineSplitter(onLine, range.from);
  const size = Math.min(CHUNK_BYTES, range.to - range.from);
  // With two buffers, the disk fills one while the other is parsed.
  let filling = Buffer.allocUnsafeSlow(size);
  let parsing = Buffer.allocUnsafeSlow(size);
  let reading = readAt(filling, range.from);
  for (let position = range.from; position < range.to; ) {
    const length = await reading;
    if (length === 0) break;
    [parsing, filling] = [filling, parsing];
    position += length;
    if (position < range.to) reading = readAhead(readAt, filling.subarray(0, range.to - position), position);
    splitter.push(parsing.subarray(0, length));
    onChunk(position);
  }
  splitter.end();
}

/** Starts a read that may never be awaited, so its failure must not end the process. */
function readAhead(readAt: ReadAt, buffer: Buffer, position: number): Promise<number> {
  const reading = readAt(buffer, position);
  reading.catch(() => undefined);
  return reading;
}

/** @param offset start of the line in the file; @param isComplete false if no newline ends it */
type LineHandler = (line: Buffer, offset: number, isComplete: boolean) => void;

/**
 * Splitter that divides a stream of chunks into lines. It splits at byte 0x0A, which is never part of another
 * character in UTF-8. If possible, a line is a view into the chunk. The view is valid only until the handler
 * returns.
 */
export class LineSplitter {
  readonly #onLine: LineHandler;
  #carried: Buffer[] = [];
  #offset: number;

  constructor(onLine: LineHandler, offset = 0) {
    this.#onLine = onLine;
    this.#offset = offset;
  }

  /** Adds a chunk. The caller may reuse it afterwards. */
  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, end);
      this.#emit(this.#carried.length === 0 ? piece : this.#joined(piece), true);
      start = end + 1;
    }
    // Joins the pieces once, at the end of the line. Joining at every chunk would take quadratic time.
    if (start < chunk.length) this.#carried.push(Buffer.from(chunk.subarray(start)));
  }

  end(): void {
    if (this.#carried.length > 0) this.#emit(this.#joined(), false);
  }

  #joined(last?: Buffer): Buffer {
    const pieces = last === undefined ? this.#carried : [...this.#carried, last];
    this.#carried = [];
    return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  }

  #emit(line: Buffer, isComplete: boolean): void {
    const offset = this.#offset;
    this.#offset += line.length + (isComplete ? 1 : 0);
    this.#onLine(line, offset, isComplete);
  }
}

/**
 * Mark of a boundary line. It is cheap to search for, and rare in other lines, because quotes inside a string
 * are escaped.
 */
export const BOUNDARY_MARK: Buffer = Buffer.from('"compact_boundary"');
export const RESPONSE_MARK: Buffer = Buffer.from('"assistant"');

/**
 * Size of the first chunk. It is small, because the searched line is usually near the end. Each following
 * chunk is four times as large.
 */
const FIRST_CHUNK_BYTES = 64 * 1024;
const LARGEST_CHUNK_BYTES = 1024 * 1024;

/** Returns the start of the last line above `before` that contains these bytes, or undefined. */
export async function lastLineWith(
  readAt: ReadAt,
  bytes: Buffer,
  before: number,
): Promise<number | undefined> {
  return (await lastLineWithAny(readAt, [bytes], before))?.start;
}

/**
 * Searches between `from` and `before` for the last line that contains one of the wanted byte strings.
 * Returns that line, and the string that it contains.
 */
export async function lastLineWithAny(
  readAt: ReadAt,
  wanted: readonly Buffer[],
  before: number,
  from = 0,
): Promise<{ readonly start: number; readonly nth: number } | undefined> {
  const found = await lastIndexOf(readAt, wanted, before, from);
  return found && { start: await lineStartAt(readAt, found.at), nth: found.nth };
}

export async function lineStartAt(readAt: ReadAt, offset: number): Promise<number> {
  const newline = await lastIndexOf(readAt, [Buffer.of(NEWLINE)], offset, 0);
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
    // Extends slightly into the next chunk, to find bytes across the border.
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

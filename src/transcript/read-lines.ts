import type { ReadAt } from "./session-file.ts";
import { type LineHandler, LineSplitter } from "./split-lines.ts";

/** Large enough that the calls cost nothing beside JSON.parse, small enough not to matter in memory. */
const CHUNK_BYTES = 1024 * 1024;

export interface FileRange {
  readonly from: number;
  /** Lines that a running agent adds behind this do not come in half. */
  readonly to: number;
}

/** Gives the lines of a range that begins where a line begins. `onChunk` is told how far it is after each chunk. */
export async function readLines(
  readAt: ReadAt,
  range: FileRange,
  onLine: LineHandler,
  onChunk: (position: number) => void = () => undefined,
): Promise<void> {
  const splitter = new LineSplitter(onLine, range.from);
  const size = Math.min(CHUNK_BYTES, range.to - range.from);
  // Two buffers: the disk fills one while the other is being parsed.
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

/** A read that nobody may come to wait for: its failure must not end the process. */
function readAhead(readAt: ReadAt, buffer: Buffer, position: number): Promise<number> {
  const reading = readAt(buffer, position);
  reading.catch(() => undefined);
  return reading;
}

import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";

/** Of a text that is read in pieces: enough to be quick, little enough to hold. */
const PIECE_BYTES = 1024 * 1024;
/** In a tree: what is larger is data or made by a machine. */
const LARGEST_IN_TREE_BYTES = 8 * 1024 * 1024;
/** A file that was named: the longest output of a command, and more. */
const LARGEST_NAMED_BYTES = 128 * 1024 * 1024;
/** A line of this length is taken as it is, so that a file without line ends is not held as a whole. */
const LONGEST_LINE_CHARS = 8 * 1024 * 1024;

export type SkipReason = "binary" | "too-large" | "unreadable";

export interface OpenedText {
  /** Lines in the order of the file, some at a time. */
  lines(): AsyncGenerator<readonly string[]>;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly isNamed: boolean;
  /** It is needed as one text. */
  readonly isWhole: boolean;
  /** Nothing is wanted of a file without these. */
  readonly bytes: Buffer | undefined;
}

/** A text file for searching. Only regular files are opened: a pipe or a device would be waited for. */
export async function openText(
  path: string,
  options: OpenOptions,
): Promise<OpenedText | SkipReason | "no-match"> {
  const largest = options.isNamed && !options.isWhole ? LARGEST_NAMED_BYTES : LARGEST_IN_TREE_BYTES;
  try {
    if (!(await stat(path)).isFile()) return "unreadable";
    // In between it may have become something else, also a link that leads elsewhere.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const opened = await textOf(handle, largest, options.bytes);
    if (typeof opened === "string") await handle.close();
    return opened;
  } catch {
    return "unreadable";
  }
}

async function textOf(
  handle: FileHandle,
  largest: number,
  bytes: Buffer | undefined,
): Promise<OpenedText | SkipReason | "no-match"> {
  const found = await handle.stat();
  if (!found.isFile()) return "unreadable";
  if (found.size > largest) return "too-large";
  // One byte more, to see the end in the same go.
  const first = await read(handle, 0, Math.min(PIECE_BYTES, found.size + 1));
  if (first.includes(0)) return "binary";
  const isAll = first.length === found.size;
  if (isAll && bytes !== undefined && !first.includes(bytes)) return "no-match";
  return { lines: () => linesOf(handle, first, largest), close: () => handle.close() };
}

async function read(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  const { bytesRead } = await handle.read(buffer, 0, length, from);
  return buffer.subarray(0, bytesRead);
}

async function* linesOf(
  handle: FileHandle,
  first: Buffer,
  largest: number,
): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder();
  let rest = "";
  let offset = 0;
  // Not more than it was allowed to be: it may grow as fast as it is read.
  for (
    let piece = first;
    piece.length > 0 && offset <= largest;
    piece = await read(handle, offset, PIECE_BYTES)
  ) {
    offset += piece.length;
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > LONGEST_LINE_CHARS) {
      lines.push(rest);
      rest = "";
    }
    if (lines.length > 0) yield lines.map(withoutReturn);
  }
  rest += decoder.decode();
  if (rest !== "") yield [withoutReturn(rest)];
}

const withoutReturn = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);

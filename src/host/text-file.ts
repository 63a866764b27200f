import { constants } from "node:fs";
import { open, stat } from "node:fs/promises";
import { field } from "../conversation/untrusted.ts";

/** The beginning of a log is not what the agent read it for; a pointer serves better than its head. */
const LARGEST_FILE_BYTES = 4 * 1024 * 1024;
/** More than the longest head that is ever put back: nothing beyond it is read. */
const HEAD_BYTES = 256 * 1024;

export type TextFile =
  | { readonly state: "read"; readonly text: string; readonly isHead: boolean }
  | { readonly state: "unavailable"; readonly reason: FileProblem };

export type FileProblem = "gone" | "unreadable" | "not-text" | "too-large";

/** Whatever lies there, it ends: only regular files are opened, and only so much is read. Never rejects. */
export async function readTextFile(path: string): Promise<TextFile> {
  try {
    // Looked at before it is opened: to open a device can be to set it going.
    const before = problemWith(await stat(path));
    return before === undefined ? await readOpened(path) : { state: "unavailable", reason: before };
  } catch (error) {
    return { state: "unavailable", reason: problemOf(error) };
  }
}

/** All of a regular file. Rejects for anything else, and never waits for a pipe to be written to. */
export async function readRegularFile(path: string): Promise<string> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (!(await handle.stat()).isFile()) throw new Error(`${path} is not a regular file`);
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

export function problemOf(error: unknown): "gone" | "unreadable" {
  const code = field(error, "code");
  return code === "ENOENT" || code === "ENOTDIR" ? "gone" : "unreadable";
}

interface Kind {
  isFile(): boolean;
  readonly size: number;
}

function problemWith(found: Kind): FileProblem | undefined {
  if (!found.isFile()) return "not-text";
  return found.size > LARGEST_FILE_BYTES ? "too-large" : undefined;
}

async function readOpened(path: string): Promise<TextFile> {
  // In between it may have become a pipe, and to open that would be to wait for a writer for ever.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const problem = problemWith(await handle.stat());
    if (problem !== undefined) return { state: "unavailable", reason: problem };
    const buffer = Buffer.alloc(HEAD_BYTES + 1);
    let length = 0;
    // Not `readFile`: of a file that grows as fast as it is read there is no end.
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    const isHead = length > HEAD_BYTES;
    const bytes = buffer.subarray(0, Math.min(length, HEAD_BYTES));
    if (bytes.includes(0)) return { state: "unavailable", reason: "not-text" };
    // Half a character at the cut is dropped, not replaced.
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: isHead });
    return { state: "read", text, isHead };
  } finally {
    await handle.close();
  }
}

import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { field } from "@longhaul/core/internal/messages";
import { readerOf, withOpenFile } from "../transcript/file-bytes.ts";

/**
 * Maximum file size. A larger file is, for example, a log. The agent rarely needs the beginning of such a
 * file, so a pointer to the file is more useful.
 */
const LARGEST_FILE_BYTES = 4 * 1024 * 1024;
/** Maximum number of bytes to read. It exceeds the longest head that is ever restored. */
const HEAD_BYTES = 256 * 1024;

type TextFile =
  | { readonly state: "read"; readonly text: string; readonly isHead: boolean }
  | { readonly state: "unavailable"; readonly reason: FileProblem };

type FileProblem = "gone" | "unreadable" | "not-text" | "too-large";

/**
 * Reads the head of a text file. Never rejects. Always terminates, because it opens only regular files and
 * reads a limited number of bytes.
 */
export async function readTextFile(path: string): Promise<TextFile> {
  try {
    // Checks the type of the file before opening it, because opening a device can activate it.
    const before = problemWith(await stat(path));
    return before === undefined ? await readOpened(path) : { state: "unavailable", reason: before };
  } catch (error) {
    return { state: "unavailable", reason: problemOf(error) };
  }
}

/** Reads a whole regular file. Rejects for anything else, and never waits for a pipe. */
export function readRegularFile(path: string): Promise<string> {
  return withOpenFile(path, async (handle) => {
    if (!(await handle.stat()).isFile()) throw new Error(`${path} is not a regular file`);
    return await handle.readFile("utf8");
  });
}

export function problemOf(error: unknown): "gone" | "unreadable" {
  const code = field(error, "code");
  return code === "ENOENT" || code === "ENOTDIR" ? "gone" : "unreadable";
}

function problemWith(found: Stats): FileProblem | undefined {
  if (!found.isFile()) return "not-text";
  return found.size > LARGEST_FILE_BYTES ? "too-large" : undefined;
}

/** Reads an open file. The file may have been replaced since the check. */
function readOpened(path: string): Promise<TextFile> {
  return withOpenFile(path, async (handle) => {
    const problem = problemWith(await handle.stat());
    if (problem !== undefined) return { state: "unavailable", reason: problem };
    // Does not use `readFile`. If a file grows as fast as it is read, `readFile` never ends.
    const buffer = Buffer.alloc(HEAD_BYTES + 1);
    const length = await readerOf(handle)(buffer, 0);
    const isHead = length > HEAD_BYTES;
    const bytes = buffer.subarray(0, Math.min(length, HEAD_BYTES));
    if (bytes.includes(0)) return { state: "unavailable", reason: "not-text" };
    // If the cut has split a character, drops this character instead of replacing it.
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: isHead });
    return { state: "read", text, isHead };
  });
}

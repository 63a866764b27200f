import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { LonghaulError } from "@longhaul/core";
import { LRUCache } from "lru-cache";
import type { FileContent, FileContents } from "../workplace.ts";

/**
 * Lifetime of a cached file, long enough for work on a few files. A file that was read longer ago is not
 * worth the memory.
 */
const KEPT_MS = 15 * 60 * 1000;
/**
 * Maximum size of all cached files: enough for hundreds of source files, and small compared to the memory of
 * a Node process.
 */
const KEPT_BYTES = 50 * 1024 * 1024;
/**
 * Maximum size of a file. Agents need only parts of larger files, and a shell command can read a part without
 * loading the whole file.
 */
const LARGEST_FILE_BYTES = 32 * 1024 * 1024;
/**
 * Minimum age of a cached file. File systems use a clock that ticks every few milliseconds. Two writes within
 * one tick look like one write, so a file that was just written is not cached.
 */
const TOO_YOUNG_MS = 100;

export type FileProblem = "missing" | "folder" | "not-a-file" | "too-large" | "not-allowed" | "unreadable";

interface Kept {
  readonly content: FileContent;
  readonly stamp: string;
}

/**
 * Creates a reader that opens only regular files and limits their size. It takes real paths. If a link
 * appears in the place of such a path, the reader does not follow it. An unreadable file throws
 * `file-unusable` with a reason. `now` is for tests and returns milliseconds since 1970.
 */
export function createFileContents({ now = Date.now }: { readonly now?: () => number } = {}): FileContents {
  const cache = new LRUCache<string, Kept>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ content }) => Math.max(1, content.bytes.length),
    ttl: KEPT_MS,
    ttlResolution: 0,
    perf: { now },
  });
  return {
    read: async (realPath) => {
      try {
        // Checks the type of the file before opening it, because opening a device can activate it.
        const stamp = stampOf(realPath, await stat(realPath, { bigint: true }));
        const kept = cache.get(realPath);
        if (kept?.stamp === stamp) return kept.content;
        cache.delete(realPath);
        const read = await readOpened(realPath);
        if (read.isSteady && now() - read.touchedMs > TOO_YOUNG_MS) cache.set(realPath, read);
        return read.content;
      } catch (error) {
        cache.delete(realPath);
        throw unusable(realPath, error);
      }
    },
    clear: () => cache.clear(),
  };
}

/**
 * Returns the problem of a file and a clause that describes it, such as "it is a folder". Returns undefined for
 * other errors.
 */
export function fileProblemOf(
  error: unknown,
): { readonly reason: FileProblem; readonly why: string } | undefined {
  if (!(error instanceof LonghaulError) || error.code !== "file-unusable") return undefined;
  return { reason: error.facts.reason as FileProblem, why: String(error.facts.why) };
}

interface Read extends Kept {
  /** True if the file did not change while it was read. */
  readonly isSteady: boolean;
  /** Time of the last change by the system's clock (ctime), because anybody can set the modification time. */
  readonly touchedMs: number;
}

async function readOpened(path: string): Promise<Read> {
  // The path may have become a pipe meanwhile, and opening a pipe would wait for a writer forever.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const before = await handle.stat({ bigint: true });
    const stamp = stampOf(path, before);
    const bytes = await readAll(path, handle, Number(before.size));
    const after = await handle.stat({ bigint: true });
    return {
      content: { bytes, mtimeMs: Number(after.mtimeNs) / 1e6 },
      stamp,
      touchedMs: Number(after.mtimeNs > after.ctimeNs ? after.mtimeNs : after.ctimeNs) / 1e6,
      isSteady: stampOf(path, after) === stamp && bytes.length === Number(after.size),
    };
  } finally {
    await handle.close();
  }
}

/**
 * Reads a whole file. Does not use `readFile` for two reasons. The read of a file that keeps growing would
 * never end, and some files report a size of zero.
 */
async function readAll(path: string, handle: FileHandle, size: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for (;;) {
    const buffer = Buffer.alloc(Math.max(size - length, 0) + 4_096);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, length);
    if (bytesRead === 0) break;
    parts.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
    if (length > LARGEST_FILE_BYTES) throw problem(path, "too-large", tooLarge(length));
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
}

/** Returns a stamp that changes whenever the file changes, as far as the system reports it. */
function stampOf(path: string, found: BigIntStats): string {
  if (found.isDirectory()) throw problem(path, "folder", "is a folder");
  if (!found.isFile()) throw problem(path, "not-a-file", `is ${kindOf(found)}, not a regular file`);
  if (found.size > LARGEST_FILE_BYTES) throw problem(path, "too-large", tooLarge(Number(found.size)));
  return [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(":");
}

function kindOf(found: BigIntStats): string {
  if (found.isFIFO()) return "a pipe";
  return found.isSocket() ? "a socket" : "a device";
}

const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);

const tooLarge = (bytes: number): string =>
  `is ${megabytes(bytes)} MB, which is more than the limit of ${megabytes(LARGEST_FILE_BYTES)} MB`;

const problem = (path: string, reason: FileProblem, words: string, cause?: unknown): LonghaulError =>
  new LonghaulError("file-unusable", `${path} cannot be used: it ${words}.`, {
    remedy: "Choose another file.",
    facts: { path, reason, why: `it ${words}` },
    cause,
  });

const KNOWN: ReadonlyMap<string, readonly [FileProblem, string]> = new Map([
  ["ENOENT", ["missing", "does not exist"]],
  ["ENOTDIR", ["missing", "does not exist"]],
  ["EACCES", ["not-allowed", "cannot be read, because this user has no permission"]],
  ["EPERM", ["not-allowed", "cannot be read, because this user has no permission"]],
  ["ELOOP", ["unreadable", "has become a link since longhaul resolved its path, or its links form a loop"]],
]);

function unusable(path: string, error: unknown): LonghaulError {
  if (error instanceof LonghaulError) return error;
  const code = systemCode(error);
  const [reason, words] = KNOWN.get(code) ?? ["unreadable", `cannot be read (${code || String(error)})`];
  return problem(path, reason, words, error);
}

/** Returns the code of a system error, such as `ENOENT`, or an empty string for other errors. */
export function systemCode(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

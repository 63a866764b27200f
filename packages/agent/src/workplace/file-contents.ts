import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { LonghaulError } from "@longhaul/core";
import { LRUCache } from "lru-cache";
import type { FileContent, FileContents } from "../workplace.ts";

/** Long enough for a piece of work on a few files; what nobody has looked at since is not worth the memory. */
const KEPT_MS = 15 * 60 * 1000;
/** All files together: hundreds of sources, and little beside what a node process takes anyway. */
const KEPT_BYTES = 50 * 1024 * 1024;
/** Of larger ones nobody reads more than parts, which a command gets without loading the rest. */
const LARGEST_FILE_BYTES = 32 * 1024 * 1024;
/**
 * Systems stamp files by a clock that ticks every few milliseconds: what is written twice within one tick looks
 * unchanged. So a file this young is not kept.
 */
const TOO_YOUNG_MS = 100;

export type FileProblem = "missing" | "folder" | "not-a-file" | "too-large" | "not-allowed" | "unreadable";

interface Kept {
  readonly content: FileContent;
  readonly stamp: string;
}

/**
 * Reads regular files, whatever lies there: nothing else is opened, and only so much is read. Takes real paths: a
 * link that appears in their place is not followed. What cannot be read is an error `file-unusable` with words. `now`, in
 * milliseconds since 1970, is for tests.
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
        // Looked at before it is opened: to open a device can be to set it going.
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

/** Undefined for errors of another kind. */
export function fileProblemOf(error: unknown): FileProblem | undefined {
  if (!(error instanceof LonghaulError) || error.code !== "file-unusable") return undefined;
  return error.facts.reason as FileProblem;
}

interface Read extends Kept {
  /** Whether it stayed as it was while it was read. */
  readonly isSteady: boolean;
  /** When it was last changed by the system's own clock: the time of a change can be set by anybody. */
  readonly touchedMs: number;
}

async function readOpened(path: string): Promise<Read> {
  // In between it may have become a pipe, and to open that would be to wait for a writer for ever.
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

/** Not `readFile`: of a file that grows as fast as it is read there is no end, and some say they are empty. */
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

/** Changes whenever the file does, as far as the system tells. */
function stampOf(path: string, found: BigIntStats): string {
  if (found.isDirectory()) throw problem(path, "folder", "is a folder");
  if (!found.isFile()) throw problem(path, "not-a-file", `is ${kindOf(found)}, not a file with a content`);
  if (found.size > LARGEST_FILE_BYTES) throw problem(path, "too-large", tooLarge(Number(found.size)));
  return [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(":");
}

function kindOf(found: BigIntStats): string {
  if (found.isFIFO()) return "a pipe";
  return found.isSocket() ? "a socket" : "a device";
}

const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);

const tooLarge = (bytes: number): string =>
  `has ${megabytes(bytes)} MB, more than the ${megabytes(LARGEST_FILE_BYTES)} MB that are read at once`;

const problem = (path: string, reason: FileProblem, words: string, cause?: unknown): LonghaulError =>
  new LonghaulError("file-unusable", `${path} ${words}.`, { facts: { path, reason }, cause });

const KNOWN: ReadonlyMap<string, readonly [FileProblem, string]> = new Map([
  ["ENOENT", ["missing", "does not exist"]],
  ["ENOTDIR", ["missing", "does not exist"]],
  ["EACCES", ["not-allowed", "may not be read by this user"]],
  ["EPERM", ["not-allowed", "may not be read by this user"]],
  [
    "ELOOP",
    ["unreadable", "is reached through a link that was not there before, or through a circle of links"],
  ],
]);

function unusable(path: string, error: unknown): LonghaulError {
  if (error instanceof LonghaulError) return error;
  const code = systemCode(error);
  const [reason, words] = KNOWN.get(code) ?? ["unreadable", `cannot be read (${code || String(error)})`];
  return problem(path, reason, words, error);
}

/** Code of an error that the system reports, such as `ENOENT`; empty for other errors. */
export function systemCode(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

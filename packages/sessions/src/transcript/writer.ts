import { constants } from "node:fs";
import { type FileHandle, mkdir, open, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { LonghaulError } from "@longhaul/core/errors";
import type { Entry, StepBack } from "@longhaul/core/messages";
import { isSystemError } from "./file-bytes.ts";
import { indexWithoutDuplicates, type ReadEntries, readEntries } from "./load.ts";
import { type AcquireLock, lockSession } from "./lock.ts";
import { withQueuedMessages } from "./message-queue.ts";
import { fileNotFound, withSessionFile } from "./session-file.ts";
import { stepBack } from "./steps.ts";
import { linesOf, notWritten, SESSION_FILE_MODE, syncFolderOf } from "./whole-file.ts";

export interface TranscriptWriter {
  readonly path: string;
  /**
   * Resolves when the entries are on the disk. After that, they survive a crash of the process and of the
   * machine.
   */
  append(entries: readonly Entry[]): Promise<void>;
  /** Returns entries of the file by their ids, in any order. Reads the whole file. */
  read(uuids: readonly string[]): Promise<readonly Entry[]>;
  /**
   * Returns the newest step that led to the conversation. With `redo`, returns the newest undo. Reads the
   * whole file.
   */
  stepBack(choice: { readonly redo: boolean }): Promise<StepBack | undefined>;
  /** Waits for pending writes. */
  close(): Promise<void>;
}

export interface TranscriptOptions {
  /**
   * Size of the file when it was loaded. Appending is refused if the size differs. In that case another
   * process has written to the session, and the new entries would be based on an older state.
   */
  readonly expectedBytes?: number;
  /** True to create a missing session file. Default: true unless `expectedBytes` is given. */
  readonly mayCreate?: boolean;
  readonly openFile?: (path: string, mayCreate: boolean) => Promise<OpenedAppendFile>;
  readonly lock?: AcquireLock;
}

export async function openTranscript(
  path: string,
  options: TranscriptOptions = {},
): Promise<TranscriptWriter> {
  const openFile = options.openFile ?? openAppendFile;
  const lock: AcquireLock = options.lock ?? ((name) => lockSession(name));
  const mayCreate = options.mayCreate ?? options.expectedBytes === undefined;
  try {
    const { file, realPath } = await openFile(path, mayCreate);
    return new GroupCommitWriter(path, file, () => lock(realPath), options.expectedBytes);
  } catch (error) {
    if (!mayCreate && isSystemError(error) && error.code === "ENOENT") {
      throw fileNotFound(path, error);
    }
    throw notWritten(path, error);
  }
}

interface PendingAppend {
  readonly lines: Buffer;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Writer that combines appends. Appends that arrive during a write wait until it ends, and then share one
 * write and one sync.
 */
class GroupCommitWriter implements TranscriptWriter {
  readonly path: string;
  readonly #file: AppendFile;
  readonly #lock: () => Promise<() => Promise<void>>;
  #expectedBytes: number | undefined;
  #pending: PendingAppend[] = [];
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(
    path: string,
    file: AppendFile,
    lock: () => Promise<() => Promise<void>>,
    expectedBytes: number | undefined,
  ) {
    this.path = path;
    this.#file = file;
    this.#lock = lock;
    this.#expectedBytes = expectedBytes;
  }

  append(entries: readonly Entry[]): Promise<void> {
    if (this.#isClosed) return Promise.reject(transcriptClosed(this.path));
    if (entries.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#pending.push({ lines: Buffer.from(linesOf(entries)), resolve, reject });
      this.#running ??= this.#drain();
    });
  }

  async read(uuids: readonly string[]): Promise<readonly Entry[]> {
    await this.#running;
    return await readWritten(this.path, uuids);
  }

  async stepBack(choice: { readonly redo: boolean }): Promise<StepBack | undefined> {
    await this.#running;
    const { index, lines } = indexWithoutDuplicates(await readAllEntries(this.path));
    return stepBack(index, choice, lines);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#running;
    await this.#file.close();
  }

  async #drain(): Promise<void> {
    // Waits one microtask, so that calls made together are written together.
    await Promise.resolve();
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      try {
        await this.#commit(Buffer.concat(batch.map(({ lines }) => lines)));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#running = undefined;
  }

  async #commit(lines: Buffer): Promise<void> {
    const release = await this.#lock().catch((error: unknown) => {
      throw notWritten(this.path, error);
    });
    try {
      const { bytes, endsWithNewline, isLinked } = await this.#file.state();
      if (!isLinked) throw this.#changed("another program deleted or replaced it");
      if (this.#expectedBytes !== undefined && bytes !== this.#expectedBytes) {
        throw this.#changed("another program wrote to it since longhaul read it");
      }
      // A killed writer may have left half a line. The newline separates that half line from our first line.
      const payload = endsWithNewline ? lines : Buffer.concat([Buffer.from("\n"), lines]);
      await this.#writeOrUndo(payload, bytes);
      if (this.#expectedBytes !== undefined) this.#expectedBytes = bytes + payload.length;
    } finally {
      await release();
    }
  }

  async #writeOrUndo(payload: Buffer, sizeBefore: number): Promise<void> {
    let written = 0;
    try {
      while (written < payload.length) {
        const count = await this.#file.write(payload.subarray(written));
        if (count === 0) throw new Error("the system wrote nothing");
        written += count;
      }
      await this.#file.datasync();
    } catch (error) {
      throw notWritten(this.path, error, await this.#undo(sizeBefore, written));
    }
  }

  /**
   * Removes an unfinished write, but only if it is certainly ours. If somebody else wrote meanwhile,
   * truncating would remove their lines too.
   */
  async #undo(sizeBefore: number, written: number): Promise<"unchanged" | "unfinished line left"> {
    try {
      const { bytes } = await this.#file.state();
      if (bytes === sizeBefore) return "unchanged";
      if (bytes !== sizeBefore + written) return "unfinished line left";
      await this.#file.truncate(sizeBefore);
      await this.#file.datasync();
      return "unchanged";
    } catch {
      return "unfinished line left";
    }
  }

  #changed(why: string): LonghaulError {
    return new LonghaulError(
      "session-changed",
      `${this.path} changed while longhaul used it: ${why}. Nothing was written.`,
      {
        remedy: "An agent is probably still running in this session. Close it, then try again.",
        facts: { path: this.path },
      },
    );
  }
}

/** File operations that appending needs. There are no others, so that a test can simulate every fault. */
export interface AppendFile {
  state(): Promise<AppendFileState>;
  /** Writes bytes. Returns the number of bytes written, which may be less than given. */
  write(bytes: Uint8Array): Promise<number>;
  /** Resolves when everything written is on the disk. */
  datasync(): Promise<void>;
  truncate(bytes: number): Promise<void>;
  close(): Promise<void>;
}

export interface AppendFileState {
  readonly bytes: number;
  readonly endsWithNewline: boolean;
  /** False once somebody has deleted or replaced the file. After that, nobody would see further writes. */
  readonly isLinked: boolean;
}

export interface OpenedAppendFile {
  readonly file: AppendFile;
  /** Path without symbolic links, so that all writers of the file lock the same name. */
  readonly realPath: string;
}

const SESSION_FOLDER_MODE = 0o700;

export async function openAppendFile(path: string, mayCreate: boolean): Promise<OpenedAppendFile> {
  const flags = constants.O_RDWR | constants.O_APPEND | (constants.O_NONBLOCK ?? 0);
  if (mayCreate) await mkdir(dirname(path), { recursive: true, mode: SESSION_FOLDER_MODE });
  const created = mayCreate ? await create(path, flags) : undefined;
  const handle = created ?? (await open(path, flags));
  try {
    if (created !== undefined) await syncFolderOf(path);
    await refuseReadOnly(handle, path);
    return { file: appendFileOf(handle), realPath: await realpath(path) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Creates a file. Returns undefined if a file of this name exists. */
async function create(path: string, flags: number): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags | constants.O_CREAT | constants.O_EXCL, SESSION_FILE_MODE);
  } catch (error) {
    if (isSystemError(error) && error.code === "EEXIST") return undefined;
    throw error;
  }
}

/** Refuses a read-only file even for the superuser, who could write to it. */
async function refuseReadOnly(handle: FileHandle, path: string): Promise<void> {
  const stat = await handle.stat();
  if ((stat.mode & 0o222) !== 0 && stat.isFile()) return;
  const [code, reason] = stat.isFile() ? ["EACCES", "marked read-only"] : ["EINVAL", "not a regular file"];
  throw Object.assign(new Error(`${code}: ${reason}, open '${path}'`), { code, syscall: "open" });
}

const appendFileOf = (handle: FileHandle): AppendFile => ({
  state: async () => {
    const { size, nlink } = await handle.stat();
    const last = Buffer.alloc(1);
    if (size > 0) await handle.read(last, 0, 1, size - 1);
    return { bytes: size, endsWithNewline: size === 0 || last.toString() === "\n", isLinked: nlink > 0 };
  },
  write: async (bytes) => (await handle.write(bytes)).bytesWritten,
  datasync: () => handle.datasync(),
  truncate: (bytes) => handle.truncate(bytes),
  close: () => handle.close(),
});

/**
 * Returns entries of a session file by their ids. If several lines have the same id, returns the last one.
 * Omits unknown ids.
 */
export async function readWritten(path: string, uuids: readonly string[]): Promise<readonly Entry[]> {
  const wanted = new Set(uuids);
  const { entries } = withQueuedMessages((await readAllEntries(path)).entries, true);
  const found = new Map<string, Entry>();
  for (const entry of entries) {
    if (typeof entry.uuid === "string" && wanted.has(entry.uuid)) found.set(entry.uuid, entry);
  }
  return [...found.values()];
}

const readAllEntries = (path: string): Promise<ReadEntries> =>
  withSessionFile(path, ({ readAt, bytes }) => readEntries(readAt, { from: 0, to: bytes }, path));

function transcriptClosed(path: string): LonghaulError {
  return new LonghaulError(
    "transcript-closed",
    `The transcript ${path} is closed, so longhaul cannot write to it.`,
    {
      remedy: "Open it again with `openTranscript`.",
      facts: { path },
    },
  );
}

import { constants } from "node:fs";
import { type FileHandle, mkdir, open, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { isSystemError } from "./session-file.ts";

/** What appending needs of a file, and nothing more, so that every fault can be played in a test. */
export interface AppendFile {
  state(): Promise<AppendFileState>;
  /** May write less than it is given, as the system may; gives the number of bytes written. */
  write(bytes: Uint8Array): Promise<number>;
  /** Resolves when everything written is on the disk. */
  datasync(): Promise<void>;
  truncate(bytes: number): Promise<void>;
  close(): Promise<void>;
}

export interface AppendFileState {
  readonly bytes: number;
  readonly endsWithNewline: boolean;
  /** False once somebody has deleted or replaced the file: what is written then reaches nobody. */
  readonly isLinked: boolean;
}

/** Sessions hold whatever the agent has read: nobody else's business. */
export const SESSION_FILE_MODE = 0o600;
const SESSION_FOLDER_MODE = 0o700;

const NEWLINE = 0x0a;

export interface OpenedAppendFile {
  readonly file: AppendFile;
  /** Without symbolic links, so that all writers of the file lock the same name. */
  readonly realPath: string;
}

export async function openAppendFile(path: string, mayCreate: boolean): Promise<OpenedAppendFile> {
  if (mayCreate) await mkdir(dirname(path), { recursive: true, mode: SESSION_FOLDER_MODE });
  const created = mayCreate ? await createdFile(path) : undefined;
  const handle =
    created ?? (await open(path, constants.O_RDWR | constants.O_APPEND | (constants.O_NONBLOCK ?? 0)));
  try {
    await refuseReadOnly(handle, path);
    return { file: new NodeAppendFile(handle), realPath: await realpath(path) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A new name is on disk only when its folder is. */
export async function syncFolderOf(path: string): Promise<void> {
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } catch (error) {
    // Some systems cannot sync a folder; there is nothing more to be done on them.
    if (!isSystemError(error) || !["EINVAL", "EPERM", "ENOTSUP", "EISDIR"].includes(error.code)) throw error;
  } finally {
    await folder.close();
  }
}

async function createdFile(path: string): Promise<FileHandle | undefined> {
  try {
    const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL;
    const handle = await open(path, flags, SESSION_FILE_MODE);
    await syncFolderOf(path);
    return handle;
  } catch (error) {
    if (isSystemError(error) && error.code === "EEXIST") return undefined;
    throw error;
  }
}

/** The super-user may write to a file that is marked read-only; its owner meant it all the same. */
async function refuseReadOnly(handle: FileHandle, path: string): Promise<void> {
  const stat = await handle.stat();
  if ((stat.mode & 0o222) !== 0 && stat.isFile()) return;
  const reason = stat.isFile() ? "EACCES: marked read-only" : "EINVAL: not a regular file";
  throw Object.assign(new Error(`${reason}, open '${path}'`), {
    code: reason.slice(0, reason.indexOf(":")),
    syscall: "open",
  });
}

class NodeAppendFile implements AppendFile {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async state(): Promise<AppendFileState> {
    const { size, nlink } = await this.#handle.stat();
    const last = Buffer.alloc(1);
    if (size > 0) await this.#handle.read(last, 0, 1, size - 1);
    return { bytes: size, endsWithNewline: size === 0 || last[0] === NEWLINE, isLinked: nlink > 0 };
  }

  async write(bytes: Uint8Array): Promise<number> {
    const { bytesWritten } = await this.#handle.write(bytes);
    return bytesWritten;
  }

  datasync(): Promise<void> {
    return this.#handle.datasync();
  }

  truncate(bytes: number): Promise<void> {
    return this.#handle.truncate(bytes);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { readNow } from "../transcript/file-bytes.ts";

/** Number of files that stay open. Systems allow a process some hundreds, and a machine has more sessions. */
const MAX_OPEN = 64;

/** Follows no link and waits for no pipe, because others may write to the folders of sessions. */
const FLAGS_FOR_READING: number = constants.O_RDONLY | constants.O_NONBLOCK;
const NO_LINK: number = constants.O_NOFOLLOW;

/** File of a pool. It opens again whenever it is read after it was closed for another one. */
export interface PooledFile {
  readonly bytes: number;
  /** Reads at a position. Returns the number of bytes read, or 0 if the file is not the same anymore. */
  read(buffer: Buffer, position: number): number;
}

interface OpenFile {
  readonly fd: number;
  readonly inode: number;
}

/** Files that are read in turn. Only some of them are open at the same time. */
export class FilePool {
  readonly #open = new Map<string, OpenFile>();

  /** Opens a regular file. Returns undefined if there is none, or if it cannot be read. */
  file(path: string, options: { readonly isLinkAllowed: boolean }): PooledFile | undefined {
    const flags = FLAGS_FOR_READING | (options.isLinkAllowed ? 0 : NO_LINK);
    const first = this.#opened(path, flags);
    if (first === undefined) return undefined;
    const { inode } = first;
    return {
      bytes: fstatSync(first.fd).size,
      read: (buffer, position) => {
        const file = this.#opened(path, flags);
        return file?.inode === inode ? readNow(file.fd, buffer, position) : 0;
      },
    };
  }

  close(): void {
    for (const { fd } of this.#open.values()) closeSync(fd);
    this.#open.clear();
  }

  #opened(path: string, flags: number): OpenFile | undefined {
    const known = this.#open.get(path);
    if (known !== undefined) {
      // The file that was used last is closed last.
      this.#open.delete(path);
      this.#open.set(path, known);
      return known;
    }
    const file = openRegularFile(path, flags);
    if (file === undefined) return undefined;
    const [oldest] = this.#open;
    if (this.#open.size >= MAX_OPEN && oldest !== undefined) {
      closeSync(oldest[1].fd);
      this.#open.delete(oldest[0]);
    }
    this.#open.set(path, file);
    return file;
  }
}

function openRegularFile(path: string, flags: number): OpenFile | undefined {
  let fd: number;
  try {
    fd = openSync(path, flags);
  } catch {
    return undefined;
  }
  const stat = fstatSync(fd);
  if (stat.isFile()) return { fd, inode: stat.ino };
  closeSync(fd);
  return undefined;
}

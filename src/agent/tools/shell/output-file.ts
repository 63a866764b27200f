import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";

/** More than anybody reads of a log; a command that prints for ever does not fill the disk. */
const LARGEST_FILE_BYTES = 64 * 1024 * 1024;

/** The whole output of a command, for its user alone. Never rejects: that it cannot be kept does not stop a command. */
export class OutputFile {
  readonly #folder: () => Promise<string>;
  readonly #name: string;
  readonly #limit: number;
  #handle: FileHandle | undefined;
  #path: string | undefined;
  #bytes = 0;
  #isCut = false;
  #problem: string | undefined;
  #queue: Promise<void> = Promise.resolve();

  constructor(folder: () => Promise<string>, name: string, limitBytes: number = LARGEST_FILE_BYTES) {
    this.#folder = folder;
    this.#name = name;
    this.#limit = limitBytes;
  }

  /** Resolves when it is written: who waits for it is never far ahead of the disk. */
  write(text: string): Promise<void> {
    this.#queue = this.#queue.then(() => this.#append(text));
    return this.#queue;
  }

  /** When all is written that was given so far. */
  settled(): Promise<void> {
    return this.#queue;
  }

  close(): Promise<void> {
    this.#queue = this.#queue.then(() => this.#handle?.close()).catch(() => undefined);
    return this.#queue;
  }

  /** Where it is and how much of it, as part of a sentence. */
  get words(): string {
    if (this.#problem !== undefined) return `it could not be kept in a file (${this.#problem})`;
    if (this.#isCut) return `the first ${Math.floor(this.#limit / 1024 / 1024)} MB are in ${this.#path}`;
    return `the whole output is in ${this.#path}`;
  }

  async #append(text: string): Promise<void> {
    if (this.#isCut || this.#problem !== undefined) return;
    try {
      this.#handle ??= await this.#open();
      const bytes = Buffer.from(text);
      const fitting = wholeCharacters(bytes, this.#limit - this.#bytes);
      await this.#handle.appendFile(fitting);
      this.#bytes += fitting.length;
      this.#isCut = fitting.length < bytes.length;
    } catch (error) {
      this.#problem = error instanceof Error && "code" in error ? String(error.code) : String(error);
    }
  }

  async #open(): Promise<FileHandle> {
    this.#path = join(await this.#folder(), this.#name);
    // Nobody else's file, and no link that was laid there, is written to.
    return open(this.#path, "wx", 0o600);
  }
}

function wholeCharacters(bytes: Buffer, limit: number): Buffer {
  if (bytes.length <= limit) return bytes;
  let end = limit;
  // Bytes that go on a character begin with the bits 10.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}

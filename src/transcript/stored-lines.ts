import { closeSync, openSync, readSync } from "node:fs";
import type { Entry } from "../conversation/entry.ts";
import { LonghaulError } from "../errors.ts";
import { EntryReader } from "./entry-reader.ts";
import { READ_WITHOUT_WAITING } from "./session-file.ts";

/** Bytes that one access to the file reads: neighbors are mostly read next. */
const BLOCK_BYTES = 1024 * 1024;

/** Reads single lines of a session file again, by their place. Waits for the disk. */
export class StoredLines {
  readonly #path: string;
  /** Read into again and again: what was decoded from it is a copy. */
  #buffer: Buffer = Buffer.alloc(0);
  /** The part of the buffer that the file filled. */
  #block: Buffer = this.#buffer;
  #blockStart = 0;
  /** One line is asked for several fields in a row. */
  #newest: { readonly offset: number; readonly entry: Entry } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** The entry of the line at this place. Fails if the file was replaced and the line is another one now. */
  read(offset: number, bytes: number, uuid: string | undefined): Entry {
    if (this.#newest?.offset === offset) return this.#newest.entry;
    const reader = new EntryReader(undefined);
    reader.read(this.#bytesAt(offset, bytes), offset, true);
    const [entry] = reader.entries;
    if (entry === undefined || entry.uuid !== uuid) throw this.#changed();
    this.#newest = { offset, entry };
    return entry;
  }

  #bytesAt(offset: number, bytes: number): Buffer {
    const isHere = offset >= this.#blockStart && offset + bytes <= this.#blockStart + this.#block.length;
    if (!isHere) this.#readBlock(offset, bytes);
    const from = offset - this.#blockStart;
    return this.#block.subarray(from, from + bytes);
  }

  /** The line ends the block where lines are read upwards, and begins it otherwise. */
  #readBlock(offset: number, bytes: number): void {
    const size = Math.max(BLOCK_BYTES, bytes);
    const isUpwards = offset < this.#blockStart;
    const start = isUpwards ? Math.max(0, offset + bytes - size) : offset;
    // A read that fails leaves no block.
    this.#block = Buffer.alloc(0);
    if (this.#buffer.length < size) this.#buffer = Buffer.allocUnsafeSlow(size);
    const file = openSync(this.#path, READ_WITHOUT_WAITING);
    try {
      let filled = 0;
      for (let length = -1; length !== 0 && filled < size; filled += length) {
        length = readSync(file, this.#buffer, filled, size - filled, start + filled);
      }
      this.#block = this.#buffer.subarray(0, filled);
      this.#blockStart = start;
    } finally {
      closeSync(file);
    }
  }

  #changed(): LonghaulError {
    return new LonghaulError("session-changed", `${this.#path} was changed while it was read.`, {
      remedy: "Close the program that rewrites the file and try again.",
      facts: { path: this.#path },
    });
  }
}

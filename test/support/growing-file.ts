import { closeSync, existsSync, openSync, readSync } from "node:fs";

const CHUNK_BYTES = 1 << 20;

/** A file that another part of the program appends lines to. Reads on from the place where it stopped. */
export class GrowingFile {
  readonly path: string;
  #offset = 0;
  #rest = "";

  constructor(path: string) {
    this.path = path;
  }

  /** The complete lines that came since the last call. None while the file does not exist. */
  newLines(): readonly string[] {
    if (!existsSync(this.path)) return [];
    const lines: string[] = [];
    const file = openSync(this.path, "r");
    const buffer = Buffer.alloc(CHUNK_BYTES);
    try {
      for (;;) {
        const bytes = readSync(file, buffer, 0, CHUNK_BYTES, this.#offset);
        if (bytes === 0) return lines;
        this.#offset += bytes;
        const parts = (this.#rest + buffer.subarray(0, bytes).toString("latin1")).split("\n");
        this.#rest = parts.pop() ?? "";
        lines.push(...parts);
      }
    } finally {
      closeSync(file);
    }
  }
}

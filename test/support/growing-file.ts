import { closeSync, existsSync, openSync, readSync } from "node:fs";

const CHUNK_BYTES = 1 << 20;

/**
 * A file to which another part of the program appends lines. Each read continues where the last one stopped.
 */
export class GrowingFile {
  readonly path: string;
  #offset = 0;
  #rest = "";

  constructor(path: string) {
    this.path = path;
  }

  /** Returns the complete lines since the last call. Empty while the file does not exist. */
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

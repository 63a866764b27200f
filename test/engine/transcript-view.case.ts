import { closeSync, openSync, readSync } from "node:fs";
import { isRecord, parseJson } from "../../src/conversation/untrusted.ts";

const TOKEN = /wish-\d+-[0-9a-f]{8}/g;
const CHUNK_BYTES = 1 << 22;

export const tokensIn = (text: string): ReadonlySet<string> => new Set(text.match(TOKEN));

/** What stands in a session file of what a person said: as it was said, not in a summary. Reads on where it stopped. */
export class TranscriptView {
  readonly path: string;
  readonly said: Set<string> = new Set();
  lines = 0;
  #offset = 0;
  #rest = "";

  constructor(path: string) {
    this.path = path;
  }

  update(): void {
    const file = openSync(this.path, "r");
    const buffer = Buffer.alloc(CHUNK_BYTES);
    try {
      for (;;) {
        const bytes = readSync(file, buffer, 0, CHUNK_BYTES, this.#offset);
        if (bytes === 0) return;
        this.#offset += bytes;
        this.#take(buffer.subarray(0, bytes).toString("latin1"));
      }
    } finally {
      closeSync(file);
    }
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      this.lines += 1;
      if (!line.includes("wish-")) continue;
      const entry = parseJson(line);
      if (!isRecord(entry) || entry.type !== "user" || entry.isCompactSummary === true) continue;
      for (const token of tokensIn(line)) this.said.add(token);
    }
  }
}

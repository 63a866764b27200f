import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { basename } from "node:path";
import { markersIn } from "./texts.ts";

const CHUNK_BYTES = 1 << 20;

/** The markers that a session file holds in the original messages. Reads on from the place where it stopped. */
export class SessionView {
  readonly path: string;
  /** The path that the engine sees. Temporary folders have random names, which would change the counts of tokens. */
  readonly shownPath: string;
  readonly #markers = new Set<string>();
  #offset = 0;
  #rest = "";

  constructor(path: string) {
    this.path = path;
    this.shownPath = `/home/dev/sessions/${basename(path)}`;
  }

  /** Whether a line of the file holds the message with this marker; a summary that quotes it does not count. */
  holds(marker: string): boolean {
    if (!this.#markers.has(marker)) this.#readOn();
    return this.#markers.has(marker);
  }

  #readOn(): void {
    if (!existsSync(this.path)) return;
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
      if (!line.includes("mk-")) continue;
      const entry = parsed(line);
      if (entry?.isCompactSummary === true || (entry?.type !== "user" && entry?.type !== "assistant"))
        continue;
      for (const marker of markersIn(line)) this.#markers.add(marker);
    }
  }
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

import { basename } from "node:path";
import { GrowingFile } from "../support/growing-file.ts";
import { markersIn } from "./texts.ts";

/** The markers that a session file holds in the original messages. Reads on from the place where it stopped. */
export class SessionView {
  readonly path: string;
  /** The path that the engine sees. Temporary folders have random names, which would change the counts of tokens. */
  readonly shownPath: string;
  readonly #markers = new Set<string>();
  readonly #file: GrowingFile;

  constructor(path: string) {
    this.path = path;
    this.shownPath = `/home/dev/sessions/${basename(path)}`;
    this.#file = new GrowingFile(path);
  }

  /** True if a line of the file holds the message with this marker. A summary that quotes it does not count. */
  holds(marker: string): boolean {
    if (!this.#markers.has(marker)) this.#readOn();
    return this.#markers.has(marker);
  }

  #readOn(): void {
    for (const line of this.#file.newLines()) {
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

import { basename } from "node:path";
import { GrowingFile } from "../support/growing-file.ts";
import { markersIn } from "./texts.ts";

/** Markers of the original messages in a session file. Each read continues where the last one stopped. */
export class SessionView {
  readonly path: string;
  /**
   * The path under which the engine sees the session file. Real temporary folders have random names, which
   * would change the token counts.
   */
  readonly shownPath: string;
  readonly #markers = new Set<string>();
  readonly #file: GrowingFile;

  constructor(path: string) {
    this.path = path;
    this.shownPath = `/home/dev/sessions/${basename(path)}`;
    this.#file = new GrowingFile(path);
  }

  /**
   * Returns true if a line of the file contains the message with this marker. A quote in a summary does not
   * count.
   */
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

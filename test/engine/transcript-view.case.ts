import { isRecord, parseJson } from "../../packages/core/src/messages/untrusted.ts";
import { GrowingFile } from "../support/growing-file.ts";

const TOKEN = /wish-\d+-[0-9a-f]{8}/g;

export const tokensIn = (text: string): ReadonlySet<string> => new Set(text.match(TOKEN));

/**
 * The person's original words in a session file, without quotes in summaries. Continues reading where it
 * stopped.
 */
export class TranscriptView {
  readonly path: string;
  readonly said: Set<string> = new Set();
  lines = 0;
  readonly #file: GrowingFile;

  constructor(path: string) {
    this.path = path;
    this.#file = new GrowingFile(path);
  }

  update(): void {
    for (const line of this.#file.newLines()) {
      this.lines += 1;
      if (!line.includes("wish-")) continue;
      const entry = parseJson(line);
      if (!isRecord(entry) || entry.type !== "user" || entry.isCompactSummary === true) continue;
      // A match is a slice that keeps the whole source text in memory, so keep a copy instead.
      for (const token of tokensIn(line)) this.said.add(Buffer.from(token).toString());
    }
  }
}

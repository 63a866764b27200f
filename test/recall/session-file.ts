import { appendFileSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@longhaul/core";
import { recallIndexPath } from "@longhaul/sessions";
import { IndexedSession } from "../../packages/sessions/src/recall/indexed-session.ts";
import { type IndexOptions, openIndex } from "../../packages/sessions/src/recall/keep-index.ts";
import { withSessionFile } from "../../packages/sessions/src/transcript/session-file.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";

export const linesOf = (entries: readonly Entry[]): string =>
  entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");

/** Creates session files in a folder that is removed after the tests of the file. */
export function sessionFiles(): (entries: readonly Entry[] | string) => string {
  const folder = temporaryFolder();
  let made = 0;
  return (entries) => {
    const path = join(folder, `s-${made++}.jsonl`);
    writeFileSync(path, typeof entries === "string" ? entries : linesOf(entries));
    return path;
  };
}

export const append = (path: string, entries: readonly Entry[]): void =>
  appendFileSync(path, linesOf(entries));

/** Returns the content of an index in a form that can be compared. */
export async function indexDump(path: string, options: Partial<IndexOptions> = {}): Promise<unknown> {
  return await withSessionFile(path, async (file) => {
    const index = await openIndex(file, path, { indexPath: recallIndexPath(path), ...options });
    try {
      const read = (buffer: Buffer, position: number): number => readSync(file.fd, buffer, { position });
      const session = new IndexedSession({ ...index, read });
      return Array.from({ length: session.documents }, (_, number) => {
        const { record, entry, document } = session.read(number);
        return { record, uuid: entry.uuid, document, status: session.status(number) };
      });
    } finally {
      index.close();
    }
  });
}

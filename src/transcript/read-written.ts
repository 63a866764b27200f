import type { Entry } from "../conversation/entry.ts";
import { readEntries } from "./load.ts";
import { withSessionFile } from "./session-file.ts";

/** Entries of a session file by their ids, as their last lines have them. What is not there is left out. */
export async function readWritten(path: string, uuids: readonly string[]): Promise<readonly Entry[]> {
  const wanted = new Set(uuids);
  return await withSessionFile(path, async ({ readAt, bytes }) => {
    const { entries } = await readEntries(readAt, { from: 0, to: bytes }, path);
    const found = new Map<string, Entry>();
    for (const entry of entries) {
      if (typeof entry.uuid === "string" && wanted.has(entry.uuid)) found.set(entry.uuid, entry);
    }
    return [...found.values()];
  });
}

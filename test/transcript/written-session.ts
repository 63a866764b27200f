import { join } from "node:path";
import type { Entry } from "@longhaul/core";
import type { Session } from "@longhaul/sessions";
import { loadSession, writeNewSession } from "@longhaul/sessions";
import { wholeLine } from "../../packages/sessions/src/transcript/released-line.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Puts entries into a session file of their own and loads it; all are gone when the tests of the file are done. */
export function sessionWriter(): (entries: readonly Entry[]) => Promise<Session> {
  const folder = temporaryFolder();
  let made = 0;
  return async (entries) => {
    const path = join(folder, `s-${made++}.jsonl`);
    await writeNewSession(path, entries);
    return loadSession(path);
  };
}

/** Everything in a session, with entries that hold all their fields. */
export const wholeSession = (session: Session): Session => ({
  ...session,
  entries: session.entries.map(wholeLine),
  ...(session.lines === undefined ? {} : { lines: session.lines.map(wholeLine) }),
});

import { join } from "node:path";
import type { Entry } from "@longhaul/core";
import type { Session } from "@longhaul/sessions";
import { loadSession, writeNewSession } from "@longhaul/sessions";
import { wholeLine } from "../../packages/sessions/src/transcript/released-line.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Writes entries to a new session file and loads it. All files are removed after the tests of the file. */
export function sessionWriter(): (entries: readonly Entry[]) => Promise<Session> {
  const folder = temporaryFolder();
  let made = 0;
  return async (entries) => {
    const path = join(folder, `s-${made++}.jsonl`);
    await writeNewSession(path, entries);
    return loadSession(path);
  };
}

/** Returns the session with complete entries, whose fields are all loaded. */
export const wholeSession = (session: Session): Session => ({
  ...session,
  entries: session.entries.map(wholeLine),
  ...(session.lines === undefined ? {} : { lines: session.lines.map(wholeLine) }),
});

// Recorded sessions are next to the project, never in it. If a benchmark section needs recorded sessions and
// they are missing, it says so.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "..", "..", "shared", "data");

export const MISSING = "\n(The recorded sessions in ../shared/data are not here; left out.)";

/** Returns the paths of Claude Code's sessions. Empty if there are none. */
export function realSessions() {
  if (!existsSync(FOLDER)) return [];
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".jsonl") && !/^(codex|pi)__/.test(name));
  return names.sort().map((name) => join(FOLDER, name));
}

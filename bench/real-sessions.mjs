// Recorded sessions lie beside the project, never in it; what needs them says so where they are missing.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "..", "..", "shared", "data");

export const MISSING = "\n(The recorded sessions in ../shared/data are not here; left out.)";

/** Paths of Claude Code's sessions; empty when there are none. */
export function realSessions() {
  if (!existsSync(FOLDER)) return [];
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".jsonl") && !/^(codex|pi)__/.test(name));
  return names.sort().map((name) => join(FOLDER, name));
}

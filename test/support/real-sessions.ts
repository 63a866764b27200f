import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";

const FOLDER = join(import.meta.dirname, "..", "..", "..", "shared", "data");

/**
 * True if the recorded sessions exist. They are in a folder next to the project. Without them, the tests that
 * need them are skipped.
 */
const hasRealSessions: boolean = existsSync(FOLDER);
const realSessionsMissing = "needs the recorded sessions in ../shared/data, which are not here";

/** Works like `describe` for tests with recorded sessions. If these are missing, one skipped test says so. */
export function describeRecorded(title: string, tests: () => void): void {
  describe(title, hasRealSessions ? tests : () => it.skipIf(true)(realSessionsMissing, () => undefined));
}

export const realSessionPath = (name: string): string => join(FOLDER, name);

/** Returns the sessions of Claude Code. The sessions of other agents have another format. */
export function claudeCodeSessions(): string[] {
  if (!hasRealSessions) return [];
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".jsonl") && !/^(codex|pi)__/.test(name))
    .sort()
    .map(realSessionPath);
}

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, it } from "vitest";
import { claudeCodeSessions, describeRecorded } from "../../../../../test/support/real-sessions.ts";
import { attachedPath } from "../../compaction/restore/read-state.ts";
import type { Entry } from "../../messages/entry.ts";
import { field, parseJson, stringField } from "../../messages/untrusted.ts";
import { memoryFilesIn } from "./attached-memory.ts";
import type { MemoryFilesPort } from "./memory-reader.ts";
import { NestedMemory } from "./nested-memory.ts";

const countTokens = (text: string): number => Math.ceil(text.length / 4);
const memoryPathOf = (entry: Entry): string | undefined => attachedPath(entry, ["nested_memory"]);

function entriesOf(path: string): Entry[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines
    .map((line) => parseJson(line) as Entry)
    .filter((entry) => field(entry, "isSidechain") !== true);
}

const sessions = claudeCodeSessions()
  .map((path) => [basename(path), entriesOf(path)] as const)
  .filter(([, entries]) => entries.some((entry) => memoryPathOf(entry) !== undefined));

/** Rebuilds the recorded rule files in their recorded folder. */
function filesOf(entries: readonly Entry[]): { readonly cwd: string; readonly port: MemoryFilesPort } {
  const files = new Map<string, string>();
  for (const entry of entries) {
    const path = memoryPathOf(entry);
    const content = field(field(entry, "attachment"), "content");
    const text = stringField(content, "rawContent") ?? stringField(content, "content");
    if (path !== undefined && text !== undefined) files.set(path, text);
  }
  const [first = ""] = files.keys();
  const cwd = first.replace(/[\\/]\.claude[\\/].*$/, "");
  return {
    cwd,
    port: {
      read: async (path) => {
        const text = files.get(path);
        if (text === undefined) return { state: "unavailable", reason: "gone" };
        return { state: "read", text, displayPath: path.slice(cwd.length + 1) };
      },
      list: async () => [...files.keys()],
    },
  };
}

describeRecorded("recorded sessions with rules", () => {
  it.each(sessions)(
    "attaches each memory file no later than Claude Code did in the recorded session %s",
    async (_name, entries) => {
      const memory = new NestedMemory(filesOf(entries));
      const attached = new Set<string>();
      let compared = 0;
      for (const entry of entries) {
        const theirs = memoryPathOf(entry);
        if (theirs !== undefined) {
          compared++;
          expect(attached).toContain(theirs);
        } else memory.touched([entry]);
        const { files, skipped } = await memory.drain({ countTokens, budgetTokens: 10_000 });
        for (const { path } of files) attached.add(path);
        expect(skipped).toEqual([]);
      }
      expect(compared).toBeGreaterThan(0);
    },
  );

  it.each(sessions)(
    "memoryFilesIn reports every memory file of the recorded session %s with its tokens",
    (_name, entries) => {
      const report = memoryFilesIn(entries, countTokens);
      expect(report.reduce((sum, { times }) => sum + times, 0)).toBe(
        entries.filter((entry) => memoryPathOf(entry) !== undefined).length,
      );
      for (const { tokens } of report) expect(tokens).toBeGreaterThan(0);
    },
  );
});

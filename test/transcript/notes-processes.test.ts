import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { killedAfter, startProcess } from "./child-processes.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const folder = temporaryFolder();
const MINUTE_MS = 60_000;
const ROUNDS = 8;

const keepNotes = (path: string, name: string, count: number): ReturnType<typeof startProcess> =>
  startProcess("notes-process.ts", path, name, count);

const keepUntilKilled = (path: string, round: number): Promise<readonly string[]> =>
  killedAfter(keepNotes(path, `round${round}`, 100_000), 1 + round * 2, (round % 4) * 0.9);

/** Checks that the file is complete and returns its lines. A torn file would have less filling. */
function linesIn(path: string): readonly string[] {
  const text = readFileSync(path, "utf8");
  const filling = text.slice(text.indexOf("="));
  expect(filling).toBe(`${"=".repeat(99)}\n`.repeat(500));
  return text.slice(0, text.indexOf("=")).trimEnd().split("\n");
}

describe("several processes that write to the same notes", () => {
  it("parallel writers never corrupt the notes or lose each other's text", {
    timeout: MINUTE_MS,
  }, async () => {
    const path = join(folder, "shared.notes.md");
    const [one, two] = await Promise.all([keepNotes(path, "one", 60).done, keepNotes(path, "two", 60).done]);
    expect([one.errors, two.errors]).toEqual(["", ""]);
    const lines = linesIn(path);
    expect(lines).toHaveLength(120);
    expect(new Set(lines)).toEqual(new Set([...one.acknowledged, ...two.acknowledged]));
  });

  it("a kill at any moment leaves complete notes that contain every acknowledged write", {
    timeout: 3 * MINUTE_MS,
  }, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const path = join(folder, `killed-${round}.notes.md`);
      const acknowledged = await keepUntilKilled(path, round);
      const lines = linesIn(path);
      expect(acknowledged.length).toBeGreaterThan(0);
      expect(acknowledged.filter((line) => !lines.includes(line))).toEqual([]);
      // One line more is allowed, because the kill may come after a successful write and before its
      // acknowledgment.
      expect(lines.length - acknowledged.length).toBeLessThanOrEqual(1);
    }
  });

  it("a new process continues the notes of a killed process", { timeout: MINUTE_MS }, async () => {
    const path = join(folder, "goes-on.notes.md");
    const before = await keepUntilKilled(path, 2);
    const after = await keepNotes(path, "after", 3).done;
    expect(after.errors).toBe("");
    expect(linesIn(path)).toEqual(expect.arrayContaining([...before, "after-0", "after-1", "after-2"]));
  });
});

import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { flatten } from "@longhaul/core/request";
import { describe, expect, it } from "vitest";
import { longSession } from "../../../../test/support/long-session.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { loadSession } from "../transcript/load.ts";
import { resumeSession } from "../transcript/resume.ts";
import { writeNewSession } from "../transcript/whole-file.ts";
import { clearSession, writeClearing } from "./clear-session.ts";
import { compactSession, writeCompaction } from "./compact-session.ts";

const folder = temporaryFolder();
const SHARES = [0.05, 0.3, 0.5, 0.8, 0.99];

async function writtenSession(name: string): Promise<string> {
  const path = join(folder, `${name}.jsonl`);
  await writeNewSession(path, longSession(30).entries);
  return path;
}

describe("a writer that dies in the middle of a write", () => {
  it.each(SHARES)(
    "a session reads back unchanged when the writer dies after writing a share of %d of a clearing",
    async (share) => {
      const path = await writtenSession(`clear-${share}`);
      const before = await loadSession(path);
      await writeClearing(clearSession(before, { keepNewest: 3 }), { mode: "in-place" });
      await expectAsBefore(path, before.bytes, share);
    },
  );

  it.each(SHARES)(
    "a session reads back unchanged when the writer dies after writing a share of %d of a compaction",
    async (share) => {
      const path = await writtenSession(`compact-${share}`);
      const before = await loadSession(path);
      await writeCompaction(await compactSession(before, { keepRecentTokens: 2_000 }), { mode: "in-place" });
      await expectAsBefore(path, before.bytes, share);
    },
  );
});

async function expectAsBefore(path: string, bytesBefore: number, share: number): Promise<void> {
  const whole = readFileSync(path);
  const cut = bytesBefore + Math.floor((whole.length - bytesBefore) * share);
  const old = flatten((await loadedFrom(path, bytesBefore)).conversation);
  truncateSync(path, cut);
  expect(flatten((await loadSession(path)).conversation)).toEqual(old);
  expect(flatten((await resumeSession(path)).conversation)).toEqual(old);
}

/** Loads the session as it was with this many bytes. */
async function loadedFrom(path: string, bytes: number): Promise<Awaited<ReturnType<typeof loadSession>>> {
  const copy = `${path}.before`;
  writeFileSync(copy, readFileSync(path).subarray(0, bytes));
  return loadSession(copy);
}

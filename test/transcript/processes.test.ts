import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadSession } from "@longhaul/sessions";
import { describe, expect, it } from "vitest";
import { killedAfter, nodeArguments, startProcess } from "./child-processes.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const folder = temporaryFolder();
const SCRIPT = "appending-process.ts";

const append = (path: string, name: string, count: number, together = 1): ReturnType<typeof startProcess> =>
  startProcess(SCRIPT, path, name, count, together);

const appendUntilKilled = (path: string, round: number): Promise<readonly string[]> =>
  killedAfter(append(path, `round${round}`, 100_000, 1 + (round % 3) * 8), 1 + round * 3, (round % 4) * 0.7);

const MINUTE_MS = 60_000;
const ROUNDS = 12;

describe("several processes that write to one session file", () => {
  it("several processes can write to one session at once, and no line is damaged", {
    timeout: MINUTE_MS,
  }, async () => {
    const path = join(folder, "shared.jsonl");
    const [one, two] = await Promise.all([
      append(path, "one", 500, 5).done,
      append(path, "two", 500, 5).done,
    ]);
    expect([one.errors, two.errors]).toEqual(["", ""]);
    const session = await loadSession(path);
    expect(session.damage).toEqual([]);
    expect(session.entries).toHaveLength(1_000);
    expect(new Set(session.entries.map(({ uuid }) => uuid))).toEqual(
      new Set([...one.acknowledged, ...two.acknowledged]),
    );
  });

  it("a kill at any moment loses no acknowledged line of the session", {
    timeout: 3 * MINUTE_MS,
  }, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const path = join(folder, `killed-${round}.jsonl`);
      const acknowledged = await appendUntilKilled(path, round);
      const session = await loadSession(path);
      const found = new Set(session.entries.map(({ uuid }) => uuid));
      expect(acknowledged.length).toBeGreaterThan(0);
      expect(acknowledged.filter((uuid) => !found.has(uuid))).toEqual([]);
      expect(session.damage.filter(({ kind }) => kind !== "torn-last-line")).toEqual([]);
    }
  });

  it("a new process continues a killed process's session on a new line after the incomplete line", {
    timeout: MINUTE_MS,
  }, async () => {
    const path = join(folder, "goes-on.jsonl");
    const before = await appendUntilKilled(path, 1);
    writeFileSync(path, '{"type":"user","torn', { flag: "a" });
    const after = await append(path, "after", 3).done;
    expect(after.errors).toBe("");
    const session = await loadSession(path);
    const found = session.entries.map(({ uuid }) => uuid);
    expect(found).toEqual(expect.arrayContaining([...before, "after-0", "after-1", "after-2"]));
    expect(session.damage.map(({ kind }) => kind)).toEqual(["broken-line"]);
  });
});

/**
 * True if the shell can limit file sizes. Such a limit makes a real write fail in the middle, like a full
 * disk.
 */
const hasFileSizeLimit =
  existsSync("/bin/bash") && spawnSync("/bin/bash", ["-c", "ulimit -f 64"]).status === 0;

describe("a full disk during a write", () => {
  it.skipIf(!hasFileSizeLimit)(
    "a full disk leaves only complete lines, and the writing process gets an error",
    { timeout: MINUTE_MS },
    async () => {
      const path = join(folder, "full.jsonl");
      writeFileSync(path, "");
      const command = `ulimit -f 64; exec "$0" "$@"`;
      const child = spawnSync(
        "/bin/bash",
        ["-c", command, process.execPath, ...nodeArguments(SCRIPT), path, "full", "1000", "7"],
        {
          encoding: "utf8",
          // Loaders write caches, which must not exceed the limit.
          env: { ...process.env, TSX_DISABLE_CACHE: "1", NODE_DISABLE_COMPILE_CACHE: "1" },
        },
      );
      expect(child.stderr).toMatch(/failed: session-not-written: .*Nothing was changed/);
      expect(child.status).toBe(3);
      const session = await loadSession(path);
      expect(session.damage).toEqual([]);
      expect(session.entries.map(({ uuid }) => uuid)).toEqual(child.stdout.trim().split("\n"));
      expect(readFileSync(path, "utf8").endsWith("\n")).toBe(true);
    },
  );

  it.skipIf(!existsSync("/dev/full"))(
    "the error of a writer on a full disk says that the disk is full",
    async () => {
      const { notWritten } = await import("../../packages/sessions/src/transcript/whole-file.ts");
      const { open } = await import("node:fs/promises");
      const full = await open("/dev/full", "w");
      const failure: unknown = await full.write("x").catch((error: unknown) => error);
      await full.close();
      expect(notWritten("s.jsonl", failure).message).toBe(
        "The session s.jsonl was not written: the disk is full. Nothing was changed.",
      );
    },
  );
});

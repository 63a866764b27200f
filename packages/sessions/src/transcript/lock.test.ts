import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { lockSession } from "./lock.ts";

const path = join(temporaryFolder(), "session.jsonl");
writeFileSync(path, "");

describe("lockSession", () => {
  it("only one process at a time can hold the lock of a session", async () => {
    let holders = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const release = await lockSession(path);
        most = Math.max(most, ++holders);
        await new Promise((done) => setImmediate(done));
        holders--;
        await release();
      }),
    );
    expect(most).toBe(1);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it("fails with file-locked when it cannot get the lock in time", async () => {
    const release = await lockSession(path);
    await expect(lockSession(path, 50)).rejects.toMatchObject({
      code: "file-locked",
      remedy: expect.stringContaining(".lock"),
    });
    await release();
  });

  it("takes over the lock of a holder that died", async () => {
    mkdirSync(`${path}.lock`);
    const longAgo = new Date(Date.now() - 60_000);
    utimesSync(`${path}.lock`, longAgo, longAgo);
    const release = await lockSession(path, 1_000);
    await release();
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it("releasing a lock that was lost is not an error", async () => {
    const release = await lockSession(path);
    await release();
    await expect(release()).resolves.toBeUndefined();
  });
});

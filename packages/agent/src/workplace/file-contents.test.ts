import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import type { FileContents } from "../workplace.ts";
import { createFileContents, fileProblemOf } from "./file-contents.ts";

const folder = temporaryFolder();
const LONG_AGO = new Date("2020-01-01");

function aged(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  utimesSync(path, LONG_AGO, LONG_AGO);
  return path;
}

/** Clock that is a minute ahead, so that a file that was just written looks old. */
const later = (): number => Date.now() + 60_000;

const textOf = async (files: FileContents, path: string): Promise<string> =>
  (await files.read(path)).bytes.toString();

async function refusalOf(path: string): Promise<{ reason: string | undefined; words: string }> {
  const error: unknown = await createFileContents()
    .read(path)
    .catch((failure: unknown) => failure);
  return { reason: fileProblemOf(error)?.reason, words: error instanceof Error ? error.message : "read" };
}

describe("cached file contents", () => {
  it("reads an unchanged file once, and returns its modification time", async () => {
    const files = createFileContents({ now: later });
    const path = aged("kept", "one");
    const first = await files.read(path);
    expect(first.mtimeMs).toBe(LONG_AGO.getTime());
    expect(await files.read(path)).toBe(first);
  });

  it("caches a file for fifteen minutes, or until the cache is cleared", async () => {
    let now = later();
    const files = createFileContents({ now: () => now });
    const path = aged("timed", "one");
    const first = await files.read(path);
    now += 14 * 60_000;
    expect(await files.read(path)).toBe(first);
    now += 2 * 60_000;
    const second = await files.read(path);
    expect(second).not.toBe(first);
    files.clear();
    expect(await files.read(path)).not.toBe(second);
  });

  it("drops the least recently used files from the cache when the cache exceeds 50 MB", async () => {
    const files = createFileContents({ now: later });
    const paths = ["big-1", "big-2", "big-3"].map((name) => aged(name, ""));
    for (const path of paths) {
      truncateSync(path, 20 * 1024 * 1024);
      utimesSync(path, LONG_AGO, LONG_AGO);
    }
    const [one = "", two = "", three = ""] = paths;
    const first = await files.read(one);
    await files.read(two);
    const last = await files.read(three);
    // Compared with `===`, because the matcher would compare all 20 MB byte by byte.
    expect((await files.read(three)) === last).toBe(true);
    expect((await files.read(one)) === first).toBe(false);
  });
});

describe("freshness of cached file contents", () => {
  it("reads a file again when its size or time changes, or when another file replaces it", async () => {
    const files = createFileContents({ now: later });
    const path = aged("changing", "one");
    expect(await textOf(files, path)).toBe("one");
    aged("changing", "three");
    expect(await textOf(files, path)).toBe("three");
    writeFileSync(path, "seven");
    expect(await textOf(files, path)).toBe("seven");
    renameSync(aged("other", "eight"), path);
    expect(await textOf(files, path)).toBe("eight");
  });

  it("reads a changed file again even if its size and modification time are the same as before", async () => {
    const files = createFileContents();
    const path = aged("forged", "one");
    expect(await textOf(files, path)).toBe("one");
    aged("forged", "two");
    expect(await textOf(files, path)).toBe("two");
  });

  it("does not cache a file that was just written, because a second write right afterwards could go unnoticed", async () => {
    const path = aged("young", "one");
    const { ctimeMs } = statSync(path);
    const readTwice = async (files: FileContents): Promise<boolean> => {
      const first = await files.read(path);
      return (await files.read(path)) === first;
    };
    expect(await readTwice(createFileContents({ now: () => ctimeMs + 50 }))).toBe(false);
    expect(await readTwice(createFileContents({ now: () => ctimeMs + 150 }))).toBe(true);
  });

  it("reports a cached file as missing when it no longer exists", async () => {
    const files = createFileContents({ now: later });
    const path = aged("going", "one");
    await files.read(path);
    renameSync(path, join(folder, "gone"));
    await expect(files.read(path)).rejects.toMatchObject({ code: "file-unusable" });
  });
});

describe("paths without file contents", () => {
  it("rejects folders, pipes, devices, links, missing files and huge files with a reason", async () => {
    mkdirSync(join(folder, "sub"));
    execFileSync("mkfifo", [join(folder, "pipe")]);
    symlinkSync(aged("target", "x"), join(folder, "link"));
    truncateSync(aged("huge", ""), 33 * 1024 * 1024);
    expect(await refusalOf(join(folder, "sub"))).toMatchObject({ reason: "folder" });
    expect(await refusalOf(join(folder, "pipe"))).toMatchObject({ reason: "not-a-file" });
    expect((await refusalOf(join(folder, "pipe"))).words).toContain("is a pipe");
    expect(await refusalOf("/dev/zero")).toMatchObject({ reason: "not-a-file" });
    expect(await refusalOf(join(folder, "link"))).toMatchObject({ reason: "unreadable" });
    expect(await refusalOf(join(folder, "none"))).toMatchObject({ reason: "missing" });
    expect(await refusalOf(join(folder, "target", "x"))).toMatchObject({ reason: "missing" });
    expect((await refusalOf(join(folder, "huge"))).words).toContain(
      "is 33.0 MB, which is more than the limit of 32.0 MB",
    );
    expect(await refusalOf("nul\0")).toMatchObject({ reason: "unreadable" });
  });

  it("fileProblemOf returns undefined for an unrelated error", () => {
    expect(fileProblemOf(new Error("file-unusable"))).toBeUndefined();
  });
});

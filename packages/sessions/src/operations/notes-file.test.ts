import { spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { notesFile, notesPath } from "./notes-file.ts";

const folder = temporaryFolder();
let made = 0;

/** Creates a separate folder, so that leftover files are visible. */
function place(): { readonly path: string; readonly left: () => readonly string[] } {
  const own = join(folder, `place-${made++}`);
  mkdirSync(own);
  return { path: join(own, "s.notes.md"), left: () => readdirSync(own) };
}

describe("notesPath", () => {
  it.each([
    ["/a/b/session.jsonl", "/a/b/session.notes.md"],
    ["/a/b/session", "/a/b/session.notes.md"],
    ["session.jsonl", "session.notes.md"],
    ["/a/b/x.y.jsonl", "/a/b/x.y.notes.md"],
  ])("the notes path of %s is %s", (session, notes) => {
    expect(notesPath(session)).toBe(notes);
  });
});

describe("notesFile", () => {
  it("returns undefined for a notes file that does not exist yet", async () => {
    expect(await notesFile(place().path).read()).toBeUndefined();
    expect(await notesFile(join(folder, "no", "such", "s.notes.md")).read()).toBeUndefined();
    writeFileSync(join(folder, "a-file"), "");
    expect(await notesFile(join(folder, "a-file", "s.notes.md")).read()).toBeUndefined();
  });

  it("writes the whole notes file, private to its owner, and leaves no other file behind", async () => {
    const { path, left } = place();
    const file = notesFile(path);
    expect(await file.write("# A\n\nfür 漢字 🌊\n", undefined)).toBe(true);
    expect(await file.read()).toBe("# A\n\nfür 漢字 🌊\n");
    expect(await file.write("second", "# A\n\nfür 漢字 🌊\n")).toBe(true);
    expect(readFileSync(path, "utf8")).toBe("second");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(left()).toEqual(["s.notes.md"]);
  });

  it("replaces the notes file atomically, so that an open reader still sees the old text", async () => {
    const { path } = place();
    writeFileSync(path, "old");
    const reading = openSync(path, "r");
    await notesFile(path).write("new and longer", "old");
    expect([readFileSync(reading, "utf8"), readFileSync(path, "utf8")]).toEqual(["old", "new and longer"]);
    closeSync(reading);
  });

  it("creates the folder of a notes file if the folder is missing", async () => {
    const path = join(folder, "new", "folder", "s.notes.md");
    expect(await notesFile(path).write("text", undefined)).toBe(true);
    expect(readFileSync(path, "utf8")).toBe("text");
  });

  it("makes a notes file private again if others could read it", async () => {
    const { path } = place();
    writeFileSync(path, "theirs", { mode: 0o644 });
    expect(await notesFile(path).write("ours", "theirs")).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("does not overwrite a notes file that a person changed, created or deleted since it was read", async () => {
    const { path, left } = place();
    const file = notesFile(path);
    writeFileSync(path, "a person's");
    expect(await file.write("ours", undefined)).toBe(false);
    expect(await file.write("ours", "what was read")).toBe(false);
    expect(await file.write("ours", "")).toBe(false);
    expect(readFileSync(path, "utf8")).toBe("a person's");
    const gone = place();
    expect(await notesFile(gone.path).write("ours", "what was read")).toBe(false);
    expect([left(), gone.left()]).toEqual([["s.notes.md"], []]);
  });

  it("distinguishes an empty notes file from a missing one", async () => {
    const { path } = place();
    writeFileSync(path, "");
    expect(await notesFile(path).read()).toBe("");
    expect(await notesFile(path).write("ours", undefined)).toBe(false);
    expect(await notesFile(path).write("ours", "")).toBe(true);
  });

  it("lets exactly one of several concurrent writers replace the notes file", async () => {
    const { path, left } = place();
    const texts = Array.from({ length: 8 }, (_, at) => `${at}`.repeat(50_000));
    const first = await Promise.all(texts.map((text) => notesFile(path).write(text, undefined)));
    expect(first.filter(Boolean)).toHaveLength(1);
    const before = readFileSync(path, "utf8");
    expect(before).toBe(texts[first.indexOf(true)]);
    const second = await Promise.all(texts.map((text) => notesFile(path).write(`${text}!`, before)));
    expect(second.filter(Boolean)).toHaveLength(1);
    expect(readFileSync(path, "utf8")).toBe(`${texts[second.indexOf(true)]}!`);
    expect(left()).toEqual(["s.notes.md"]);
  });

  it("can replace a notes file whose text ended in half of a surrogate pair", async () => {
    const { path } = place();
    const file = notesFile(path);
    expect(await file.write("half \ud83c", undefined)).toBe(true);
    expect(await file.write("next", "half \ud83c")).toBe(true);
  });

  it("keeps a byte order mark in the notes text, so that the next write recognizes the file as unchanged", async () => {
    const { path } = place();
    writeFileSync(path, "\ufeffnotes");
    expect(await notesFile(path).read()).toBe("\ufeffnotes");
    expect(await notesFile(path).write("next", "\ufeffnotes")).toBe(true);
  });
});

describe("something other than a notes file at the path of the notes", () => {
  const outside = join(folder, "outside.txt");
  writeFileSync(outside, "not ours to touch");

  const cases: readonly (readonly [string, (path: string) => void, RegExp])[] = [
    ["a link to a file", (path) => symlinkSync(outside, path), /is a link/],
    ["a link to nothing", (path) => symlinkSync(join(folder, "nothing"), path), /is a link/],
    ["a folder", (path) => mkdirSync(path), /is a folder/],
    ["a file of 100 MB", hundredMegabytes, /is larger than 1 MB, which is too large for notes/],
  ];

  it.each(cases)(
    "neither reads nor writes %s at the path of the notes, and reports the reason",
    async (_, create, message) => {
      const { path, left } = place();
      create(path);
      const error = {
        code: "notes-unreadable",
        message: expect.stringMatching(message),
        remedy: expect.stringContaining("Nothing was changed"),
      };
      await expect(notesFile(path).read()).rejects.toMatchObject(error);
      await expect(notesFile(path).write("ours", undefined)).rejects.toMatchObject(error);
      await expect(notesFile(path).write("ours", "not ours to touch")).rejects.toMatchObject(error);
      expect(left()).toEqual(["s.notes.md"]);
      expect(readFileSync(outside, "utf8")).toBe("not ours to touch");
    },
  );

  it.skipIf(spawnSync("mkfifo", ["--version"]).status !== 0)(
    "does not block if the path of the notes is a pipe",
    async () => {
      const { path } = place();
      spawnSync("mkfifo", [path]);
      await expect(notesFile(path).read()).rejects.toThrow(/not a regular file/);
    },
  );

  it.each([
    ["bytes that are not UTF-8", Buffer.from([0x23, 0x20, 0xff, 0xfe]), /is not UTF-8 text/],
    ["a binary file", Buffer.from("# A\u0000B"), /is not a text/],
  ])("reports %s at the path of the notes as unreadable", async (_, bytes, message) => {
    const { path } = place();
    writeFileSync(path, bytes);
    await expect(notesFile(path).read()).rejects.toMatchObject({ code: "notes-unreadable", message });
    expect(await notesFile(path).write("ours", undefined)).toBe(false);
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it("does not overwrite a notes file that its owner marked read-only", async () => {
    const { path, left } = place();
    writeFileSync(path, "kept");
    chmodSync(path, 0o400);
    const error = { code: "notes-not-written", message: /read-only.*Nothing was changed/ };
    await expect(notesFile(path).write("ours", "kept")).rejects.toMatchObject(error);
    expect([readFileSync(path, "utf8"), left()]).toEqual(["kept", ["s.notes.md"]]);
  });

  it("reports that the notes were not written when a file is at the path of the notes folder", async () => {
    writeFileSync(join(folder, "no-folder"), "");
    await expect(
      notesFile(join(folder, "no-folder", "s.notes.md")).write("x", undefined),
    ).rejects.toMatchObject({
      code: "notes-not-written",
      message: expect.stringMatching(/its parent is a file instead of a folder/),
    });
  });

  it("rejects a text that is too large for notes", async () => {
    const { path } = place();
    await expect(notesFile(path).write("x".repeat(1024 * 1024 + 1), undefined)).rejects.toMatchObject({
      code: "notes-not-written",
    });
    expect(existsSync(path)).toBe(false);
    expect(await notesFile(path).write("x".repeat(1024 * 1024), undefined)).toBe(true);
  });
});

function hundredMegabytes(path: string): void {
  writeFileSync(path, "");
  truncateSync(path, 100 * 1024 * 1024);
}

import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { answerOf, filePlace } from "../../../../../test/support/file-place.ts";
import { temporaryFolder } from "../../../../../test/transcript/temporary-folder.ts";
import { createFileContents } from "../../workplace/file-contents.ts";
import type { FileContents } from "../../workplace.ts";
import { createFile, replaceFile } from "./change-file.ts";
import { editTool } from "./edit-file.ts";
import { readTool } from "./read-file.ts";
import { writeTool } from "./write-file.ts";

const root = realpathSync(temporaryFolder());
let cwd: string;
let path: string;
beforeEach(() => {
  cwd = join(root, String(readdirSync(root).length));
  mkdirSync(cwd);
  path = join(cwd, "a.txt");
});

const { signal } = new AbortController();
const now = (): string => readFileSync(path, "utf8");

/** Returns a reader of files that calls `change` right after each read. */
function changedAfterRead(change: () => void): FileContents {
  const files = createFileContents();
  return {
    ...files,
    read: async (realPath) => {
      const content = await files.read(realPath).finally(change);
      return content;
    },
  };
}

describe("changes of a file by other programs and agents", () => {
  it.each([
    ["rewritten", () => writeFileSync(path, "theirs\n")],
    ["rewritten with the same number of bytes", () => writeFileSync(path, "one 1\n")],
    [
      "replaced by another file",
      () => {
        writeFileSync(`${path}.new`, "theirs\n");
        renameSync(`${path}.new`, path);
      },
    ],
    ["removed", () => rmSync(path, { force: true })],
  ])("does not overwrite a file that was %s between the agent's read and its write", async (_, change) => {
    writeFileSync(path, "one\n 1");
    const place = filePlace(cwd);
    await answerOf(readTool(place), { file_path: "a.txt" });
    const unsteady = { ...place, files: changedAfterRead(change) };
    const edit = { file_path: "a.txt", old_string: "one", new_string: "mine" };
    const answers = [await answerOf(editTool(unsteady), edit)];
    const theirs = readdirSync(cwd).map((name) => [name, readFileSync(join(cwd, name), "utf8")]);
    expect(answers.join("\n")).toMatch(/^REFUSED: a.txt was not changed/);
    expect(theirs.flat().join()).not.toContain("mine");
    expect(readdirSync(cwd).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("the Write tool does not replace a file that another program created just before the write", async () => {
    const place = filePlace(cwd);
    const unsteady = { ...place, files: changedAfterRead(() => writeFileSync(path, "theirs\n")) };
    const answer = await answerOf(writeTool(unsteady), { file_path: "a.txt", content: "mine\n" });
    expect(answer).toMatch(/^REFUSED: a.txt was not changed: its content differs from what you read/);
    expect(now()).toBe("theirs\n");
  });

  it("concurrent edits of one file by several agents lose no confirmed edit", async () => {
    writeFileSync(path, "a b c d e f\n");
    const files = createFileContents();
    const agents = ["a", "b", "c", "d", "e", "f"].map((letter) => ({
      letter,
      place: filePlace(cwd, { files }),
    }));
    let open = agents;
    while (open.length > 0) {
      for (const { place } of open) await answerOf(readTool(place), { file_path: "a.txt" });
      const done = await Promise.all(
        open.map(async ({ letter, place }) => {
          const edit = { file_path: "a.txt", old_string: letter, new_string: letter.toUpperCase() };
          return (await answerOf(editTool(place), edit)).startsWith("Changed");
        }),
      );
      expect(done.filter(Boolean)).toHaveLength(1);
      open = open.filter((_, index) => !done[index]);
    }
    expect(now()).toBe("A B C D E F\n");
  });

  it("when several agents create the same file at the same time, one agent succeeds and the others are refused", async () => {
    const places = [1, 2, 3, 4].map(() => filePlace(cwd));
    const answers = await Promise.all(
      places.map((place, index) => answerOf(writeTool(place), { file_path: "a.txt", content: `${index}` })),
    );
    const made = answers.findIndex((answer) => answer.startsWith("Created"));
    expect(answers.filter((answer) => answer.startsWith("REFUSED"))).toHaveLength(3);
    expect(now()).toBe(String(made));
  });
});

describe("replaceFile", () => {
  it("replaces the whole content of any file, and leaves no temporary file behind", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array(), fc.uint8Array(), async (before, after) => {
        writeFileSync(path, before);
        const outcome = await replaceFile(path, Buffer.from(before), Buffer.from(after), signal);
        expect(outcome).toEqual({ state: "written", mtimeMs: statSync(path).mtimeMs });
        expect(readFileSync(path).equals(Buffer.from(after))).toBe(true);
        expect(readdirSync(cwd)).toEqual(["a.txt"]);
      }),
      { numRuns: 20 },
    );
  });

  it("replacing a file changes its content under all of its hard links", async () => {
    writeFileSync(path, "one, and more\n");
    linkSync(path, join(cwd, "b.txt"));
    await replaceFile(path, Buffer.from("one, and more\n"), Buffer.from("1\n"), signal);
    expect(readFileSync(join(cwd, "b.txt"), "utf8")).toBe("1\n");
    expect(await replaceFile(path, Buffer.from("other"), Buffer.from("2\n"), signal)).toEqual({
      state: "changed",
    });
    expect(now()).toBe("1\n");
  });

  it("does not change or create a file after an abort, and leaves no temporary file behind", async () => {
    writeFileSync(path, "one");
    const aborted = AbortSignal.abort(new Error("stop"));
    await expect(replaceFile(path, Buffer.from("one"), Buffer.from("1"), aborted)).rejects.toThrow("stop");
    await expect(createFile(join(cwd, "new"), Buffer.from("1"), aborted)).rejects.toThrow("stop");
    expect(readdirSync(cwd)).toEqual(["a.txt"]);
    expect(now()).toBe("one");
  });
});

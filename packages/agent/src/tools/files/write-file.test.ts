import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { answerOf, callTool, filePlace } from "../../../../../test/support/file-place.ts";
import { temporaryFolder } from "../../../../../test/transcript/temporary-folder.ts";
import type { Tool } from "../../tool.ts";
import { editTool } from "./edit-file.ts";
import type { FilePlace } from "./file-place.ts";
import { readTool } from "./read-file.ts";
import { writeTool } from "./write-file.ts";

let cwd: string;
let place: FilePlace;
let write: Tool;
const root = realpathSync(temporaryFolder());
beforeEach(() => {
  cwd = join(root, String(readdirSync(root).length));
  mkdirSync(cwd);
  place = filePlace(cwd);
  write = writeTool(place);
});

const put = (name: string, content: string | Buffer): void => writeFileSync(join(cwd, name), content);
const textOf = (name: string): string => readFileSync(join(cwd, name), "utf8");
const read = (file_path: string, more: object = {}): Promise<string> =>
  answerOf(readTool(place), { file_path, ...more });

describe("the Write tool", () => {
  it("creates a file and its missing folders, and leaves no temporary file behind", async () => {
    const outcome = await callTool(write, { file_path: "src/deep/a.ts", content: "one\ntwo\n" });
    expect(outcome).toEqual({
      content: "Created src/deep/a.ts, 2 lines.",
      summary: "created, 2 lines",
      display: "@@ -0,0 +1,2 @@\n+one\n+two",
    });
    expect(textOf("src/deep/a.ts")).toBe("one\ntwo\n");
    expect(readdirSync(join(cwd, "src/deep"))).toEqual(["a.ts"]);
    expect(statSync(join(cwd, "src/deep/a.ts")).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  it("overwrites a file that the agent has read, keeps its permissions, and needs no new read afterwards", async () => {
    put("run.sh", "one\ntwo\n");
    chmodSync(join(cwd, "run.sh"), 0o755);
    await read("run.sh");
    const outcome = await callTool(write, { file_path: "run.sh", content: "one\n2\n" });
    expect(outcome).toMatchObject({
      content: "Wrote run.sh (+1 −1 lines).",
      display: "@@ -1,2 +1,2 @@\n one\n-two\n+2",
    });
    expect(statSync(join(cwd, "run.sh")).mode & 0o777).toBe(0o755);
    const edit = { file_path: "run.sh", old_string: "2", new_string: "3" };
    expect(await answerOf(editTool(place), edit)).toMatch(/^Changed/);
    expect(await answerOf(write, { file_path: "run.sh", content: "end" })).toMatch(/^Wrote/);
    expect(textOf("run.sh")).toBe("end");
  });

  it("writes to the target of a link, even if the target does not exist yet, and keeps the link", async () => {
    put("real.txt", "one\n");
    symlinkSync("real.txt", join(cwd, "link"));
    symlinkSync("new/later.txt", join(cwd, "dangling"));
    await read("link");
    expect(await answerOf(write, { file_path: "link", content: "1\n" })).toMatch(/^Wrote link/);
    expect(await answerOf(write, { file_path: "dangling", content: "x\n" })).toMatch(/^Created/);
    expect([textOf("real.txt"), textOf("new/later.txt")]).toEqual(["1\n", "x\n"]);
    expect(realpathSync(join(cwd, "link"))).toBe(join(cwd, "real.txt"));
    expect(realpathSync(join(cwd, "dangling"))).toBe(join(cwd, "new/later.txt"));
  });

  it("the Write tool keeps the byte order mark, the encoding and the line ends of a file that it overwrites", async () => {
    put("win.txt", "\ufeffa\r\nb\r\n");
    put("wide.txt", Buffer.from("\ufeffa\n", "utf16le"));
    await read("win.txt");
    await read("wide.txt");
    expect(await answerOf(write, { file_path: "win.txt", content: "x\ny\n" })).toContain(
      "Its lines still end in CRLF.",
    );
    await answerOf(write, { file_path: "wide.txt", content: "ü\n" });
    expect(textOf("win.txt")).toBe("\ufeffx\r\ny\r\n");
    expect(readFileSync(join(cwd, "wide.txt"), "utf16le")).toBe("\ufeffü\n");
  });

  it("overwrites an empty file without a read, and changes nothing if the file already has the new content", async () => {
    put("empty", "");
    expect(await answerOf(write, { file_path: "empty", content: "x" })).toMatch(/^Wrote/);
    expect(await answerOf(write, { file_path: "empty", content: "x" })).toContain("nothing was changed");
  });
});

describe("calls of the Write tool that are refused", () => {
  it("refuses to overwrite a file that the agent has not read completely, or that changed since the read", async () => {
    put("a.txt", "one\ntwo\nthree\n");
    const attempt = (): Promise<string> => answerOf(write, { file_path: "a.txt", content: "x" });
    expect(await attempt()).toMatch(/^REFUSED: .*Read it first/);
    await read("a.txt", { limit: 2 });
    expect(await attempt()).toMatch(/^REFUSED: .*only lines 1 to 2/);
    await read("a.txt");
    await read("a.txt", { offset: 2, limit: 1 });
    put("a.txt", "mine\n");
    expect(await attempt()).toMatch(/^REFUSED: .*its content differs from what you read/);
    expect(textOf("a.txt")).toBe("mine\n");
  });

  it("refuses to write half a character, or to write to a binary file, a folder or an impossible path", async () => {
    put("binary", "a\0b");
    expect(await answerOf(write, { file_path: "binary", content: "x" })).toMatch(
      /^REFUSED: .*not a text file/,
    );
    expect(await answerOf(write, { file_path: ".", content: "x" })).toMatch(/^REFUSED: .*it is a folder/);
    expect(await answerOf(write, { file_path: "binary/x", content: "x" })).toMatch(
      /^REFUSED: .*a file, not a folder/,
    );
    expect(await answerOf(write, { file_path: "half", content: "\ud800" })).toMatch(
      /^REFUSED: .*half a character/,
    );
    expect(await answerOf(write, { file_path: "n".repeat(300), content: "" })).toMatch(
      /^REFUSED: .*too long/,
    );
    expect(readdirSync(cwd)).toEqual(["binary"]);
  });

  it.skipIf(process.getuid?.() === 0)(
    "refuses to overwrite a read-only file in a writable folder",
    async () => {
      put("a.txt", "one\n");
      chmodSync(join(cwd, "a.txt"), 0o444);
      await read("a.txt");
      expect(await answerOf(write, { file_path: "a.txt", content: "x" })).toMatch(
        /^REFUSED: .*may not be written/,
      );
    },
  );

  it("the Write tool writes nothing when its call was aborted", async () => {
    const signal = AbortSignal.abort(new Error("stop"));
    const context = { callId: "c", signal, onProgress: () => undefined };
    await expect(write.call({ file_path: "a", content: "x" }, context)).rejects.toThrow("stop");
    expect(existsSync(join(cwd, "a"))).toBe(false);
  });
});

import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { answerOf, callTool, filePlace } from "../../../../../test/support/file-place.ts";
import { temporaryFolder } from "../../../../../test/transcript/temporary-folder.ts";
import { visiblePaths } from "../../../../core/src/compaction/restore/read-state.ts";
import type { Tool } from "../../tool.ts";
import type { FilePlace } from "./file-place.ts";
import { readTool } from "./read-file.ts";

const cwd = realpathSync(temporaryFolder());
let place: FilePlace;
let read: Tool;
beforeEach(() => {
  place = filePlace(cwd);
  read = readTool(place);
});

const put = (name: string, content: string | Buffer): string => {
  writeFileSync(join(cwd, name), content);
  return name;
};
const lines = (count: number): string =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");

describe("reading text files", () => {
  it("the Read tool shows each line of a file with its number", async () => {
    const file_path = put("a.txt", "one\n\n\tthree\n");
    expect(await answerOf(read, { file_path })).toBe("     1\tone\n     2\t\n     3\t\tthree");
    expect((await callTool(readTool(filePlace(cwd)), { file_path })).summary).toBe("3 lines");
  });

  it("explains that a file is empty, is a folder or is missing, and suggests what to do instead", async () => {
    put("empty", "");
    mkdirSync(join(cwd, "sub"), { recursive: true });
    put("README.md", "x");
    expect(await answerOf(read, { file_path: "empty" })).toBe("empty exists and is empty.");
    expect(await answerOf(read, { file_path: "sub" })).toMatch(
      /^REFUSED: sub cannot be used: it is a folder\. To list its content, call Glob/,
    );
    expect(await answerOf(read, { file_path: "Readme.txt" })).toContain("Did you mean README.md?");
    expect(await answerOf(read, { file_path: "nowhere/zzz" })).toContain("There is no file nowhere/zzz.");
  });

  it("the Read tool shows the lines that offset and limit select, and explains how to continue", async () => {
    const file_path = put("range.txt", lines(10));
    const answer = await answerOf(read, { file_path, offset: 3, limit: 2 });
    expect(answer).toBe(
      "     3\tline 3\n     4\tline 4\n\n[These are lines 3 to 4 of 10. Continue with offset 5.]",
    );
    expect(await answerOf(read, { file_path, offset: 0, limit: 1 })).toContain("     1\tline 1\n");
    expect(await answerOf(read, { file_path, offset: 9 })).toContain(
      "[These are lines 9 to 10 of 10, the end of the file.]",
    );
    expect(await answerOf(read, { file_path, offset: 11 })).toMatch(/^REFUSED: range.txt has 10 lines/);
  });

  it("the Read tool shows 2,000 lines of a file if the call sets no range", async () => {
    const answer = await answerOf(read, { file_path: put("many.txt", lines(2_500)) });
    expect(answer).toContain("  2000\tline 2000\n");
    expect(answer).toContain("[These are lines 1 to 2000 of 2500. Continue with offset 2001.]");
  });

  it("the Read tool shows only whole lines that fit its result limit, and names the offset to continue at", async () => {
    const file_path = put("long.txt", lines(30_000));
    const small = readTool({ ...place, resultLimit: () => 3_000 });
    const answer = await answerOf(small, { file_path });
    expect(answer.length).toBeLessThan(3_000);
    const next = Number(/offset (\d+)/.exec(answer)?.[1]);
    expect(answer).toContain(`line ${next - 1}\n\n[`);
    expect(await answerOf(small, { file_path, offset: next })).toMatch(
      new RegExp(`^ *${next}\tline ${next}\n`),
    );
    expect((await answerOf(read, { file_path, limit: 30_000 })).length).toBeLessThanOrEqual(50_000);
  });

  it("the Read tool cuts a long line between characters, and explains how to read the rest", async () => {
    const answer = await answerOf(read, {
      file_path: put("wide.txt", `a\n${"x".repeat(1_999)}😀${"y".repeat(50)}\n`),
    });
    expect(answer).toContain(
      "[Line 2 has 2051 characters and is cut at 2000. To read more of it: sed -n '2p' FILE",
    );
    expect(answer.isWellFormed()).toBe(true);
    expect(place.reads.get(join(cwd, "wide.txt"))?.range).toEqual({ from: 1, to: 2 });
  });

  it("the Read tool reports a byte order mark, CRLF, other encodings and invalid bytes in words", async () => {
    const marked = await answerOf(read, { file_path: put("bom.txt", "\ufeffone\r\ntwo\r\n") });
    expect(marked).toBe("     1\tone\n     2\ttwo\n\n[Its lines end in CRLF. Edit and Write keep that.]");
    const mixed = await answerOf(read, { file_path: put("mixed.txt", "one\r\ntwo") });
    expect(mixed).toContain("CRLF");
    expect(mixed).toContain("[Its last line has no line ending.]");
    const wide = Buffer.from("\ufeffgrüß\n", "utf16le");
    expect(await answerOf(read, { file_path: put("le.txt", wide) })).toMatch(
      /^ +1\tgrüß\n\n\[It is in UTF-16LE\. /,
    );
    expect(await answerOf(read, { file_path: put("be.txt", Buffer.from(wide).swap16()) })).toContain("grüß");
    const old = Buffer.from("na\xefve, but mostly plain letters\n", "latin1");
    expect(await answerOf(read, { file_path: put("old.txt", old) })).toContain("na\ufffdve");
  });

  it("refuses to read a binary file", async () => {
    for (const bytes of [Buffer.from([1, 0, 2]), Buffer.from("a\0b"), Buffer.alloc(100, 0xe9)]) {
      expect(await answerOf(read, { file_path: put("binary", bytes) })).toMatch(
        /^REFUSED: binary is not a text file/,
      );
    }
  });

  it("refuses an invalid input or an impossible path", async () => {
    for (const input of [{}, { file_path: "" }, { file_path: 1 }, { file_path: "a", limit: 0 }, "a", null])
      expect(await answerOf(read, input)).toMatch(/^REFUSED: Read was not run/);
    expect(await answerOf(read, { file_path: "a\0b" })).toMatch(/^REFUSED: .* cannot be used/);
  });
});

describe("reading a file that is still in the context", () => {
  const entriesWith = (file_path: string, content: string): ReturnType<typeof visiblePaths> => {
    const c = new ConversationBuilder();
    c.assistant([{ type: "tool_use", id: "toolu_1", name: "Read", input: { file_path } }]);
    c.user([{ type: "tool_result", tool_use_id: "toolu_1", content }]);
    return visiblePaths(c.entries);
  };

  it("does not repeat a file that is still in the context, and names the earlier read", async () => {
    const file_path = put("known.txt", "one\n");
    const first = await answerOf(read, { file_path }, "toolu_1");
    const second = await answerOf(read, { file_path }, "toolu_2");
    expect(second).toMatch(/^File unchanged .*known\.txt, all of it.*toolu_1/);
    expect(second).not.toContain("\tone");
    expect([...entriesWith(file_path, first)]).toEqual([file_path]);
    expect([...entriesWith(file_path, second)]).toEqual([]);
  });

  it('treats a file that begins with the words "File unchanged" as ordinary content', async () => {
    const file_path = put("tricky.txt", "File unchanged\n");
    expect([...entriesWith(file_path, await answerOf(read, { file_path }))]).toEqual([file_path]);
  });

  it("shows a file again if its earlier read was aborted", async () => {
    const file_path = put("stopped.txt", "one\n");
    const stop = new AbortController();
    const stopped = read.call(
      { file_path },
      { callId: "toolu_1", signal: stop.signal, onProgress: () => undefined },
    );
    stop.abort(new Error("enough"));
    await expect(stopped).rejects.toThrow("enough");
    expect(await answerOf(read, { file_path }, "toolu_2")).toContain("\tone");
  });

  it("shows an unchanged file again on the third read", async () => {
    const file_path = put("thrice.txt", "one\n");
    const answers = [];
    for (const id of ["a", "b", "c"]) answers.push(await answerOf(read, { file_path }, id));
    expect(answers.map((answer) => answer.includes("\tone"))).toEqual([true, false, true]);
  });

  it("shows a file again when it changed, left the context, or is read in another range", async () => {
    const file_path = put("shown.txt", lines(5));
    const isShown = async (input: object): Promise<boolean> =>
      (await answerOf(read, input)).includes("\tline");
    expect(await isShown({ file_path, offset: 1, limit: 2 })).toBe(true);
    expect(await isShown({ file_path, offset: 1, limit: 2 })).toBe(false);
    expect(await isShown({ file_path, offset: 2, limit: 2 })).toBe(true);
    expect(await isShown({ file_path })).toBe(true);
    expect(await isShown({ file_path, limit: 99 })).toBe(false);
    put("shown.txt", lines(6));
    expect(await isShown({ file_path })).toBe(true);
    place.reads.forget(join(cwd, file_path));
    expect(await isShown({ file_path })).toBe(true);
  });
});

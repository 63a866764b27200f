import { readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { answerOf, callTool, filePlace } from "../../../../../test/support/file-place.ts";
import { temporaryFolder } from "../../../../../test/transcript/temporary-folder.ts";
import type { Tool } from "../../tool.ts";
import { editTool } from "./edit-file.ts";
import type { FilePlace } from "./file-place.ts";
import { readTool } from "./read-file.ts";

const cwd = realpathSync(temporaryFolder());
const path = join(cwd, "a.ts");
let place: FilePlace;
let edit: Tool;
beforeEach(() => {
  place = filePlace(cwd);
  edit = editTool(place);
});

/** Creates a file with this content that the agent has read. */
async function given(content: string | Buffer): Promise<void> {
  writeFileSync(path, content);
  await callTool(readTool(place), { file_path: "a.ts" });
}

const change = (old_string: string, new_string: string, more: object = {}): Promise<string> =>
  answerOf(edit, { file_path: "a.ts", old_string, new_string, ...more });
const now = (): string => readFileSync(path, "utf8");

describe("the Edit tool", () => {
  it("replaces the only occurrence of a text in a file, reports the line number, and shows the diff", async () => {
    await given("one\ntwo\nthree\nfour\nfive\nsix\n");
    const outcome = await callTool(edit, { file_path: "a.ts", old_string: "four", new_string: "4\n4b" });
    expect(now()).toBe("one\ntwo\nthree\n4\n4b\nfive\nsix\n");
    expect(outcome).toEqual({
      content: "Changed a.ts: 1 place, on line 4 (+2 −1 lines).",
      summary: "+2 −1",
      display: "@@ -1,6 +1,7 @@\n one\n two\n three\n-four\n+4\n+4b\n five\n six",
    });
  });

  it("accepts a second edit of a file without a new read, and the next read shows the new content", async () => {
    await given("one two\n");
    await change("one", "1");
    expect(await change("two", "2")).toMatch(/^Changed/);
    expect(now()).toBe("1 2\n");
    expect(await answerOf(readTool(place), { file_path: "a.ts" })).toBe("     1\t1 2");
  });

  it("replaces every occurrence with replace_all", async () => {
    await given("a b a\na\n");
    expect(await change("a", "x", { replace_all: true })).toBe(
      "Changed a.ts: 3 places, on lines 1, 2 (+2 −2 lines).",
    );
    expect(now()).toBe("x b x\nx\n");
  });

  it("inserts replacement patterns such as $& literally", async () => {
    await given("a $& b\n");
    await change("$&", "$1$$$`");
    expect(now()).toBe("a $1$$$` b\n");
  });

  it("edits the file that a link leads to, and keeps the link", async () => {
    await given("one\n");
    symlinkSync("a.ts", join(cwd, "link.ts"));
    expect(await answerOf(edit, { file_path: "link.ts", old_string: "one", new_string: "1" })).toMatch(
      /^Changed/,
    );
    expect(realpathSync(join(cwd, "link.ts"))).toBe(path);
    expect(now()).toBe("1\n");
  });
});

describe("editing a large file", () => {
  it("replaces 60,000 matches in a large file at once, and reports an old text that the file lacks", async () => {
    const content = "some text in a line\n".repeat(60_000);
    await given(content);
    expect(await change("some text", "any text", { replace_all: true })).toContain("60000 places");
    expect(now()).toBe(content.replaceAll("some text", "any text"));
    expect(await change("Schmetterling", "x")).toContain("Find it with Grep");
    const oneLine = '{"a":1},'.repeat(50_000);
    await given(`\r\n${oneLine}`);
    await change('"a"', '"b"', { replace_all: true });
    expect(now()).toBe(`\r\n${oneLine.replaceAll('"a"', '"b"')}`);
  });
});

describe("line ends and encodings in an edited file", () => {
  it("an edit with plain line ends matches CRLF lines, and its new lines end with CRLF", async () => {
    await given("\ufeffone\r\ntwo\r\nthree\r\n");
    await change("one\ntwo\n", "1\n2\n2b\n");
    expect(now()).toBe("\ufeff1\r\n2\r\n2b\r\nthree\r\n");
    await change("three", "3\n4");
    expect(now()).toBe("\ufeff1\r\n2\r\n2b\r\n3\r\n4\r\n");
  });

  it("in a file with mixed line ends, new lines end like the lines around them", async () => {
    await given("a\r\nb\nc\n");
    await change("a", "a\nA");
    await change("c", "c\nC");
    expect(now()).toBe("a\r\nA\r\nb\nc\nC\n");
  });

  it("an edit with carriage returns matches literally if the file has them, and otherwise matches without them", async () => {
    await given("a\r\nb\r\n");
    await change("a\r\nb", "a\nb");
    expect(now()).toBe("a\nb\r\n");
    await given("a\nb\n");
    await change("a\r\nb", "x\r\ny");
    expect(now()).toBe("x\ny\n");
  });

  it("keeps UTF-16 and invalid bytes in an edited file", async () => {
    await given(Buffer.from("\ufeffgrün\n", "utf16le").swap16());
    await change("grün", "weiß");
    expect(readFileSync(path).swap16().toString("utf16le")).toBe("\ufeffweiß\n");
    await given(Buffer.from("na\xefve plain letters\n", "latin1"));
    await change("plain", "simple");
    expect(readFileSync(path, "latin1")).toBe("na\xefve simple letters\n");
  });
});

describe("edits that are refused", () => {
  const CODE = "function a() {\n\treturn “one”;\n}\n\nfunction b() {\n\treturn 2;\n}\n";
  it.each([
    ["return", "x", /occurs in 2 places, on lines 2, 6, .* replace_all/],
    ["", "x", /old_string is empty/],
    ["return", "return", /are the same/],
    ["    return 2;", "x", /different spaces, tabs, or empty lines:\n +6\t→return 2;/],
    ["function b() {\n  return 2;\n}", "x", /:\n +5\tfunction b\(\) {\n +6\t→return 2;\n +7\t}\n/],
    ["     6\t\treturn 2;\n     7\t}", "x", /Leave out each number/],
    ['return "one";', "x", /only look alike.*\n +2\t\treturn “one”;/],
    ["{\\n\\treturn 2;", "x", /escaped twice/],
    ["function bb() {", "x", /The most similar text is this:\n +5\tfunction b\(\) {$/],
    ["Schmetterling", "x", /Nothing in the file is similar/],
    ["\ud800", "x", /half a character/],
  ])("refuses to replace %j with %j, explains why, and changes nothing", async (old, fresh, words) => {
    await given(CODE);
    const answer = await change(old, fresh);
    expect(answer).toMatch(/^REFUSED: a.ts was not changed/);
    expect(answer).toMatch(words);
    expect(now()).toBe(CODE);
  });

  it("refuses to replace a text whose occurrences overlap, because they count as several matches", async () => {
    await given("aaa");
    expect(await change("aa", "b")).toContain("2 places, on line 1,");
    await change("aa", "b", { replace_all: true });
    expect(now()).toBe("ba");
  });

  it("refuses to edit a file that the agent has not read or no longer has in its context", async () => {
    writeFileSync(path, "one\n");
    expect(await change("one", "1")).toMatch(/^REFUSED: .*Read it first/);
    await given("one\n");
    place.reads.clear();
    expect(await change("one", "1")).toMatch(/^REFUSED: .*Read it first/);
    expect(now()).toBe("one\n");
  });

  it("refuses to edit a file that somebody else wrote since the read, unless the content is still the same", async () => {
    await given("one\n");
    writeFileSync(path, "one\n");
    expect(await change("one", "1")).toMatch(/^Changed/);
    writeFileSync(path, "1\nmine\n");
    expect(await change("1", "one")).toMatch(/^REFUSED: .*its content differs from what you read/);
    expect(now()).toBe("1\nmine\n");
  });

  it("refuses to edit missing files, folders and binary files", async () => {
    expect(await answerOf(edit, { file_path: "b.ts", old_string: "a", new_string: "b" })).toContain(
      "Did you mean a.ts?",
    );
    expect(await answerOf(edit, { file_path: ".", old_string: "a", new_string: "b" })).toContain(
      "is a folder",
    );
    writeFileSync(path, "a\0b");
    expect(await change("a", "b")).toMatch(/^REFUSED/);
  });
});

import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { answerOf, callTool, filePlace, needsOf } from "../../../../../test/support/file-place.ts";
import { temporaryFolder } from "../../../../../test/transcript/temporary-folder.ts";
import { grepTool } from "./grep.ts";

const folder = realpathSync(temporaryFolder());
const project = join(folder, "project");
const grep = grepTool(filePlace(project));

function write(path: string, content: string | Buffer, age = 0): void {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), content);
  utimesSync(join(project, path), 1_700_000_000 - age, 1_700_000_000 - age);
}
const search = async (pattern: string, more: object = {}): Promise<readonly string[]> =>
  (await answerOf(grep, { pattern, ...more })).split("\n");
const lines = (pattern: string, more: object = {}): Promise<readonly string[]> =>
  search(pattern, { output_mode: "content", ...more });

beforeAll(() => {
  write("src/a.ts", "one\ntwo needle\nthree\nfour\nfive Needle\nsix\n", 10);
  write("src/b.ts", "const needle = 1;\r\nlast needle\r\n", 5);
  write("src/c.md", "no such thing\n", 0);
  write(".hidden", "needle=hidden", 20);
  write("dist/x.ts", "needle", 0);
  write("node_modules/p/x.ts", "needle", 0);
  write("binary.bin", Buffer.from("needle\0\u0001needle"));
  write(".gitignore", "dist\n", 30);
  write("multi.txt", "begin {\n  inside\n}\nbegin { x }\nend", 40);
  write("wide.txt", `${"x".repeat(3_000)}needle${"y".repeat(3_000)}\n`, 50);
  if (process.platform !== "win32") symlinkSync("/etc", join(project, "link"));
});

describe("the Grep tool", () => {
  it("the Grep tool lists the files that contain a match, newest first", async () => {
    expect(await search("needle")).toEqual([
      "src/b.ts",
      "src/a.ts",
      ".hidden",
      "wide.txt",
      "[Not searched: 1 binary file.]",
    ]);
    expect((await callTool(grep, { pattern: "needle" })).summary).toBe("4 files");
  });

  it("the Grep tool shows matching lines with line numbers and context lines", async () => {
    expect(await lines("needle", { path: "src" })).toEqual([
      "src/a.ts:2:two needle",
      "src/b.ts:1:const needle = 1;",
      "src/b.ts:2:last needle",
    ]);
    expect(await lines("needle", { path: "src/a.ts", "-i": true, "-B": 1, "-A": 1 })).toEqual([
      "src/a.ts-1-one",
      "src/a.ts:2:two needle",
      "src/a.ts-3-three",
      "src/a.ts-4-four",
      "src/a.ts:5:five Needle",
      "src/a.ts-6-six",
    ]);
    expect(await lines("t(wo|hing)", { glob: "*.{ts,md}", "-C": 0, "-n": false })).toEqual([
      "src/a.ts:two needle",
      "src/c.md:no such thing",
    ]);
    expect(await lines("^(one|six)$", { "-A": 1, path: "src/a.ts" })).toEqual([
      "src/a.ts:1:one",
      "src/a.ts-2-two needle",
      "--",
      "src/a.ts:6:six",
    ]);
  });

  it("the Grep tool counts the matching lines of each file", async () => {
    expect(await search("needle", { output_mode: "count", path: "src" })).toEqual([
      "src/a.ts:1",
      "src/b.ts:2",
    ]);
    expect((await callTool(grep, { pattern: "needle", output_mode: "count", path: "src" })).summary).toBe(
      "3 lines in 2 files",
    );
  });

  it("searches only files that match the requested glob or path", async () => {
    expect(await search("needle", { glob: "*.ts" })).toEqual(["src/b.ts", "src/a.ts"]);
    expect(await search("needle", { glob: "src/**" })).toEqual(["src/b.ts", "src/a.ts"]);
    expect(await search("needle", { glob: "!*.{ts,txt,bin}" })).toEqual([".hidden"]);
    expect(await search("needle", { path: "node_modules" })).toEqual(["node_modules/p/x.ts"]);
    expect(await search("needle", { path: "dist" })).toEqual(["dist/x.ts"]);
    expect(await search("needle", { path: "dist/x.ts" })).toEqual(["dist/x.ts"]);
  });

  it("skips files that can contain credentials and says so, but asks to search such a file if the call names it", async () => {
    for (const name of [".env", "id_rsa", "notes.txt"]) write(`keys/${name}`, "password=hunter2");
    expect(await search("password=", { path: "keys" })).toEqual([
      "keys/notes.txt",
      "[Not searched: 2 files that may contain credentials. Pass one of them as path to ask the user for permission.]",
    ]);
    expect(await needsOf(grep, { pattern: "password=", path: "keys" })).toEqual([]);
    expect(await needsOf(grep, { pattern: "password=", path: "keys/.env" })).toMatchObject([
      { kind: "secret-file" },
    ]);
    expect(await search("password=", { path: "keys/.env" })).toEqual(["keys/.env"]);
    rmSync(join(project, "keys"), { recursive: true });
  });

  it("supports inline flags and Unicode classes in a pattern", async () => {
    expect(await lines("(?i)^FIVE", { path: "src" })).toEqual(["src/a.ts:5:five Needle"]);
    expect(await lines("^\\p{Lu}|=\\s\\p{N}", { path: "src" })).toEqual(["src/b.ts:1:const needle = 1;"]);
    expect(await lines("five\\-?", { path: "src" })).toEqual(["src/a.ts:5:five Needle"]);
  });

  it("a search pattern matches across line ends only with the multiline option", async () => {
    expect(await search("\\{\\n", { glob: "*.txt" })).toEqual(["No matches in 2 files."]);
    expect(await lines("begin \\{.*?\\}", { glob: "*.txt", multiline: true })).toEqual([
      "multi.txt:1:begin {",
      "multi.txt:2:  inside",
      "multi.txt:3:}",
      "multi.txt:4:begin { x }",
    ]);
    expect(await lines("^end$", { glob: "multi.*", multiline: true, "-B": 1 })).toEqual([
      "multi.txt-4-begin { x }",
      "multi.txt:5:end",
    ]);
  });

  it("cuts a long line around its match", async () => {
    const [line = ""] = await lines("needle", { glob: "wide.*" });
    expect(line).toMatch(/^wide\.txt:1:…x{120}needley+…$/);
    expect(line.length).toBeLessThan(450);
  });

  it("limits the results to head_limit, and reports that there are more", async () => {
    expect(await lines("e", { path: "src", head_limit: 2 })).toEqual([
      "src/a.ts:1:one",
      "src/a.ts:2:two needle",
      "[These are only the first 2 lines. Use a more specific pattern, or search fewer files.]",
    ]);
    expect(await search("needle", { glob: "*.ts", head_limit: 1 })).toEqual([
      "src/b.ts",
      "[2 files match. These are the first 1.]",
    ]);
  });

  it("the Grep tool never returns more characters than its result limit", async () => {
    write("long.log", `${"a line of some length\n".repeat(5_000)}`, 90);
    const small = grepTool(filePlace(project, { resultLimit: () => 2_000 }));
    const answer = await answerOf(small, {
      pattern: "line",
      output_mode: "content",
      head_limit: 0,
      path: "long.log",
    });
    expect(answer.length).toBeLessThanOrEqual(2_000);
    expect(answer).toContain("These are only the first");
  });

  it("finds a match across two chunks of a large file, and skips a file that is too large", async () => {
    const filler = `${"z".repeat(99)}\n`.repeat(10_485);
    write("large/split.txt", `${filler}${"z".repeat(70)}needle-across\n${filler}end needle\n`, 95);
    write("large/huge.txt", `${"q".repeat(999)}\n`.repeat(9_000), 95);
    expect(await lines("needle", { path: "large" })).toEqual([
      expect.stringMatching(/^large\/split\.txt:10486:z+needle-across$/),
      "large/split.txt:20972:end needle",
      "[Not searched: 1 very large file.]",
    ]);
    expect(await search("q", { path: "large/huge.txt", output_mode: "count" })).toEqual([
      "large/huge.txt:9000",
    ]);
  });

  it("the Grep tool gives up on a pattern that takes too long, and says so", async () => {
    for (let nth = 0; nth < 10; nth++) write(`slow/${nth}.txt`, `ok\n${"a".repeat(60)}!\nok`, 99);
    const answer = (await search("^(a+)+$", { path: "slow" })).join("\n");
    expect(answer).toMatch(
      /^REFUSED: No matches in \d files?\.\n\[The pattern takes too long\. .* Simplify the pattern\.\]/,
    );
    expect(answer).toContain("The search stopped after");
    const multi = await answerOf(grep, { pattern: "(a+)+$", path: "slow/1.txt", multiline: true });
    expect(multi).toContain("takes too long");
  });

  it("the Grep tool explains what is wrong with an invalid pattern, path or option", async () => {
    expect(await search("(")).toEqual([
      expect.stringMatching(/^REFUSED: Invalid search pattern: \/\(\/ is not a regular expression/),
    ]);
    expect(await search("x", { path: "nowhere" })).toEqual(["REFUSED: nowhere does not exist."]);
    expect(await search("x", { glob: "../*" })).toEqual([expect.stringContaining("cannot leave its folder")]);
    expect(await search("no-such-needle", { path: "src" })).toEqual(["No matches in 3 files."]);
  });

  it("the Grep tool asks before it searches outside the project, and stops when it is aborted midway", async () => {
    expect(await needsOf(grep, { pattern: "x" })).toEqual([]);
    expect(await needsOf(grep, { pattern: "x", path: ".." })).toMatchObject([
      { kind: "outside-path", key: `path:${folder}` },
    ]);
    const stop = new AbortController();
    const onProgress = (): void => stop.abort(new Error("enough"));
    const context = { callId: "call", signal: stop.signal, onProgress };
    await expect(grep.call({ pattern: "x" }, context)).rejects.toThrow("enough");
  });
});

describe.skipIf(process.platform === "win32")("globs of the Grep tool", () => {
  const outside = join(folder, "outside");
  beforeAll(() => {
    mkdirSync(join(outside, "deep"), { recursive: true });
    for (const path of ["a.txt", "deep/b.txt"]) writeFileSync(join(outside, path), "needle outside\n");
    symlinkSync(outside, join(project, "away"));
    symlinkSync("src", join(project, "home"));
  });

  it.each([
    "away/*",
    "./away/**/*.txt",
    "away/{deep,x}/*",
    `/${outside}/**`,
    `./${outside}/*.txt`,
    "..*/**",
    "..{,x}/**",
    "..[/]outside/*",
    "\\.\\./*/*",
    "!/x/..*/**",
  ])("the glob %s finds nothing outside the searched folder", async (glob) => {
    const found = await lines("needle outside", { glob });
    expect(found.filter((line) => line.includes("needle outside"))).toEqual([]);
  });

  it("follows a link inside the project if the link is the search path", async () => {
    expect(await search("needle", { path: "home", glob: "*.ts" })).toEqual(["home/b.ts", "home/a.ts"]);
  });

  it("a search does not wait for a .gitignore that is a pipe or a link", async () => {
    mkdirSync(join(project, "piped"));
    execFileSync("mkfifo", [join(project, "piped", ".gitignore")]);
    write("piped/x.txt", "needle in a piped folder");
    symlinkSync("/dev/zero", join(project, "home", ".gitignore"));
    expect(await search("in a piped folder")).toContain("piped/x.txt");
  });
});

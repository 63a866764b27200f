import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { answerOf, filePlace, needsOf } from "../../../../../test/support/file-place.ts";
import { temporaryFolder } from "../../../../../test/transcript/temporary-folder.ts";
import { globTool } from "./glob.ts";

const folder = realpathSync(temporaryFolder());
const project = join(folder, "project");
const glob = globTool(filePlace(project));

/** Writes files, each older than the one before it. */
function write(...paths: readonly string[]): void {
  for (const [age, path] of paths.entries()) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), path.endsWith(".gitignore") ? "" : path);
    utimesSync(join(project, path), 1_700_000_000 - age, 1_700_000_000 - age);
  }
}
const find = async (pattern: string, path?: string): Promise<readonly string[]> =>
  (await answerOf(glob, { pattern, path })).split("\n");

beforeAll(() => {
  mkdirSync(project, { recursive: true });
  execFileSync("git", ["init", "-q"], { cwd: project });
  write("src/new.ts", "src/gen/keep.ts", "src/deep/er/old.ts", ".hidden/x.ts", "readme.md", "dist/out.ts");
  write("src/gen/a.ts", "logs/a.log", "logs/b.log", "node_modules/pkg/index.ts");
  write("many/.keep");
  for (let nth = 0; nth < 120; nth++) write(`many/${nth}.txt`);
  writeFileSync(join(project, ".gitignore"), "dist/\n*.log\n!b.log\n/many/7*.txt\n");
  writeFileSync(join(project, "src/.gitignore"), "gen/*\n!gen/keep.ts\n");
  mkdirSync(join(folder, "outside"));
  writeFileSync(join(folder, "outside/secret.ts"), "");
  if (process.platform !== "win32") {
    symlinkSync(join(folder, "outside"), join(project, "link"));
    symlinkSync(join(folder, "outside/secret.ts"), join(project, "src/link.ts"));
    symlinkSync(project, join(project, "src/circle"));
  }
});

describe("the Glob tool", () => {
  it("finds files by name, newest first, including hidden files, but no ignored or linked files", async () => {
    expect(await find("**/*.ts")).toEqual([
      "src/new.ts",
      "src/gen/keep.ts",
      "src/deep/er/old.ts",
      ".hidden/x.ts",
    ]);
    expect(await find("**/*.log")).toEqual(["logs/b.log"]);
    expect(await find("*.md")).toEqual(["readme.md"]);
    expect(await find("src/{new,old}.ts")).toEqual(["src/new.ts"]);
    expect(await find("new.ts", "src")).toEqual(["src/new.ts"]);
  });

  it("git ignores the same files as the Glob tool", () => {
    const listed = execFileSync(
      "git",
      ["ls-files", "--others", "--exclude-standard", "src", "logs", "dist"],
      {
        cwd: project,
        encoding: "utf8",
      },
    );
    expect(listed.split("\n").filter((path) => /\.(ts|log)$/.test(path) && !path.includes("link"))).toEqual([
      "logs/b.log",
      "src/deep/er/old.ts",
      "src/gen/keep.ts",
      "src/new.ts",
    ]);
  });

  it("searches a folder that .gitignore excludes when the pattern or path names the folder", async () => {
    expect(await find("dist/**/*.ts")).toEqual(["dist/out.ts"]);
    expect(await find("*.ts", "dist")).toEqual(["dist/out.ts"]);
    expect(await find("node_modules/**/*.ts")).toEqual(["node_modules/pkg/index.ts"]);
    expect(await find("**/node_modules/*/*.ts")).toEqual(["node_modules/pkg/index.ts"]);
    expect(await find(".git/HE*")).toEqual([".git/HEAD"]);
  });

  it("respects .gitignore files above the starting folder", async () => {
    expect(await find("*.log", "logs")).toEqual(["logs/b.log"]);
    expect(await find("**/*.ts", "src/gen")).toEqual(["src/gen/keep.ts"]);
  });

  it("lists at most 100 files, and reports the total number", async () => {
    const lines = await find("many/*.txt");
    expect(lines).toHaveLength(101);
    // The .gitignore excludes file 7 and files 70 to 79.
    expect(lines.at(-1)).toBe("[109 files match. These are the 100 newest.]");
  });

  it("the Glob tool explains what is wrong with an invalid pattern", async () => {
    expect(await find("../*")).toEqual([expect.stringMatching(/^REFUSED: .* cannot leave its folder/)]);
    expect(await find("src/../../*")).toEqual([
      expect.stringMatching(/^REFUSED: .* cannot leave its folder/),
    ]);
    expect(await find("*", "nowhere")).toEqual(["REFUSED: There is no folder nowhere."]);
    expect(await find("*.nothing")).toEqual(["No files match *.nothing."]);
    expect(await find("*a".repeat(30))).toEqual([expect.stringMatching(/^REFUSED: .* more than 20 stars/)]);
    expect(await find("x".repeat(2_000))).toEqual([expect.stringMatching(/^REFUSED: .* longer than/)]);
  });

  it("takes little time for globs and ignore rules that could backtrack without end", async () => {
    const name = `${"a".repeat(250)}.x`;
    mkdirSync(join(project, "long"));
    writeFileSync(join(project, "long", name), "");
    writeFileSync(join(project, "long", ".gitignore"), "*a*a*a*a*a*a*b\n");
    for (const pattern of [`${"*a".repeat(19)}*b`, "(a+)+b", "[a]+[a]+[a]+[a]+b", `${"{a,aa}".repeat(7)}b`])
      expect(await answerOf(glob, { pattern, path: "long" })).toBe(`No files match ${pattern}.`);
    expect(await answerOf(glob, { pattern: `${"*a".repeat(19)}*.x`, path: "long" })).toBe(`long/${name}`);
    expect(await answerOf(glob, { pattern: "{a,aa}".repeat(30) })).toMatch(
      /^REFUSED: .* too many alternatives/,
    );
  });

  it("a glob pattern that begins with two dots finds nothing outside the searched folder", async () => {
    for (const pattern of ["..*/**", "..{,x}/**", "..*/outside/*"])
      expect(await answerOf(glob, { pattern })).toBe(`No files match ${pattern}.`);
  });

  it("the Glob tool asks before it searches outside the project, also if only a pattern or a link leads there", async () => {
    const outside = { kind: "outside-path", key: `path:${join(folder, "outside")}` };
    expect(await needsOf(glob, { pattern: "**/*" })).toEqual([]);
    expect(await needsOf(glob, { pattern: `${project}/src/*.ts` })).toEqual([]);
    expect(await needsOf(glob, { pattern: "*", path: "../outside" })).toMatchObject([outside]);
    expect(await needsOf(glob, { pattern: `${folder}/outside/*` })).toMatchObject([outside]);
    if (process.platform !== "win32")
      expect(await needsOf(glob, { pattern: "link/*" })).toMatchObject([outside]);
    expect(await find(`${folder}/outside/*`)).toEqual([join(folder, "outside/secret.ts")]);
  });

  it("stops a glob search when it is aborted midway", async () => {
    const stop = new AbortController();
    const onProgress = (): void => stop.abort(new Error("enough"));
    const context = { callId: "call", signal: stop.signal, onProgress };
    await expect(glob.call({ pattern: "**/*" }, context)).rejects.toThrow("enough");
  });
});

import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import type { PathRules } from "../workplace.ts";
import { pathRules } from "./path-rules.ts";

const root = realpathSync(temporaryFolder());
const cwd = join(root, "project");
const home = join(root, "home");
const outside = join(root, "outside");
let rules: PathRules;

beforeAll(() => {
  for (const folder of [join(cwd, "src"), home, outside, join(root, "project-twin"), join(root, "data")])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(cwd, "src", "a.ts"), "a");
  writeFileSync(join(outside, "secret"), "hidden");
  symlinkSync("src/a.ts", join(cwd, "link.ts"));
  symlinkSync(outside, join(cwd, "out"));
  symlinkSync(join(outside, "not-there"), join(cwd, "dangling"));
  symlinkSync("out/../new-here", join(cwd, "dangling-by-dots"));
  symlinkSync("circle", join(cwd, "circle"));
  symlinkSync(cwd, join(root, "linked-project"));
  rules = pathRules({ cwd, home, allowed: ["../data", "~/notes.md", join(root, "later")] });
});

const isInside = async (path: string): Promise<boolean> => (await rules.resolve(path)).isInside;

describe("what a path means", () => {
  it("absolute and relative paths inside are the same file, shown relative", async () => {
    const file = join(cwd, "src", "a.ts");
    const expected = { path: file, realPath: file, displayPath: join("src", "a.ts"), isInside: true };
    expect(await rules.resolve("src/a.ts")).toEqual(expected);
    expect(await rules.resolve(file)).toEqual(expected);
    expect(await rules.resolve("./src/../src//a.ts")).toEqual(expected);
    expect((await rules.resolve(".")).displayPath).toBe(".");
  });

  it("a link inside is remembered by its own name, and leads to the real file", async () => {
    expect(await rules.resolve("link.ts")).toEqual({
      path: join(cwd, "link.ts"),
      realPath: join(cwd, "src", "a.ts"),
      displayPath: "link.ts",
      isInside: true,
    });
  });

  it("~ is the home folder, and only by itself or before a slash", async () => {
    expect((await rules.resolve("~")).path).toBe(home);
    expect((await rules.resolve("~/x")).path).toBe(join(home, "x"));
    expect((await rules.resolve("~x")).path).toBe(join(cwd, "~x"));
  });

  it("what is not there yet is inside where its folder is, however deep", async () => {
    expect(await isInside("new/deep/file.ts")).toBe(true);
    expect(await isInside("src/a.ts/below-a-file")).toBe(true);
  });

  it("a working directory reached through a link is that directory", async () => {
    const linked = pathRules({ cwd: join(root, "linked-project"), home });
    const found = await linked.resolve("src/a.ts");
    expect(found).toMatchObject({ displayPath: join("src", "a.ts"), isInside: true });
    expect((await linked.resolve(join(cwd, "src", "a.ts"))).displayPath).toBe(join("src", "a.ts"));
  });
});

describe("what leads out is outside", () => {
  it.each([
    ["..", "the folder above"],
    ["../project-twin/x", "a neighbor whose name begins alike"],
    ["src/../../outside/secret", "dots"],
    ["/etc/passwd", "an absolute path"],
    ["~/x", "the home folder"],
    ["out", "a link"],
    ["out/secret", "a file behind a link"],
    ["out/new/file", "a file that is not there yet, behind a link"],
    ["dangling", "a link to nothing"],
    ["dangling/x", "below a link to nothing"],
    ["dangling-by-dots", "a link to nothing whose dots are behind another link"],
    ["SRC/../../PROJECT/src/a.ts", "another case, where the disk tells them apart"],
  ])("%s: %s", async (path) => {
    expect(await isInside(path)).toBe(false);
  });

  it("dots behind a link are counted from where it leads, as the system does", async () => {
    expect((await rules.resolve("dangling-by-dots")).realPath).toBe(join(root, "new-here"));
  });

  it.each([
    ["nul\0byte", "NUL"],
    ["x".repeat(300), "too long"],
    ["x/".repeat(5_000), "too long"],
    ["circle", "circle"],
    ["circle/x", "circle"],
  ])("a path that no file can have is outside, with words (case %#)", async (path, word) => {
    const found = await rules.resolve(path);
    expect(found.isInside).toBe(false);
    expect(found.problem).toContain(word);
  });

  it.skipIf(process.getuid?.() === 0)("what may not be looked into is outside, with words", async () => {
    mkdirSync(join(cwd, "locked"));
    chmodSync(join(cwd, "locked"), 0);
    expect(await rules.resolve("locked/x")).toMatchObject({ isInside: false, problem: expect.any(String) });
    chmodSync(join(cwd, "locked"), 0o700);
  });
});

describe("what was allowed beside it", () => {
  it("folders and files that were allowed are inside, and nothing beside them", async () => {
    expect(await isInside("../data")).toBe(true);
    expect(await isInside(join(root, "data", "deep", "x.csv"))).toBe(true);
    expect(await isInside("~/notes.md")).toBe(true);
    expect(await isInside("~/notes.md.bak")).toBe(false);
    expect((await rules.resolve("../data/x")).displayPath).toBe(join(root, "data", "x"));
  });

  it("an allowed folder that is made later as a link does not allow what it leads to", async () => {
    expect(await isInside(join(root, "later", "x"))).toBe(true);
    symlinkSync(outside, join(root, "later"));
    expect(await isInside(join(root, "later", "secret"))).toBe(false);
  });

  it("the whole disk as a working directory makes nothing inside; allowed by name it does", async () => {
    expect((await pathRules({ cwd: "/", home }).resolve("etc/passwd")).isInside).toBe(false);
    expect((await pathRules({ cwd: "/", home, allowed: ["/"] }).resolve("etc/passwd")).isInside).toBe(true);
  });
});

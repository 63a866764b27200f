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
  symlinkSync("loop", join(cwd, "loop"));
  symlinkSync(cwd, join(root, "linked-project"));
  rules = pathRules({ cwd, home, allowed: ["../data", "~/notes.md", join(root, "later")] });
});

const isInside = async (path: string): Promise<boolean> => (await rules.resolve(path)).isInside;

describe("pathRules", () => {
  it("resolves absolute and relative paths to the same file, and shows the relative path", async () => {
    const file = join(cwd, "src", "a.ts");
    const expected = { path: file, realPath: file, displayPath: join("src", "a.ts"), isInside: true };
    expect(await rules.resolve("src/a.ts")).toEqual(expected);
    expect(await rules.resolve(file)).toEqual(expected);
    expect(await rules.resolve("./src/../src//a.ts")).toEqual(expected);
    expect((await rules.resolve(".")).displayPath).toBe(".");
  });

  it("resolves a link in the working directory to its real file, and shows the name of the link", async () => {
    expect(await rules.resolve("link.ts")).toEqual({
      path: join(cwd, "link.ts"),
      realPath: join(cwd, "src", "a.ts"),
      displayPath: "link.ts",
      isInside: true,
    });
  });

  it("resolves ~ to the home folder only if ~ is alone or before a slash", async () => {
    expect((await rules.resolve("~")).path).toBe(home);
    expect((await rules.resolve("~/x")).path).toBe(join(home, "x"));
    expect((await rules.resolve("~x")).path).toBe(join(cwd, "~x"));
  });

  it("counts a missing file as inside if its nearest existing parent is in the working directory", async () => {
    expect(await isInside("new/deep/file.ts")).toBe(true);
    expect(await isInside("src/a.ts/below-a-file")).toBe(true);
  });

  it("resolves paths in a working directory that is reached through a link", async () => {
    const linked = pathRules({ cwd: join(root, "linked-project"), home });
    const found = await linked.resolve("src/a.ts");
    expect(found).toMatchObject({ displayPath: join("src", "a.ts"), isInside: true });
    expect((await linked.resolve(join(cwd, "src", "a.ts"))).displayPath).toBe(join("src", "a.ts"));
  });
});

describe("paths outside the working directory", () => {
  it.each([
    ["..", "the folder above"],
    ["../project-twin/x", "a neighbor whose name begins like the project's"],
    ["src/../../outside/secret", "parent folder steps"],
    ["/etc/passwd", "an absolute path"],
    ["~/x", "the home folder"],
    ["out", "a link"],
    ["out/secret", "a file behind a link"],
    ["out/new/file", "a missing file behind a link"],
    ["dangling", "a link to nothing"],
    ["dangling/x", "a path below a link to nothing"],
    ["dangling-by-dots", "a link to nothing with parent steps behind another link"],
    ["SRC/../../PROJECT/src/a.ts", "another letter case on a case-sensitive disk"],
  ])("counts %s as outside the working directory: %s", async (path) => {
    expect(await isInside(path)).toBe(false);
  });

  it("resolves .. after a link to the parent of the link's target, as the system does", async () => {
    expect((await rules.resolve("dangling-by-dots")).realPath).toBe(join(root, "new-here"));
  });

  it.each([
    ["nul\0byte", "NUL"],
    ["x".repeat(300), "too long"],
    ["x/".repeat(5_000), "too long"],
    ["loop", "loop"],
    ["loop/x", "loop"],
  ])(
    "counts an impossible path as outside the working directory, and explains the problem (case %#)",
    async (path, word) => {
      const found = await rules.resolve(path);
      expect(found.isInside).toBe(false);
      expect(found.problem).toContain(word);
    },
  );

  it.skipIf(process.getuid?.() === 0)(
    "counts a path in an unreadable folder as outside the working directory, and explains the problem",
    async () => {
      mkdirSync(join(cwd, "locked"));
      chmodSync(join(cwd, "locked"), 0);
      expect(await rules.resolve("locked/x")).toMatchObject({ isInside: false, problem: expect.any(String) });
      chmodSync(join(cwd, "locked"), 0o700);
    },
  );
});

describe("allowed paths beside the working directory", () => {
  it("counts allowed folders and files as inside the working directory, and nothing beside them", async () => {
    expect(await isInside("../data")).toBe(true);
    expect(await isInside(join(root, "data", "deep", "x.csv"))).toBe(true);
    expect(await isInside("~/notes.md")).toBe(true);
    expect(await isInside("~/notes.md.bak")).toBe(false);
    expect((await rules.resolve("../data/x")).displayPath).toBe(join(root, "data", "x"));
  });

  it("does not allow the target of an allowed folder that later becomes a link", async () => {
    expect(await isInside(join(root, "later", "x"))).toBe(true);
    symlinkSync(outside, join(root, "later"));
    expect(await isInside(join(root, "later", "secret"))).toBe(false);
  });

  it("counts nothing as inside when the working directory is the disk root, unless the root is allowed", async () => {
    expect((await pathRules({ cwd: "/", home }).resolve("etc/passwd")).isInside).toBe(false);
    expect((await pathRules({ cwd: "/", home, allowed: ["/"] }).resolve("etc/passwd")).isInside).toBe(true);
  });
});

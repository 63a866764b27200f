import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { type DrainedMemory, NestedMemory } from "../../../core/src/modules/memory-files/nested-memory.ts";
import { memoryFilesPort } from "./project-files.ts";

let root: string;
let project: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "longhaul-memory-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
beforeEach(() => {
  project = join(root, `project-${++count}`);
  mkdirSync(project);
});

function write(path: string, text = path): void {
  const file = join(project, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

async function reasonFor(path: string): Promise<string> {
  const answer = await memoryFilesPort({ cwd: project }).read(join(project, path));
  return answer.state === "read" ? "read" : answer.reason;
}

const list = async (folder = "rules"): Promise<readonly string[]> =>
  (await memoryFilesPort({ cwd: project }).list(join(project, folder))).map((path) =>
    relative(project, path),
  );

describe("reading memory files from disk", () => {
  it("reads a memory file only if it is a regular text file", async () => {
    write("src/CLAUDE.md", "text");
    expect(await memoryFilesPort({ cwd: project }).read(join(project, "src/CLAUDE.md"))).toMatchObject({
      state: "read",
      text: "text",
      displayPath: join("src", "CLAUDE.md"),
    });
    write("binary.md", "a\0b");
    expect(await reasonFor("binary.md")).toBe("not-text");
    expect(await reasonFor("src")).toBe("not-text");
    expect(await reasonFor("missing.md")).toBe("gone");
  });

  it("follows links to memory files inside the working directory, but not to files outside", async () => {
    write("docs/real.md", "text");
    writeFileSync(join(root, "secret"), "hidden");
    symlinkSync(join(project, "docs/real.md"), join(project, "CLAUDE.md"));
    symlinkSync(join(root, "secret"), join(project, "AGENTS.md"));
    symlinkSync(root, join(project, "up"));
    symlinkSync("loop.md", join(project, "loop.md"));
    expect(await memoryFilesPort({ cwd: project }).read(join(project, "CLAUDE.md"))).toMatchObject({
      displayPath: join("docs", "real.md"),
    });
    expect(await reasonFor("AGENTS.md")).toBe("outside-project");
    expect(await reasonFor("up/secret")).toBe("outside-project");
    expect(await reasonFor("../secret")).toBe("outside-project");
    expect(await reasonFor("loop.md")).toBe("unreadable");
  });

  it.skipIf(process.platform === "win32")(
    "does not open pipes, sockets or devices as memory files",
    async () => {
      execFileSync("mkfifo", [join(project, "CLAUDE.md")]);
      expect(await reasonFor("CLAUDE.md")).toBe("not-text");
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(join(project, "socket"), resolve));
      expect(await reasonFor("socket")).toBe("not-text");
      await new Promise((resolve) => server.close(resolve));
      const devices = memoryFilesPort({ cwd: "/dev" });
      expect(await devices.read("/dev/zero")).toEqual({ state: "unavailable", reason: "not-text" });
      expect(await devices.list("/dev/pts")).toEqual([]);
    },
  );

  it("rejects a huge memory file, and reads only the beginning of a long one", async () => {
    write("huge.md", "");
    truncateSync(join(project, "huge.md"), 2 * 1024 ** 3);
    expect(await reasonFor("huge.md")).toBe("too-large");
    write("long.md", "x".repeat(300 * 1024));
    const answer = await memoryFilesPort({ cwd: project }).read(join(project, "long.md"));
    expect(answer).toMatchObject({ state: "read", isHead: true });
  });

  it.skipIf(process.getuid?.() === 0)(
    "reports a memory file or folder without read permission as unreadable",
    async () => {
      write("CLAUDE.md");
      write("rules/a.md");
      write("rules/closed/b.md");
      chmodSync(join(project, "CLAUDE.md"), 0);
      chmodSync(join(project, "rules/closed"), 0);
      expect(await reasonFor("CLAUDE.md")).toBe("unreadable");
      expect(await list()).toEqual([join("rules", "a.md")]);
      chmodSync(join(project, "rules"), 0);
      await expect(list()).rejects.toThrow();
      chmodSync(join(project, "rules"), 0o700);
      chmodSync(join(project, "rules/closed"), 0o700);
    },
  );
});

describe("listing memory files in a folder", () => {
  it("lists all files of a folder tree in order, and nothing for a missing folder", async () => {
    for (const path of ["rules/b.md", "rules/a.md", "rules/x/y/c.md", "other/d.md"]) write(path);
    expect(await list()).toEqual(["rules/a.md", "rules/b.md", "rules/x/y/c.md"].map((path) => join(path)));
    expect(await list("nowhere")).toEqual([]);
    expect(await list("rules/a.md/below")).toEqual([]);
    expect(await list("..")).toEqual([]);
    expect(await list(".")).toEqual([]);
  });

  it("lists linked files inside the working directory, but follows no link that leads outside and no loop", async () => {
    write("rules/a.md");
    write("shared/s.md");
    symlinkSync(join(project, "shared"), join(project, "rules/linked"));
    symlinkSync(join(project, "shared/s.md"), join(project, "rules/z.md"));
    symlinkSync(join(project, "rules"), join(project, "rules/again"));
    symlinkSync(root, join(project, "rules/out"));
    symlinkSync(join(root, "nothing"), join(project, "rules/broken.md"));
    writeFileSync(join(root, "secret.md"), "hidden");
    symlinkSync(join(root, "secret.md"), join(project, "rules/secret.md"));
    expect(await list()).toEqual(["rules/a.md", "rules/linked/s.md", "rules/z.md"].map((path) => join(path)));
    symlinkSync(root, join(project, "all"));
    expect(await list("all")).toEqual([]);
  });

  it("stops listing memory files at eight folder levels and at a thousand files", async () => {
    write("rules/1/2/3/4/5/6/7/8/deep.md");
    write("rules/1/2/3/4/5/6/7/8/9/deeper.md");
    expect(await list()).toEqual([join("rules/1/2/3/4/5/6/7/8/deep.md")]);
    for (let file = 0; file < 1_100; file++) write(`many/${file}.md`, "");
    expect(await list("many")).toHaveLength(1_000);
  });

  it.skipIf(process.platform === "win32")("lists only regular files, not pipes or devices", async () => {
    write("rules/a.md");
    execFileSync("mkfifo", [join(project, "rules/pipe.md")]);
    symlinkSync("/dev/zero", join(project, "rules/zero.md"));
    expect(await list()).toEqual([join("rules/a.md")]);
  });
});

describe("memory files in the home folder", () => {
  it("reads memory files in the home folder only when that folder is passed, and never through a link", async () => {
    const home = join(root, `home-${count}`);
    mkdirSync(join(home, "p"), { recursive: true });
    writeFileSync(join(home, "mine.md"), "mine");
    const cwd = join(home, "p");
    symlinkSync(join(home, "mine.md"), join(cwd, "CLAUDE.md"));
    const closed = memoryFilesPort({ cwd });
    const open = memoryFilesPort({ cwd, home });
    const refused = { state: "unavailable", reason: "outside-project" };
    expect(await closed.read(join(home, "mine.md"))).toEqual(refused);
    expect(await open.read(join(home, "mine.md"))).toMatchObject({
      text: "mine",
      displayPath: join("~", "mine.md"),
    });
    expect(await open.read(join(cwd, "CLAUDE.md"))).toEqual(refused);
    expect(await open.read(join(root, "secret"))).toEqual(refused);
  });
});

describe("nested memory files on disk", () => {
  async function touchAndDrain(memory: NestedMemory, path: string): Promise<DrainedMemory> {
    const c = new ConversationBuilder();
    c.tool("1", "Read", { file_path: join(project, path) }, "x");
    memory.touched(c.entries);
    return memory.drain({ countTokens: (text) => text.length, budgetTokens: 100_000 });
  }
  const memoryOf = (cwd: string): NestedMemory => new NestedMemory({ cwd, port: memoryFilesPort({ cwd }) });

  it("finds the memory files, imports and rules for a touched file once each, despite link loops", async () => {
    write("AGENTS.md", "root @docs/style.md @../secret");
    symlinkSync("AGENTS.md", join(project, "CLAUDE.md"));
    write("docs/style.md", "style @../src/CLAUDE.md");
    write("src/CLAUDE.md", "src @../AGENTS.md");
    write(".claude/rules/ts/types.md", "---\npaths:\n  - 'src/**/*.ts'\n---\ntypes");
    write(".claude/rules/go.md", "---\npaths: '*.go'\n---\ngo");
    symlinkSync("..", join(project, ".claude/rules/again"));
    const drained = await touchAndDrain(memoryOf(project), "src/x/a.ts");
    expect(drained.files.map(({ path }) => relative(project, path))).toEqual(
      ["AGENTS.md", "docs/style.md", "src/CLAUDE.md", ".claude/rules/ts/types.md"].map((path) => join(path)),
    );
    expect(drained.skipped).toEqual([{ path: "../secret", reason: "outside-project" }]);
  });

  it("reports memory files that could not be used", async () => {
    writeFileSync(join(root, "secret"), "hidden");
    symlinkSync(join(root, "secret"), join(project, "CLAUDE.md"));
    write("AGENTS.md", "");
    truncateSync(join(project, "AGENTS.md"), 2 * 1024 ** 3);
    const drained = await touchAndDrain(memoryOf(project), "a.ts");
    expect(drained.files).toEqual([]);
    expect(drained.skipped.map(({ path, reason }) => [relative(project, path), reason])).toEqual([
      ["AGENTS.md", "too-large"],
      ["CLAUDE.md", "outside-project"],
    ]);
  });

  it("finds memory files in a working directory that is itself a link", async () => {
    write("CLAUDE.md", "root");
    const link = join(root, `link-${count}`);
    symlinkSync(project, link);
    const memory = memoryOf(link);
    const c = new ConversationBuilder();
    c.tool("1", "Read", { file_path: join(link, "a.ts") }, "x");
    memory.touched(c.entries);
    const { files } = await memory.drain({ countTokens: () => 1, budgetTokens: 100 });
    expect(files).toEqual([{ path: join(link, "CLAUDE.md"), tokens: 1 }]);
  });
});

import { linkSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { filePlace, needsOf } from "../../../../../test/support/file-place.ts";
import { temporaryFolder } from "../../../../../test/transcript/temporary-folder.ts";
import { pathRules } from "../../workplace/path-rules.ts";
import { editTool } from "./edit-file.ts";
import { readTool } from "./read-file.ts";
import { writeTool } from "./write-file.ts";

const root = realpathSync(temporaryFolder());
const cwd = join(root, "project");
const outside = join(root, "outside.txt");
const place = filePlace(cwd);
const [read, write, edit] = [readTool(place), writeTool(place), editTool(place)];

beforeAll(() => {
  mkdirSync(join(cwd, ".git", "hooks"), { recursive: true });
  writeFileSync(join(cwd, "a.txt"), "one\ntwo\n");
  writeFileSync(outside, "secret\n");
  symlinkSync(outside, join(cwd, "link"));
  symlinkSync(".git/hooks", join(cwd, "innocent"));
});

const kindsFor = async (file_path: string): Promise<readonly string[]> => [
  ...(await needsOf(read, { file_path })).map(({ kind }) => `read ${kind}`),
  ...(await needsOf(write, { file_path, content: "x" })).map(({ kind }) => `write ${kind}`),
  ...(await needsOf(edit, { file_path, old_string: "a", new_string: "b" })).map(({ kind }) => `edit ${kind}`),
];

describe("permissions of the file tools", () => {
  it("file tools ask before they change a file inside the project, and before every access outside it", async () => {
    expect(await kindsFor("a.txt")).toEqual(["write change", "edit change"]);
    expect(await kindsFor("new/b.txt")).toEqual(["write change", "edit change"]);
    const all = ["read outside-path", "write outside-path", "edit outside-path"];
    for (const path of [outside, "../outside.txt", "link", "~/x", "/etc/motd"])
      expect(await kindsFor(path)).toEqual(all);
  });

  it("file tools ask nothing if the path is impossible or the input is invalid", async () => {
    expect(await kindsFor("a\0b")).toEqual([]);
    expect(await needsOf(read, { file_path: 1 })).toEqual([]);
  });

  it('the question about a file change shows the diff, and the answer "always" covers all ordinary edits', async () => {
    const input = { file_path: "a.txt", old_string: "two", new_string: "2" };
    const detail = "@@ -1,2 +1,2 @@\n one\n-two\n+2";
    expect(await needsOf(edit, input)).toEqual([
      {
        kind: "change",
        title: "Edit a.txt",
        key: "change:a.txt",
        scope: "edits to ordinary files in the working folder",
        detail,
      },
    ]);
    expect(await needsOf(write, { file_path: "a.txt", content: "one\n2\n" })).toMatchObject([
      { title: "Write a.txt", detail },
    ]);
    expect(await needsOf(write, { file_path: "b.txt", content: "" })).toMatchObject([
      { title: "Create b.txt" },
    ]);
  });

  it("asks about an edit even if its old text is missing, because the file can change before the call", async () => {
    const needs = await needsOf(edit, { file_path: "a.txt", old_string: "three", new_string: "3" });
    expect(needs).toMatchObject([{ kind: "change", detail: "@@ -1,1 +1,1 @@\n-three\n+3" }]);
  });

  it("a question about a link names the target file, and reading and writing this file need separate permissions", async () => {
    const [reading] = await needsOf(read, { file_path: "link" });
    const [writing] = await needsOf(write, { file_path: "link", content: "x" });
    expect(reading).toMatchObject({ key: `path:${outside}`, scope: `reading ${outside}` });
    expect(reading?.title).toContain(`(which is ${outside})`);
    expect(writing).toMatchObject({ key: `write:${outside}`, scope: `changes to ${outside}` });
  });
});

describe("files inside the project about which the agent asks each time", () => {
  const CHANGES = ["write guarded-file", "edit guarded-file"];

  it.each([".git/hooks/pre-commit", ".git/info/x", ".git", "sub/.GIT/hooks/x", "innocent/pre-commit"])(
    "asks before each change of %s, because git runs it",
    async (path) => {
      expect(await kindsFor(path)).toEqual(CHANGES);
      const [need] = await needsOf(write, { file_path: path, content: "x" });
      expect(need?.scope).toBeUndefined();
    },
  );

  it.each([".claude/settings.json", "sub/.Claude/Settings.local.json", ".longhaul/settings.json"])(
    "asks before each change of %s, because agents run its hooks",
    async (path) => {
      expect(await kindsFor(path)).toEqual(CHANGES);
    },
  );

  it("treats a file whose name only resembles the name of a guarded file as an ordinary file", async () => {
    for (const path of [".gitignore", "src/git-notes", "objects/x", "refs/x", "config"])
      expect(await kindsFor(path)).toEqual(["write change", "edit change"]);
  });

  it("asks before each change of longhaul's settings and sessions", async () => {
    const sessionPath = join(cwd, ".longhaul", "projects", "0123456789abcdef", "s.agents", "one.jsonl");
    const tool = writeTool(filePlace(cwd, { sessionPath }));
    for (const path of [sessionPath, join(cwd, ".longhaul", "settings.json"), ".longhaul/projects/x/y.jsonl"])
      expect(await needsOf(tool, { file_path: path, content: "x" })).toMatchObject([
        { kind: "guarded-file" },
      ]);
    expect(await needsOf(tool, { file_path: "a.txt", content: "x" })).toMatchObject([{ kind: "change" }]);
  });

  it("lets the agent read its session files outside the project without a question", async () => {
    const stem = place.sessionPath.replace(/\.jsonl$/, "");
    for (const path of [place.sessionPath, `${stem}.notes.md`, `${stem}.outputs/1.txt`])
      expect(await kindsFor(path)).toEqual(CHANGES);
    expect(await kindsFor(join(stem, "..", "other-session.jsonl"))).toContain("read outside-path");
  });

  it("a session file inside the project is guarded, but the other files of its folder are not", async () => {
    const tool = writeTool(filePlace(cwd, { sessionPath: join(cwd, "s.jsonl") }));
    expect(await needsOf(tool, { file_path: "s.jsonl", content: "x" })).toMatchObject([
      { kind: "guarded-file" },
    ]);
    expect(await needsOf(tool, { file_path: "a.txt", content: "x" })).toMatchObject([{ kind: "change" }]);
  });

  it("a subagent needs the same permissions as its parent to change files of the session", async () => {
    for (const sessionPath of [join(cwd, "s.jsonl"), join(cwd, "s.agents", "a1.jsonl")]) {
      const tool = writeTool(filePlace(cwd, { sessionPath }));
      for (const path of ["s.jsonl", "s.plan.md", "s.outputs/x.txt", "s.agents/a1.jsonl", "s.agents/a2.md"])
        expect(await needsOf(tool, { file_path: path, content: "x" })).toMatchObject([
          { kind: "guarded-file" },
        ]);
    }
  });

  it("treats an allowed folder outside the project like the project itself, and still guards files that git runs", async () => {
    const paths = pathRules({ cwd, home: root, allowed: [join(root, "data")] });
    const tool = writeTool({ ...place, paths });
    expect(await needsOf(tool, { file_path: "../data/x", content: "" })).toMatchObject([{ kind: "change" }]);
    expect(await needsOf(tool, { file_path: "../data/.git/x", content: "" })).toMatchObject([
      { kind: "guarded-file" },
    ]);
  });

  it("guards the files of any folder that git treats as a repository", async () => {
    const change = ["write change", "edit change"];
    for (const path of ["meta/config", "meta/objects/x", "meta/refs/x"])
      expect(await kindsFor(path)).toEqual(change);
    expect(await kindsFor("meta/HEAD")).toEqual(CHANGES);
    mkdirSync(join(cwd, "meta", "objects"), { recursive: true });
    writeFileSync(join(cwd, "meta", "HEAD"), "ref: refs/heads/main\n");
    for (const path of ["meta/config", "meta/objects/x", "meta/hooks/post-index-change"])
      expect(await kindsFor(path)).toEqual(CHANGES);
    expect(await kindsFor("metal/config")).toEqual(change);
  });

  it("guards a file with several hard links, because its other names can be anywhere", async () => {
    linkSync(outside, join(cwd, "twin.txt"));
    expect(await kindsFor("twin.txt")).toEqual(CHANGES);
  });

  it.each([
    "package.json",
    "Makefile",
    "conftest.py",
    ".npmrc",
    ".husky/pre-push",
    ".vscode/tasks.json",
    "AGENTS.md",
  ])("asks before each change of %s, which runs code later or instructs agents", async (path) => {
    const [need] = await needsOf(write, { file_path: path, content: "x" });
    expect(need).toMatchObject({ kind: "guarded-file", key: `write-guarded:${join(cwd, path)}` });
    expect(need?.scope).toBeUndefined();
    expect(need?.title).toContain(", wh");
  });

  it.each([".env", "certs/server.pem", "sub/id_rsa", "to-env"])(
    "asks before each read of %s, which can contain credentials",
    async (path) => {
      if (path === "to-env") symlinkSync(".env", join(cwd, path));
      const [need] = await needsOf(read, { file_path: path });
      expect(need).toMatchObject({ kind: "secret-file" });
      expect(need?.scope).toBeUndefined();
    },
  );
});

import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import type { Entry } from "@longhaul/core/messages";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { projectFolderName, type SessionAgent, type UserPlaces } from "../transcript/locations.ts";
import { isTooWide, type SessionProject, sessionProject } from "./session-project.ts";

let root: string;
let home: string;
let project: string;
let places: UserPlaces;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "longhaul-project-")));
  home = join(root, "home", "mara");
  project = folder(home, "code", "harbour");
  places = { home, env: {}, cwd: folder(root, "elsewhere") };
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function folder(...names: readonly string[]): string {
  const path = join(...(names as [string]));
  mkdirSync(path, { recursive: true });
  return path;
}

function written(path: string): string {
  folder(dirname(path));
  writeFileSync(path, "{}\n");
  return path;
}

const inStore = (agent: SessionAgent, of: string, ...below: readonly string[]): string =>
  written(
    join(
      home,
      agent === "longhaul" ? ".longhaul" : ".claude",
      "projects",
      projectFolderName(agent, of),
      ...(below.length > 0 ? below : ["id.jsonl"]),
    ),
  );

interface Choice {
  readonly cwd?: string;
  readonly entries?: readonly Entry[];
  readonly project?: string;
  readonly places?: UserPlaces;
}

const decide = (path: string, { cwd, entries = [], ...options }: Choice = {}): Promise<SessionProject> =>
  sessionProject({ path, cwd, entries }, { places, ...options });

describe("the project of a session file outside the agents' stores", () => {
  it("a session file outside the stores can restore files only from the current folder, whatever it claims", async () => {
    const path = written(join(root, "downloads", "session.jsonl"));
    for (const cwd of ["/etc", join(home, ".ssh"), project, "/", home, "relative", undefined]) {
      const found = await decide(path, cwd === undefined ? {} : { cwd });
      expect(found).toEqual({
        folder: places.cwd,
        source: "current-folder",
        problem: undefined,
        cwd: places.cwd,
        store: undefined,
      });
    }
  });

  it("allows no files when the current folder is the home folder, a folder above it or the disk root", async () => {
    const path = written(join(root, "session.jsonl"));
    for (const cwd of [home, join(root, "home"), root, "/"]) {
      const found = await decide(path, { cwd: project, places: { ...places, cwd } });
      expect(found).toMatchObject({ folder: undefined, problem: "too-wide", cwd });
    }
  });

  it("uses the folder that a session claims as working directory only if it is inside the current folder", async () => {
    const path = written(join(root, "session.jsonl"));
    const src = folder(project, "src");
    symlinkSync(places.cwd ?? "", join(project, "out"));
    symlinkSync(src, join(root, "way-in"));
    const cwdOf = async (cwd: string): Promise<string> =>
      (await decide(path, { cwd, places: { ...places, cwd: project } })).cwd;
    expect(await cwdOf(src)).toBe(src);
    expect(await cwdOf(join(root, "way-in"))).toBe(src);
    expect(await cwdOf(join(project, "out"))).toBe(project);
    expect(await cwdOf(join(project, "gone"))).toBe(project);
    expect(await cwdOf(`${project}-twin`)).toBe(project);
    expect(await cwdOf(`${src}/../..`)).toBe(project);
  });

  it("uses the current folder of the process when the places option is missing", async () => {
    const session = { path: inStore("claude-code", project), cwd: project, entries: [] };
    expect(await sessionProject(session)).toMatchObject({
      folder: process.cwd(),
      source: "current-folder",
      store: undefined,
    });
  });
});

describe("the project option", () => {
  it("the project option overrides the store, and can be the home folder", async () => {
    const path = inStore("claude-code", project);
    const other = folder(root, "other");
    expect(await decide(path, { project: other, cwd: project })).toMatchObject({
      folder: other,
      source: "option",
      cwd: other,
      store: "claude-code",
    });
    expect(await decide(path, { project: home, cwd: project })).toMatchObject({ folder: home, cwd: project });
  });

  it("rejects a project option that is not an existing folder or is a whole disk", async () => {
    const path = written(join(root, "session.jsonl"));
    symlinkSync("/", join(root, "disk"));
    for (const given of [join(root, "gone"), path, "/", join(root, "disk"), ""]) {
      await expect(decide(path, { project: given })).rejects.toMatchObject({ code: "option-invalid" });
    }
  });
});

describe("the project of a session in Claude Code's store", () => {
  it("allows files only from the folder that the session's store path encodes", async () => {
    for (const below of [[], ["id", "subagents", "agent-1.jsonl"]]) {
      const path = inStore("claude-code", project, ...below);
      expect(await decide(path, { cwd: "/etc" })).toMatchObject({
        folder: project,
        source: "store",
        cwd: project,
        store: "claude-code",
      });
    }
  });

  it("finds a project folder whose name has dots, spaces and non-ASCII letters", async () => {
    const odd = folder(home, "my code.d", "häfen-2_x", ".hidden");
    expect((await decide(inStore("claude-code", odd))).folder).toBe(odd);
  });

  it("allows no files when the project folder is gone, even if the current folder is another project", async () => {
    const path = inStore("claude-code", join(home, "code", "gone"));
    const found = await decide(path, { cwd: project, places: { ...places, cwd: project } });
    expect(found).toMatchObject({ folder: undefined, problem: "not-found", cwd: project });
  });

  it("chooses between folders with the same encoded name by the current folder, never by the session's claim", async () => {
    const first = folder(home, "code", "tide-board");
    const second = folder(home, "code", "tide", "board");
    const path = inStore("claude-code", first);
    expect(await decide(path, { cwd: first })).toMatchObject({ folder: undefined, problem: "ambiguous" });
    for (const match of [first, second]) {
      const inside = { ...places, cwd: folder(match, "src") };
      expect((await decide(path, { cwd: "/etc", places: inside })).folder).toBe(match);
    }
  });

  it("allows no files when the store path encodes the home folder or a folder above it", async () => {
    for (const wide of [home, join(root, "home"), "/"]) {
      const found = await decide(inStore("claude-code", wide), { cwd: wide });
      expect(found.folder).toBeUndefined();
    }
  });

  it("does not follow a link to find the encoded project folder", async () => {
    symlinkSync("/etc", join(home, "code", "link"));
    const path = inStore("claude-code", join(home, "code", "link"));
    expect(await decide(path)).toMatchObject({ folder: undefined, problem: "not-found" });
  });

  it("locates a session by its real path, so that links into or out of the store have no effect", async () => {
    const stored = inStore("claude-code", project);
    const link = join(root, "link.jsonl");
    symlinkSync(stored, link);
    expect((await decide(link)).folder).toBe(project);
    const outside = written(join(root, "outside.jsonl"));
    const planted = join(dirname(stored), "planted.jsonl");
    symlinkSync(outside, planted);
    expect(await decide(planted)).toMatchObject({ folder: places.cwd, source: "current-folder" });
  });

  it("finds no project for a store folder whose name does not encode an absolute path", async () => {
    for (const name of ["harbour", "..", "C--Users"]) {
      const path = written(join(home, ".claude", "projects", "x", "..", name, "id.jsonl"));
      const { folder: found } = await decide(path, { cwd: project });
      expect(found === undefined || found === places.cwd).toBe(true);
    }
  });

  it.skipIf(process.getuid?.() === 0)(
    "finds a project even if one of its parent folders cannot be listed",
    async () => {
      const closed = join(root, "home");
      chmodSync(closed, 0o111);
      const path = inStore("claude-code", project);
      const { folder: found } = await decide(path);
      chmodSync(closed, 0o755);
      expect(found).toBe(project);
    },
  );
});

describe("the project of a session in longhaul's store", () => {
  it("allows files from a claimed folder only if its hash matches the store path", async () => {
    const path = inStore("longhaul", project);
    expect(await decide(path, { cwd: project })).toMatchObject({ folder: project, store: "longhaul" });
    expect(await decide(path, { cwd: "/etc" })).toMatchObject({ folder: undefined, problem: "not-found" });
    const entries = [
      { type: "user", cwd: "/etc" },
      { type: "user", cwd: project },
    ] as unknown as Entry[];
    expect(await decide(path, { cwd: "/etc", entries })).toMatchObject({ folder: project, cwd: project });
  });

  it("finds the project of a session among the current folder and its parents", async () => {
    const path = inStore("longhaul", project);
    const inside = { ...places, cwd: folder(project, "src", "deep") };
    expect((await decide(path, { cwd: "/etc", places: inside })).folder).toBe(project);
  });

  it("allows no files when the store path is the hash of the home folder", async () => {
    expect(await decide(inStore("longhaul", home), { cwd: home })).toMatchObject({ problem: "too-wide" });
  });
});

it("isTooWide is true for a folder that contains the home folder, even if a path goes through a link", async () => {
  symlinkSync(join(root, "home"), join(root, "link"));
  expect(await isTooWide(join(root, "link"), home)).toBe(true);
  expect(await isTooWide(home, join(root, "link", "mara"))).toBe(true);
  expect(await isTooWide(`${home}-twin`, home)).toBe(false);
  expect(await isTooWide(project, home)).toBe(false);
  expect(await isTooWide("/", "")).toBe(true);
  expect(await isTooWide(userInfo().homedir, "")).toBe(true);
  expect(await isTooWide(userInfo().homedir, "relative")).toBe(true);
});

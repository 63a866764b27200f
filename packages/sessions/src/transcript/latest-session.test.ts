import { mkdirSync, mkdtempSync, realpathSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { latestSession } from "./find-session.ts";
import { type SessionAgent, sessionPath, type UserPlaces } from "./locations.ts";

const folder = realpathSync(temporaryFolder());

const line = (fields: object): string =>
  `${JSON.stringify({ uuid: "u", parentUuid: null, timestamp: "2026-01-01T00:00:00Z", ...fields })}\n`;
const user = (cwd: string, content = "hello"): string =>
  line({ type: "user", cwd, message: { role: "user", content } });
const answer = (cwd: string, content = "hi", more: object = {}): string =>
  line({ type: "assistant", cwd, message: { role: "assistant", model: "claude-opus-5", content }, ...more });
const failure = (cwd: string): string =>
  answer(cwd, "API Error: 401", { isApiErrorMessage: true, message: { model: "<synthetic>", content: [] } });
const talk = (cwd: string): string => user(cwd) + answer(cwd);

/** Temporary home folder. Each session is one minute newer than the previous one. */
class Home {
  readonly base: string = mkdtempSync(join(folder, "base-"));
  readonly home: string = this.folder("home/ann");
  #minute = 0;

  folder(name: string): string {
    const path = join(this.base, name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  /** Creates a folder that is the root of a git worktree. */
  worktree(name: string): string {
    mkdirSync(join(this.folder(name), ".git"));
    return join(this.base, name);
  }

  session(cwd: string, id: string, text = talk(cwd), agent: SessionAgent = "claude-code"): void {
    const path = sessionPath(agent, this.places(cwd), cwd, id);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    const at = new Date(Date.UTC(2026, 0, 1, 0, this.#minute++));
    utimesSync(path, at, at);
  }

  places(cwd: string): UserPlaces {
    return { home: this.home, env: {}, cwd };
  }

  async latest(cwd: string): Promise<string | undefined> {
    const found = await latestSession(this.places(cwd));
    return found && `${found.id}${found.isOfProject ? "" : " of another project"}`;
  }
}

describe("latestSession", () => {
  it("assigns a session in longhaul's store to the folder of its store path, not to the claimed folder", async () => {
    const home = new Home();
    const [own, other] = [home.worktree("work/own"), home.worktree("work/other")];
    home.session(own, "mine", talk(own), "longhaul");
    home.session(other, "hostile", talk(own), "longhaul");
    expect(await home.latest(own)).toBe("mine");
  });

  it("prefers the newest session of the current project, by either agent, to newer sessions of other projects", async () => {
    const home = new Home();
    const here = home.folder("work/here");
    home.session(here, "old");
    home.session(here, "mine", talk(here), "longhaul");
    home.session(home.folder("work/there"), "newer");
    expect(await home.latest(here)).toBe("mine");
    home.session(here, "newest");
    expect(await home.latest(here)).toBe("newest");
  });

  it("returns the newest session of any project when the current project has none", async () => {
    const home = new Home();
    const there = home.folder("work/there");
    home.session(there, "older");
    home.session(there, "newer", talk(there), "longhaul");
    expect(await home.latest(home.folder("work/here"))).toBe("newer of another project");
    expect(await latestSession({ home: home.home, env: {} })).toMatchObject({
      id: "newer",
      folder: there,
      isOfProject: true,
    });
  });

  it("never returns a session without an answer of the model", async () => {
    const home = new Home();
    const here = home.folder("work/here");
    home.session(here, "talk");
    home.session(here, "failed", user(here) + failure(here));
    home.session(here, "failed-often", user(here) + failure(here) + user(here) + failure(here));
    home.session(here, "asked", user(here), "longhaul");
    home.session(here, "title", `${JSON.stringify({ type: "summary", summary: "assistant" })}\n`);
    home.session(here, "subagent", user(here) + answer(here, "hi", { isSidechain: true }));
    home.session(here, "quoted", user(here, '{"type":"assistant","message":{}}') + failure(here));
    home.session(here, "garbage", '"assistant" {{{\n\0\0\n');
    expect(await home.latest(here)).toBe("talk");
    const empty = new Home();
    empty.session(here, "failed", user(here) + failure(here));
    expect(await empty.latest(here)).toBe(undefined);
  });

  it("can return a session that failed after its first answer, or a session with only a compaction", async () => {
    const home = new Home();
    const here = home.folder("work/here");
    home.session(here, "talk");
    home.session(here, "later", talk(here) + user(here) + failure(here));
    expect(await home.latest(here)).toBe("later");
    const boundary = line({
      type: "system",
      subtype: "compact_boundary",
      compactMetadata: { trigger: "auto" },
    });
    home.session(here, "compacted", boundary + user(here));
    expect(await home.latest(here)).toBe("compacted");
  });

  it("finds a model answer between two lines of several megabytes", async () => {
    const home = new Home();
    const here = home.folder("work/here");
    const large = user(here, "x".repeat(3_000_000));
    home.session(here, "talk", large + talk(here) + large);
    expect(await home.latest(here)).toBe("talk");
    home.session(here, "failed", large + failure(here));
    home.session(here, "twice", large + failure(here) + large + failure(here) + large);
    expect(await home.latest(here)).toBe("talk");
    home.session(here, "long", large + answer(here, "y".repeat(3_000_000)) + large);
    expect(await home.latest(here)).toBe("long");
  });

  it("finds a long model answer that is only partly in the bytes that are read first", async () => {
    const home = new Home();
    const here = home.folder("work/here");
    const prompt = user(here, "x".repeat(5_000));
    for (let length = 65_000; length < 65_600; length += 20) {
      home.session(here, "talk", prompt + answer(here, "y".repeat(length)));
      expect([length, await home.latest(here)]).toEqual([length, "talk"]);
    }
  });

  it("finds a session of the git worktree from any folder inside it", async () => {
    const home = new Home();
    const root = home.worktree("work/app");
    const deep = home.folder("work/app/packages/a/src");
    home.session(root, "root");
    home.session(home.worktree("work/app-2"), "sibling");
    home.session(home.folder("work"), "above");
    expect(await home.latest(deep)).toBe("root");
    home.session(join(root, "packages", "b"), "b", undefined, "longhaul");
    expect(await home.latest(deep)).toBe("b");
    expect(await home.latest(root)).toBe("b");
  });

  it("returns a session of the nearest parent folder when the project itself has none", async () => {
    const home = new Home();
    const parent = home.folder("work/things");
    home.session(parent, "parent");
    home.session(home.folder("work/things/other"), "sibling");
    home.session(home.folder("work"), "grandparent", undefined, "longhaul");
    expect(await home.latest(home.folder("work/things/one/two"))).toBe("parent");
    expect(await home.latest(join(home.worktree("work/things/app"), "src"))).toBe("parent");
    expect(await home.latest(home.folder("work"))).toBe("grandparent");
  });

  it("does not treat the home folder, even with a git repository, as the project of a folder below it", async () => {
    const home = new Home();
    mkdirSync(join(home.home, ".git"));
    home.session(home.home, "home");
    home.session(home.folder("home/ann/other"), "other");
    expect(await home.latest(home.folder("home/ann/code/app"))).toBe("other of another project");
    expect(await home.latest(home.home)).toBe("home");
  });

  it("treats a session of another folder with the same encoded name as a session of another project", async () => {
    const home = new Home();
    home.session(home.folder("work/my_app"), "same-name");
    expect(await home.latest(home.folder("work/my-app"))).toBe("same-name of another project");
    expect(await home.latest(home.folder("work/my_app"))).toBe("same-name");
  });

  it("assigns a session to the folder where it began, even if the agent moved elsewhere", async () => {
    const home = new Home();
    const [here, there] = [home.folder("work/here"), home.folder("work/there")];
    home.session(here, "began-here", talk(here) + talk(there));
    expect(await home.latest(here)).toBe("began-here");
    expect(await home.latest(there)).toBe("began-here of another project");
  });

  it("finds a session in a store folder whose long name was truncated", async () => {
    const home = new Home();
    const long = home.folder(`work/${"long-".repeat(30)}/${"name-".repeat(20)}`);
    const short = join(
      home.home,
      ".claude",
      "projects",
      `${long.replaceAll(/[^A-Za-z0-9]/g, "-").slice(0, 200)}-1x2y`,
    );
    mkdirSync(short, { recursive: true });
    writeFileSync(join(short, "cut.jsonl"), talk(long));
    expect(await home.latest(long)).toBe("cut");
  });

  it("searches the store folders that the environment names", async () => {
    const home = new Home();
    const here = home.folder("work/here");
    const env = { CLAUDE_CONFIG_DIR: home.folder("claude"), LONGHAUL_HOME: home.folder("own") };
    const places = { home: home.home, env, cwd: here };
    for (const agent of ["claude-code", "longhaul"] as const) {
      const path = sessionPath(agent, places, here, agent);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, talk(here));
      expect((await latestSession(places, agent))?.id).toBe(agent);
    }
  });

  it("returns the same session of a generated store as an exhaustive search", async () => {
    const folders = ["work/app", "work/app/a", "work/app/a/b", "work/app-2", "work", "other"] as const;
    const sessions = fc.array(
      fc.record({
        at: fc.constantFrom(...folders),
        agent: fc.constantFrom<SessionAgent>("claude-code", "longhaul"),
        isTalk: fc.boolean(),
      }),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(sessions, fc.constantFrom(...folders), async (made, cwd) => {
        const home = new Home();
        for (const name of folders) home.folder(name);
        home.worktree("work/app");
        for (const [nth, { at, agent, isTalk }] of made.entries()) {
          const path = join(home.base, at);
          home.session(path, `s${nth}`, isTalk ? talk(path) : user(path) + failure(path), agent);
        }
        const talks = made
          .flatMap(({ at, isTalk }, nth) => (isTalk ? [{ at, id: `s${nth}` }] : []))
          .reverse();
        const isApp = (at: string): boolean => at === "work/app" || at.startsWith("work/app/");
        const own = isApp(cwd)
          ? (talks.find(({ at }) => isApp(at)) ?? talks.find(({ at }) => at === "work"))
          : (talks.find(({ at }) => at === cwd) ??
            talks.find(({ at }) => at === "work" && cwd === "work/app-2"));
        const any = talks[0] && `${talks[0].id} of another project`;
        expect(await home.latest(join(home.base, cwd))).toBe(own?.id ?? any);
      }),
      { numRuns: 100 },
    );
  });
});

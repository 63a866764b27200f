import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runCli, unfolded } from "../support/cli.ts";
import { demoHome } from "./demo-home.ts";

const { home, run, runJson, newSession } = demoHome();
const { session } = newSession();
const index = session.replace(/jsonl$/, "recall");
let compacted: string;
beforeAll(async () => {
  await run("compact", session, "--in-place", "--no-hooks");
  compacted = readFileSync(session, "utf8");
}, 60_000);
beforeEach(() => {
  writeFileSync(session, compacted);
  rmSync(index, { force: true });
});

interface Hit {
  readonly id: string;
  readonly kind: string;
  readonly text: string;
  readonly tool?: string;
  readonly file?: string;
  readonly isInContext: boolean;
}

/** Appends another message to the session. */
function appendMessage(content: string): void {
  const last = JSON.parse(compacted.trimEnd().split("\n").at(-1) ?? "");
  const { sessionId, cwd, uuid: parentUuid } = last;
  const said = { uuid: "new-1", parentUuid, timestamp: "2027-01-01T00:00:00.000Z", sessionId, cwd };
  const line = JSON.stringify({ ...said, type: "user", message: { role: "user", content } });
  appendFileSync(session, `${line}\n`);
}

describe("longhaul recall", () => {
  it("recall finds compacted text by words, shows time, author and id, and leaves the session unchanged", async () => {
    const { stdout, stderr, code } = await run("recall", session, "metrics", "port", "ground", "rules");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/\n2026-03-30 \d\d:\d\d {2}user\n/);
    expect(stdout).toMatch(/\n {2}id [0-9a-f-]{36}\n/);
    expect(unfolded(stdout)).toContain("These are old messages");
    expect(stdout).not.toContain("\u001b");
    const widths = stdout.split("\n").slice(1);
    expect(Math.max(...widths.map((line) => [...line].length))).toBeLessThanOrEqual(80);
    expect(readFileSync(session, "utf8")).toBe(compacted);
    expect(statSync(index).mode & 0o777).toBe(0o600);
  });

  it("recall shows 16 matches on a page, and names --all while part of the session is not searched", async () => {
    const { hits, hasMore } = await runJson("recall", session, "the", "tests", "of", "the", "metrics");
    expect([hits.length, hasMore]).toEqual([16, true]);
    const note = "--all also searches what is still in the context.";
    expect(unfolded((await run("recall", session, "metrics")).stdout)).toContain(note);
    expect(unfolded((await run("recall", session, "metrics", "--all")).stdout)).not.toContain(note);
  });

  it("recall --id prints a match verbatim, and accepts the beginning of its id", async () => {
    const { hits } = await runJson("recall", session, "ground", "rules", "metrics");
    const [hit] = hits;
    expect(hit).toMatchObject({ kind: "user", isInContext: false });
    const read = await runJson("recall", session, "--id", hit.id.slice(0, 13));
    expect(read).toMatchObject({ id: hit.id.slice(0, 13), page: 1, hasMore: false, candidates: [] });
    const [line] = compacted.split("\n").filter((one) => one.includes(`"uuid":"${hit.id}"`));
    expect(JSON.stringify(JSON.parse(line ?? "").message.content)).toContain(
      JSON.stringify(read.pieces[0].text),
    );
    const { stdout } = await run("recall", session, "--id", hit.id);
    expect(stdout).toContain(read.pieces[0].text);
  });

  it("recall returns the texts that match all given filters (--exact, --pattern, --file, --tool), newest first", async () => {
    const exact = await runJson("recall", session, "--exact", "require If-Match", "--tool", "Bash");
    expect(exact.hits.length).toBeGreaterThan(1);
    for (const { text, tool } of exact.hits as Hit[])
      expect([text.includes("require If-Match"), tool]).toEqual([true, "Bash"]);
    const times = exact.hits.map(({ timestamp }: { timestamp: string }) => timestamp);
    expect(times).toEqual(times.toSorted().toReversed());
    const pattern = await runJson("recall", session, "--pattern", "IF-MATCH on [A-Z]+", "--ignore-case");
    for (const { text } of pattern.hits as Hit[]) expect(text).toMatch(/if-match on [a-z]+/i);
    const { hits, total } = await runJson("recall", session, "--file", "src/server.ts", "--limit", "2");
    expect([hits.length, total > 2]).toEqual([2, true]);
    for (const { file } of hits as Hit[]) expect(file).toMatch(/src\/server\.ts$/);
  });

  it("recall --page continues after the previous page", async () => {
    const ids = async (...args: readonly string[]): Promise<readonly string[]> =>
      (await runJson("recall", session, "tide", ...args)).hits.map(({ id }: Hit) => id);
    const whole = await ids("--limit", "6");
    expect([...(await ids("--limit", "3")), ...(await ids("--limit", "3", "--page", "2"))]).toEqual(whole);
  });

  it("recall searches the current context, with its newest messages, only if --all is given", async () => {
    await run("recall", session, "tide");
    appendMessage("paint the lighthouse vermilion");
    expect((await runJson("recall", session, "vermilion")).hits).toEqual([]);
    const nothing = await run("recall", session, "vermilion");
    expect([nothing.code, unfolded(nothing.stdout)]).toEqual([0, expect.stringContaining("--all also")]);
    const { hits } = await runJson("recall", session, "vermilion", "--all");
    expect(hits).toMatchObject([{ id: "new-1", isInContext: true }]);
  });

  it("recall does not find text that undo put back into the context, and finds it again after a redo", async () => {
    const found = async (): Promise<number> =>
      (await runJson("recall", session, "--exact", "stays on port 8471, metrics on 9464")).total;
    expect(await found()).toBe(1);
    await run("undo", session, "--in-place");
    expect(await found()).toBe(0);
    await run("undo", session, "--redo", "--in-place");
    expect(await found()).toBe(1);
  }, 30_000);

  it("recall prints no terminal control characters", async () => {
    appendMessage("vermilion \u001b]0;mine\u0007\u001b[31mred");
    for (const args of [
      ["vermilion", "--all"],
      ["--id", "new-1"],
    ]) {
      const { stdout } = await run("recall", session, ...args);
      expect(stdout).toContain("vermilion");
      for (const steering of ["\u001b", "\u0007"]) expect(stdout).not.toContain(steering);
    }
  });
});

describe("longhaul recall over several sessions", () => {
  const store = join(home, ".claude", "projects");
  const folders = { here: join(home, "here"), there: join(home, "there") };
  beforeAll(() => {
    for (const [name, folder] of Object.entries(folders)) {
      const place = join(store, folder.replace(/[^A-Za-z0-9]/g, "-"));
      for (const path of [place, folder]) mkdirSync(path, { recursive: true });
      const entry = { type: "user", uuid: `u-${name}`, parentUuid: null, sessionId: name, cwd: folder };
      const message = { role: "user", content: `The vermilion lighthouse stands ${name}.` };
      writeFileSync(join(place, `${name}-1.jsonl`), `${JSON.stringify({ ...entry, message })}\n`);
    }
    writeFileSync(join(store, "broken.jsonl"), "");
    mkdirSync(join(store, "-broken"));
    writeFileSync(join(store, "-broken", "broken.jsonl"), "no session\n");
  });

  const recallIn = (cwd: string, ...args: readonly string[]): ReturnType<typeof runCli> =>
    runCli(["recall", ...args], { home, cwd });

  it("recall --all-sessions finds only sessions of the project, and names session, project and id", async () => {
    const { stdout, stderr, code } = await recallIn(
      folders.here,
      "--all-sessions",
      "where",
      "is",
      "the",
      "lighthouse",
    );
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("session here-1");
    expect(stdout).toContain("id u-here");
    expect(unfolded(stdout)).toContain("These are old messages");
    expect(stdout).not.toContain("there-1");
    const read = await recallIn(folders.there, "here-1", "--id", "u-here");
    expect(read.stdout).toContain("The vermilion lighthouse stands here.");
  });

  it("recall --all-projects finds sessions of every project, and names broken ones", async () => {
    const { stdout, stderr } = await recallIn(
      folders.there,
      "--all-projects",
      "--exact",
      "vermilion",
      "--json",
    );
    const { hits, scope, searched, skipped } = JSON.parse(stdout);
    expect(hits.map((hit: { session: { id: string } }) => hit.session.id).toSorted()).toEqual([
      "here-1",
      "there-1",
    ]);
    expect(hits[0]).toMatchObject({ isOld: true, isInContext: false });
    expect([scope, searched, skipped.length]).toEqual(["machine", 2, 1]);
    expect(stderr).toContain("left out");
    expect(stderr).toContain("broken.jsonl");
  });

  it("recall --all-projects exits with 1 and a reason for an empty query", async () => {
    const { stdout, code } = await recallIn(home, "--all-projects", "--json");
    expect([code, JSON.parse(stdout).error.code]).toEqual([1, "query-empty"]);
  });

  it("recall --all-sessions says so if the project has no sessions, and exits with 0", async () => {
    const { stdout, code } = await recallIn(home, "--all-sessions", "lighthouse");
    expect([code, unfolded(stdout)]).toEqual([
      0,
      expect.stringContaining("No sessions of this project found"),
    ]);
  });
});

describe("failures of longhaul recall", () => {
  it("recall --id fails with different errors for a missing page and for an ambiguous id", async () => {
    const { hits } = await runJson("recall", session, "ground", "rules", "metrics");
    const { error: page } = await runJson("recall", session, "--id", hits[0].id, "--page", "99");
    expect(page).toMatchObject({ code: "page-not-found", facts: { page: 99 } });
    const { error: several } = await runJson("recall", session, "--id", "toolu_");
    expect(several).toMatchObject({ code: "id-ambiguous", facts: { id: "toolu_" } });
  });

  it.each([
    [[], "query-empty"],
    [["--file", "./"], "query-empty"],
    [["--pattern", "("], "pattern-invalid"],
    [["--id", "no-such-id"], "entry-not-found"],
    [["--id", "../../../etc/passwd"], "entry-not-found"],
  ])("recall exits with 1 and a reason for %j", async (args, code) => {
    const failed = await run("recall", session, ...args, "--json");
    expect([failed.code, JSON.parse(failed.stdout).error.code]).toEqual([1, code]);
    expect(failed.stderr).not.toBe("");
  });

  it.each([
    [[]],
    [["x", "--exact", "--pattern", "y"]],
    [["x", "--id", "y", "--file", "z"]],
    [["x", "--id", ""]],
    [["x", "y", "--page", "0"]],
    [["x", "y", "--limit", "many"]],
    [["x", "--bogus"]],
    [["x", "--all-sessions", "--id", "y"]],
    [["x", "--all-sessions", "--all-projects"]],
  ])("recall exits with 2 for the wrong arguments %j", async (args) => {
    expect((await runCli(["recall", ...args], { home })).code).toBe(2);
  });

  it("recall exits with 1 without a session, and leaves no files behind", async () => {
    expect((await run("recall", join(home, "none.jsonl"), "tide")).code).toBe(1);
    expect(existsSync(join(home, "none.recall"))).toBe(false);
  });
});

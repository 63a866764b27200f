import { mkdirSync, mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Entry } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, usage } from "../../../../test/support/builders.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { findSession } from "./find-session.ts";
import { listSessions, sessionLabel } from "./list-sessions.ts";
import type { UserPlaces } from "./locations.ts";
import { linesOf } from "./whole-file.ts";

const folder = temporaryFolder();

/** Temporary home folder with sessions written one minute apart in the given order. */
class Home {
  readonly places: UserPlaces = { home: mkdtempSync(join(folder, "home-")), env: {} };
  #minute = 0;

  write(file: string, content: readonly Entry[] | string): string {
    const path = join(this.places.home, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? content : linesOf(content));
    const at = new Date(Date.UTC(2026, 0, 1, 0, this.#minute++));
    utimesSync(path, at, at);
    return path;
  }
}

function conversation(tokens = 100): ConversationBuilder {
  const b = new ConversationBuilder();
  b.user("question");
  b.assistant("answer", { usage: usage(tokens, 7, 20, 3) });
  return b;
}

describe("listSessions", () => {
  it("lists sessions of Claude Code and longhaul, newest first, with size, context and project", async () => {
    const home = new Home();
    home.write(".claude/projects/-project/old.jsonl", conversation().entries);
    home.write(".longhaul/projects/0123456789abcdef/new.jsonl", conversation(1_000).entries);
    const sessions = await listSessions(home.places);
    expect(sessions.map(({ id, agent, contextTokens, cwd }) => ({ id, agent, contextTokens, cwd }))).toEqual([
      { id: "new", agent: "longhaul", contextTokens: 1_030, cwd: "/project" },
      { id: "old", agent: "claude-code", contextTokens: 130, cwd: "/project" },
    ]);
    expect(sessions[0]?.bytes).toBe(linesOf(conversation(1_000).entries).length);
    expect(sessions[0]?.modifiedAt).toEqual(new Date(Date.UTC(2026, 0, 1, 0, 1)));
  });

  it("leaves subagent files, empty files, notes and folders out of the list of sessions", async () => {
    const home = new Home();
    home.write(".claude/projects/-p/agent-1.jsonl", conversation().entries);
    home.write(".claude/projects/-p/main/subagents/agent-2.jsonl", conversation().entries);
    home.write(".claude/projects/-p/empty.jsonl", "");
    home.write(".claude/projects/-p/notes.md", "# notes");
    home.write(".claude/projects/-p/folder.jsonl/file", "x");
    expect(await listSessions(home.places)).toEqual([]);
  });

  it("returns an empty list for a user without sessions", async () => {
    expect(await listSessions({ home: join(folder, "nobody"), env: {} })).toEqual([]);
  });

  it("does not report usage from before a compaction as the context size", async () => {
    const home = new Home();
    const known = conversation();
    known.boundary({ postTokens: 55 });
    known.summary("summary");
    const unknown = conversation();
    unknown.boundary();
    home.write(".claude/projects/-p/a.jsonl", known.entries);
    home.write(".claude/projects/-p/b.jsonl", unknown.entries);
    const sessions = await listSessions(home.places);
    expect(sessions.map(({ contextTokens }) => contextTokens)).toEqual([undefined, 55]);
  });

  it("finds the last usage of a session even if large lines, subagent lines or errors follow it", async () => {
    const home = new Home();
    const b = conversation();
    b.user("x".repeat(100_000));
    b.assistant("sub", { usage: usage(9, 9), isSidechain: true });
    b.push({ ...b.assistant("API Error", { usage: usage(0, 0) }), uuid: "error", isApiErrorMessage: true });
    b.entries.splice(-2, 1);
    home.write(".claude/projects/-p/a.jsonl", b.entries);
    expect((await listSessions(home.places))[0]?.contextTokens).toBe(130);
  });

  it("does not report usage from subagent progress lines as the context size, even from megabytes of such lines", async () => {
    const home = new Home();
    const { entries } = conversation();
    const message = { role: "assistant", usage: usage(9, 9), content: "x".repeat(300_000) };
    const line = { type: "progress" as "(any other)", data: { type: "agent_progress", message } };
    home.write(".claude/projects/-p/a.jsonl", [...entries, ...Array.from({ length: 8 }, (): Entry => line)]);
    expect((await listSessions(home.places))[0]?.contextTokens).toBe(130);
  });

  it("reports the context size of a boundary that megabytes of copied messages follow", async () => {
    const home = new Home();
    const b = conversation();
    b.boundary({ postTokens: 55 });
    for (let copy = 0; copy < 8; copy++) b.user(`${copy}${"x".repeat(300_000)}`);
    home.write(".claude/projects/-p/a.jsonl", b.entries);
    expect((await listSessions(home.places))[0]?.contextTokens).toBe(55);
  });

  it("finds the title of a session at the start or the end of its file", async () => {
    const home = new Home();
    const title: Entry = { type: "summary" as "(any other)", summary: "An old title", leafUuid: "x" };
    const later: Entry = { type: "custom-title" as "(any other)", customTitle: "A better title" };
    home.write(".claude/projects/-p/a.jsonl", [title, ...conversation().entries]);
    home.write(".claude/projects/-p/b.jsonl", [title, ...conversation().entries, later]);
    expect((await listSessions(home.places)).map((session) => session.title)).toEqual([
      "A better title",
      "An old title",
    ]);
  });

  it("labels a session without a title by its first request, and prefers a request to a command", async () => {
    const home = new Home();
    const command = new ConversationBuilder();
    command.user("<command-name>/model</command-name><command-args>opus</command-args>");
    const later = new ConversationBuilder();
    later.user("<command-name>/model</command-name><command-args>opus</command-args>");
    later.user(`${"x".repeat(100_000)} is too long`);
    const compacted = new ConversationBuilder();
    compacted.boundary();
    compacted.summary("summary");
    home.write(".claude/projects/-p/a.jsonl", conversation().entries);
    home.write(".claude/projects/-p/b.jsonl", command.entries);
    home.write(".claude/projects/-p/c.jsonl", later.entries);
    home.write(".claude/projects/-p/d.jsonl", compacted.entries);
    const sessions = await listSessions(home.places);
    expect(sessions.map((session) => sessionLabel(session).slice(0, 15))).toEqual([
      "(no prompt)",
      "x".repeat(15),
      "/model opus",
      "question",
    ]);
  });

  it("labels a session that begins with a compaction by the oldest request in its ledger", async () => {
    const home = new Home();
    const compacted = new ConversationBuilder();
    const fact = (id: string, text: string): object => ({
      id,
      kind: "directive",
      text,
      entryIds: ["e"],
      fate: "summary",
    });
    const facts = [fact("d1", "Now write the tests"), fact("d2", "Plan the harbor")];
    compacted.boundary({ longhaul: { ledger: { facts } } } as never);
    compacted.summary("summary");
    compacted.assistant("answer");
    home.write(".claude/projects/-p/a.jsonl", compacted.entries);
    expect((await listSessions(home.places)).map(sessionLabel)).toEqual(["Plan the harbor"]);
  });

  it("lists a session file that contains garbage", async () => {
    const home = new Home();
    home.write(
      ".claude/projects/-p/garbage.jsonl",
      '"usage" {{{ "cwd"\n\0\0\n{"type":"assistant","usage":1}\n',
    );
    expect(await listSessions(home.places)).toMatchObject([
      { id: "garbage", cwd: undefined, contextTokens: undefined },
    ]);
  });

  it("lists only the newest sessions when a limit is given", async () => {
    const home = new Home();
    for (const name of ["a", "b", "c"])
      home.write(`.claude/projects/-p/${name}.jsonl`, conversation().entries);
    expect((await listSessions({ ...home.places, limit: 2 })).map(({ id }) => id)).toEqual(["c", "b"]);
  });
});

describe("findSession", () => {
  const home = new Home();
  const first = home.write(".claude/projects/-p/aaa-111.jsonl", conversation().entries);
  const second = home.write(".claude/projects/-p/aaa-222.jsonl", conversation().entries);
  const longest = home.write(
    ".longhaul/projects/0123456789abcdef/aaa-222-more.jsonl",
    conversation().entries,
  );

  it("finds a session by its path, its id, the start of its id, or the word latest", async () => {
    expect(await findSession(first, home.places)).toBe(first);
    expect(await findSession("somewhere/else.jsonl", home.places)).toBe("somewhere/else.jsonl");
    expect(await findSession("aaa-222", home.places)).toBe(second);
    expect(await findSession("aaa-1", home.places)).toBe(first);
    expect(await findSession("latest", home.places)).toBe(longest);
  });

  it("lists the candidates when several session ids start with the given prefix", async () => {
    await expect(findSession("aaa", home.places)).rejects.toMatchObject({
      code: "session-ambiguous",
      remedy: expect.stringContaining("\n  aaa-111  question"),
      facts: { candidates: 3 },
    });
  });

  it("suggests how to list sessions when no session matches", async () => {
    for (const query of ["zzz", "", "*", "aaa 111"]) {
      await expect(findSession(query, home.places)).rejects.toMatchObject({
        code: "session-not-found",
        remedy: expect.stringContaining("longhaul sessions"),
      });
    }
    const nobody = { home: join(folder, "nobody"), env: {} };
    await expect(findSession("latest", nobody)).rejects.toThrow(
      "No session found: no session on this machine has a conversation yet.",
    );
  });

  it("never resolves an id to a file outside the session folders", async () => {
    await expect(findSession("..", home.places)).rejects.toMatchObject({ code: "session-not-found" });
    expect(await findSession("../../etc/passwd", home.places)).toBe("../../etc/passwd");
  });
});

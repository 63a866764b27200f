import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { flatten } from "@longhaul/core/request";
import { loadSession } from "@longhaul/sessions";
import { beforeEach, describe, expect, it } from "vitest";
import { apiRuleViolations } from "../support/api-rules.ts";
import { unfolded } from "../support/cli.ts";
import { demoHome } from "./demo-home.ts";

const { home, text, run, runJson, newSession } = demoHome();
let session: string;
let notes: string;
beforeEach(() => {
  ({ session, notes } = newSession());
});

describe("longhaul compact --from-notes", () => {
  it("compact --from-notes uses existing notes unchanged, and says so", async () => {
    await run("notes", session);
    const mine = readFileSync(notes, "utf8").replace(/(# Learnings\n_.*_\n)/, "$1\n- Gulls are loud.\n");
    writeFileSync(notes, mine);
    const report = await runJson("compact", session, "--from-notes", "--in-place");
    expect(report).toMatchObject({
      summary: { source: "notes", model: null, usage: null, sections: [] },
      notes: { path: notes, built: false, written: false },
      out: session,
      fits: true,
    });
    expect(report.summary.attempts).toEqual([{ step: "notes", outcome: "written", cuts: 0 }]);
    expect(report.summary.titles).toContain("Current State");
    expect(report.summary.text).toContain("Gulls are loud.");
    expect(readFileSync(notes, "utf8")).toBe(mine);
    expect(report.restored).toContainEqual(expect.objectContaining({ kind: "session-memory", path: notes }));
    const after = await loadSession(session);
    expect(apiRuleViolations(flatten(after.conversation))).toEqual([]);
    expect((await runJson("inspect", session)).compactions).toHaveLength(1);
  });

  it("compact --from-notes builds missing notes, and writes them to a file unless it only shows a preview", async () => {
    const look = await run("compact", session, "--from-notes");
    expect(look.code).toBe(0);
    expect(unfolded(look.stdout)).toContain(
      "written without a model, because the session had no notes, nothing was written",
    );
    expect(look.stdout).toContain("Summary     from the session's notes, no model called");
    expect(existsSync(notes)).toBe(false);
    const report = await runJson("compact", session, "--from-notes", "--in-place");
    expect(report.notes).toEqual({ path: notes, built: true, written: true });
    expect(existsSync(notes)).toBe(true);
  });

  it("compact --from-notes --summary shows the notes as the summary", async () => {
    const { stdout } = await run("compact", session, "--from-notes", "--summary");
    expect(stdout).toMatch(/─+\n# Session Title\n/);
  });

  it("compact --from-notes explains why it cannot use notes from before the last compaction", async () => {
    await run("notes", session);
    await run("compact", session, "--in-place", "--keep-recent", "0");
    const before = readFileSync(session);
    const { code, stdout, stderr } = await run("compact", session, "--from-notes", "--in-place", "--json");
    expect([code, JSON.parse(stdout).error.code]).toEqual([1, "notes-not-usable"]);
    expect(stderr).toContain("longhaul notes SESSION --update");
    expect(readFileSync(session).equals(before)).toBe(true);
  });

  it("compact --from-notes explains why it cannot read the notes", async () => {
    mkdirSync(notes);
    const { code, stderr } = await run("compact", session, "--from-notes", "--in-place");
    expect(code).toBe(1);
    expect(stderr).toContain("is a folder");
    expect(readFileSync(session, "utf8")).toBe(text);
  });

  it("compact --from-notes does not use the notes when a hook adds instructions, and says so", async () => {
    mkdirSync(join(home, ".longhaul"), { recursive: true });
    const hooks = { PreCompact: [{ hooks: [{ type: "command", command: "echo look after the tides" }] }] };
    writeFileSync(join(home, ".longhaul", "settings.json"), JSON.stringify({ hooks }), { mode: 0o600 });
    const { stdout } = await run("compact", session, "--from-notes", "--out", join(home, "hooked.jsonl"));
    rmSync(join(home, ".longhaul"), { recursive: true });
    expect(unfolded(stdout)).toContain(
      "session notes (not available, hook instructions) → built-in summarizer",
    );
    expect(unfolded(stdout)).toContain("not used");
  });

  it.each([
    ["--instructions", "x"],
    ["--model", "x"],
    ["--from", "x"],
    ["--up-to", "x"],
    ["--keep-recent", "5"],
  ])("compact rejects --from-notes together with %s as wrong use", async (...option) => {
    const { code, stderr } = await run("compact", session, "--from-notes", ...option);
    expect(code).toBe(2);
    expect(stderr).toContain("--from-notes");
  });
});

describe("compaction of a session that has notes", () => {
  it("the summary message of a compaction names the notes file, whoever writes the summary", async () => {
    expect(
      (await runJson("compact", session)).restored.map(({ kind }: { kind: string }) => kind),
    ).not.toContain("session-memory");
    await run("notes", session);
    const report = await runJson("compact", session);
    expect(report).toMatchObject({ notes: null, summary: { source: "built-in" } });
    expect(report.restored).toContainEqual(expect.objectContaining({ kind: "session-memory", path: notes }));
  });
});

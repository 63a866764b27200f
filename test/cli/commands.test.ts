import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SECTION_NAMES } from "@longhaul/core/summary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDemoSession, demoFiles } from "../../packages/simulator/src/demo-session.ts";
import { type CliRun, runCli, unfolded } from "../support/cli.ts";

let home: string;
let session: string;
let id: string;
const run = (...args: readonly string[]): Promise<CliRun> => runCli(args, { home });
const runJson = async (...args: readonly string[]) => JSON.parse((await run(...args, "--json")).stdout);

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "longhaul-cli-"));
  const cwd = join(home, "harbour");
  for (const [name, text] of demoFiles()) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  const entries = createDemoSession({ cwd });
  id = entries.find((entry) => entry.sessionId !== undefined)?.sessionId ?? "";
  const project = join(home, ".claude", "projects", "-harbour");
  mkdirSync(project, { recursive: true });
  session = join(project, `${id}.jsonl`);
  writeFileSync(session, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  const older = join(project, "00000000-1111-4222-8333-444444444444.jsonl");
  writeFileSync(
    older,
    `${JSON.stringify({ type: "user", uuid: "u", parentUuid: null, timestamp: "2026-01-01T00:00:00Z", cwd: "/old", sessionId: "0", message: { role: "user", content: "hello" } })}\n`,
  );
  utimesSync(older, new Date("2026-01-01"), new Date("2026-01-01"));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe("longhaul inspect", () => {
  it("inspect prints the documented JSON shape", async () => {
    const report = await runJson("inspect", session);
    expect(report).toMatchObject({
      session: { id, path: session, entries: expect.any(Number), damage: [] },
      context: { tokens: expect.any(Number), source: "usage", messages: expect.any(Number) },
      window: {
        size: 200_000,
        effective: 180_000,
        autoCompact: 167_000,
        warning: 147_000,
        blocking: 177_000,
      },
      state: { percentLeft: 0, isAboveAutoCompactThreshold: true, isAtBlockingLimit: false },
      accounting: { total: expect.any(Number), toolResults: { Read: expect.any(Number) } },
      compactions: [],
    });
    expect(report.context.tokens).toBeGreaterThan(165_000);
    expect(report.largest.length).toBeGreaterThan(3);
    expect(report.duplicates[0]).toMatchObject({ path: expect.any(String), reads: expect.any(Number) });
  });

  it("inspect shows bars, thresholds, largest results and duplicate reads, in 80 columns without colors", async () => {
    const { stdout, code } = await run("inspect", session);
    expect(code).toBe(0);
    for (const text of [
      "Context",
      "█",
      "auto",
      "Tool results",
      "Largest tool results",
      "Files read more than once",
    ]) {
      expect(stdout).toContain(text);
    }
    expect(stdout).not.toContain("\u001b");
    expect(Math.max(...stdout.split("\n").map((line) => [...line].length))).toBeLessThanOrEqual(80);
  });

  it("inspect accepts another window by size or by model name", async () => {
    expect((await runJson("inspect", session, "--window", "400000")).window.size).toBe(400_000);
    expect((await runJson("inspect", session, "--window", "claude-opus-5")).window.size).toBe(1_000_000);
  });

  it("a command warns once about a bad setting, on standard error, and ignores the setting", async () => {
    const env = { CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: "400" };
    const { stdout, stderr } = await runCli(["inspect", session, "--json"], { home, env });
    expect(JSON.parse(stdout).window.autoCompact).toBe(167_000);
    expect(stderr.match(/CLAUDE_AUTOCOMPACT_PCT_OVERRIDE/g)).toHaveLength(1);
  });
});

describe("longhaul compact", () => {
  const copy = (): string => {
    const path = join(home, `copy-${Math.random().toString(36).slice(2)}.jsonl`);
    writeFileSync(path, readFileSync(session));
    return path;
  };

  it("compact prints the documented JSON shape, and a dry run writes nothing", async () => {
    const before = readFileSync(session);
    const report = await runJson("compact", session, "--dry-run", "--in-place");
    expect(report).toMatchObject({
      before: { tokens: expect.any(Number), messages: expect.any(Number) },
      after: { tokens: expect.any(Number), messages: expect.any(Number) },
      boundary: { subtype: "compact_boundary", parentUuid: null },
      summary: { source: "built-in", text: expect.any(String), sections: SECTION_NAMES },
      kept: { messages: expect.any(Number), tokens: expect.any(Number) },
      out: null,
      written: null,
    });
    expect(report.after.tokens).toBeLessThan(report.before.tokens / 2);
    expect(report.restored.length).toBeGreaterThan(0);
    expect(readFileSync(session).equals(before)).toBe(true);
  });

  it("compact --in-place appends to the session, and inspect then shows a small context and one compaction", async () => {
    const path = copy();
    const before = readFileSync(path);
    const { out, written, after } = await runJson("compact", path, "--in-place");
    expect(out).toBe(path);
    expect(written).toEqual({ mode: "in-place", sessionId: id });
    expect(readFileSync(path).subarray(0, before.length).equals(before)).toBe(true);
    const report = await runJson("inspect", path);
    expect(report.compactions).toHaveLength(1);
    expect(Math.abs(report.context.tokens / after.tokens - 1)).toBeLessThan(0.1);
  });

  it("compact --out writes a new session that only its owner can read, and leaves the old session unchanged", async () => {
    const path = copy();
    const out = join(home, "new-session.jsonl");
    const before = readFileSync(path);
    const report = await runJson("compact", path, "--out", out);
    expect(report.out).toBe(out);
    expect(report.written).toMatchObject({ mode: "new-session" });
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(statSync(out).mode & 0o777).toBe(0o600);
    expect((await runJson("inspect", out)).compactions).toHaveLength(1);
    expect((await run("compact", path, "--out", out)).code).toBe(1);
  });

  it.each(["compact", "clear", "undo"])("%s --out refuses a missing folder and names it", async (command) => {
    const folder = join(home, "no-such-folder");
    const { code, stderr } = await run(command, copy(), "--out", join(folder, "deeper", "new.jsonl"));
    expect(code).toBe(1);
    expect(unfolded(stderr)).toContain(`the folder ${join(folder, "deeper")} does not exist`);
    expect(existsSync(folder)).toBe(false);
  });

  it("compact --keep-recent sets how many tokens of the newest messages stay verbatim", async () => {
    const none = await runJson("compact", session, "--keep-recent", "0");
    const much = await runJson("compact", session, "--keep-recent", "40000");
    expect(none.kept).toEqual({ messages: 0, tokens: 0, inSummary: false });
    expect(much.kept.tokens).toBeGreaterThan(30_000);
  });

  it("compact says that a summary of the whole conversation also covers the kept messages", async () => {
    const covered = /tokens, verbatim, also covered by the summary/;
    const { stdout: whole } = await run("compact", session, "--keep-recent", "40000");
    expect(unfolded(whole)).toMatch(covered);
    const [, , picked] = await runJson("inspect", session, "--prompts");
    for (const part of ["--from", "--up-to"])
      expect(unfolded((await run("compact", session, part, picked.uuid)).stdout)).not.toMatch(covered);
    const { stdout: none } = await run("compact", session, "--keep-recent", "0");
    expect(unfolded(none)).not.toMatch(covered);
  });

  it("compact --instructions adds the instructions to the summary, and --summary shows the summary", async () => {
    const { stdout } = await run(
      "compact",
      session,
      "--instructions",
      "look after the tide tables",
      "--summary",
    );
    expect(stdout).toContain("look after the tide tables");
    for (const name of SECTION_NAMES) expect(stdout).toContain(name);
  });

  it("compact with a small window creates a conversation that fits the window", async () => {
    const report = await runJson("compact", session, "--window", "64000");
    expect(report.fits).toBe(true);
  });

  it("compact refuses when compaction is disabled", async () => {
    const { code, stderr } = await runCli(["compact", session, "--dry-run"], {
      home,
      env: { DISABLE_COMPACT: "1" },
    });
    expect(code).toBe(1);
    expect(stderr).toContain("DISABLE_COMPACT");
  });
});

describe.each(["DISABLE_AUTO_COMPACT", "DISABLE_COMPACT"])(
  "longhaul inspect with the setting %s",
  (variable) => {
    const run = (...args: string[]) =>
      runCli(["inspect", session, ...args], { home, env: { [variable]: "1" } });

    it("inspect announces no automatic compaction, in text or in JSON, when auto-compact is disabled", async () => {
      const { stdout } = await run();
      expect(stdout).toContain(variable);
      expect(stdout).not.toMatch(/┴auto|auto-compact at|auto-compact threshold/);
      const report = JSON.parse((await run("--json")).stdout);
      expect(report.window).toMatchObject({
        autoCompact: null,
        headroomBy: variable === "DISABLE_COMPACT" ? "nobody" : "manual",
      });
      expect(report.state.isAboveAutoCompactThreshold).toBe(false);
    });
  },
);

describe("longhaul sessions", () => {
  it("sessions lists sessions newest first, with size, context and project", async () => {
    const listed = await runJson("sessions");
    expect(listed.map((item: { id: string }) => item.id)).toEqual([
      id,
      "00000000-1111-4222-8333-444444444444",
    ]);
    expect(listed[0]).toMatchObject({
      agent: "claude-code",
      bytes: expect.any(Number),
      project: expect.stringContaining("harbour"),
    });
    expect(listed[0].contextTokens).toBeGreaterThan(165_000);
    const { stdout } = await run("sessions");
    expect(stdout.indexOf(id.slice(0, 8))).toBeLessThan(stdout.indexOf("00000000"));
  });

  it("commands accept the beginning of a session id, or `latest`, instead of a path", async () => {
    expect((await runJson("inspect", id.slice(0, 6))).session.id).toBe(id);
    expect((await runJson("inspect", "latest")).session.id).toBe(id);
  });

  it("sessions says that there are no sessions", async () => {
    const empty = mkdtempSync(join(tmpdir(), "longhaul-empty-"));
    const { code, stdout } = await runCli(["sessions"], { home: empty });
    expect(code).toBe(0);
    expect(stdout).toContain("No sessions");
    rmSync(empty, { recursive: true });
  });
});

describe("the command line", () => {
  it("longhaul demo shows a compaction and says what to try next", async () => {
    const { code, stdout } = await run("demo");
    expect(code).toBe(0);
    for (const text of ["before", "after", "What to try next", "longhaul sessions"])
      expect(stdout).toContain(text);
  });

  it.each(["--help", "compact --help", "--version"])("longhaul %s exits with 0", async (args) => {
    expect((await run(...args.split(" "))).code).toBe(0);
  });

  it.each([
    [[]],
    [["nonsense"]],
    [["compact"]],
    [["inspect", "x", "--bogus"]],
    [["compact", "x", "--keep-recent", "many"]],
    [["compact", "x", "--window", "12"]],
    [["sessions", "--limit", "0"]],
    [["compact", "x", "--in-place", "--out", "y"]],
    [["inspect", "x", "--window", "9000", "--model-window", "gpt-4o"]],
    [["inspect", "x", "--window", "nonsense"]],
    [["inspect", "x", "--window", "99999999999999999999"]],
  ])("longhaul exits with 2 for the wrong arguments %j", async (args) => {
    const { code, stderr, stdout } = await run(...args);
    expect(code).toBe(2);
    expect(stderr + stdout).toContain("longhaul");
  });
});

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CLI_MAIN, type CliRun, runCli, unfolded } from "../support/cli.ts";
import { demoProject } from "../support/demo-project.ts";

const isPosix = process.platform !== "win32";
let home: string;
let project: string;
let text: string;
let session: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "longhaul-hooks-"));
  project = join(home, "harbour");
  text = demoProject(project, { approximateTokens: 60_000 });
  session = join(home, "session.jsonl");
  mkdirSync(join(home, ".longhaul"));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));
beforeEach(() => writeFileSync(session, text));
afterEach(() => rmSync(settingsPath(), { force: true }));

const settingsPath = (): string => join(home, ".longhaul", "settings.json");

interface Hook {
  readonly command: string;
  readonly timeout?: number;
}

function configure(hooks: Readonly<Record<string, readonly Hook[]>>): void {
  const events = Object.entries(hooks).map(([event, commands]) => [
    event,
    [{ hooks: commands.map((hook) => ({ type: "command", ...hook })) }],
  ]);
  writeFileSync(settingsPath(), JSON.stringify({ hooks: Object.fromEntries(events) }), { mode: 0o600 });
}

const compact = (...args: readonly string[]): Promise<CliRun> =>
  runCli(["compact", session, "--project", project, ...args], { home });
const isUntouched = (): boolean => readFileSync(session, "utf8") === text;

describe.skipIf(!isPosix)("compaction hooks in the user's settings", () => {
  it("hooks receive their input and add to the summary request and the conversation, and compact lists them", async () => {
    configure({
      PreCompact: [{ command: "cat > pre.json; echo look after the tides" }],
      SessionStart: [{ command: "pwd" }],
      PostCompact: [{ command: "cat > post.json; echo noted" }],
    });
    const { stdout, code } = await compact("--in-place", "--instructions", "and the berths");
    expect(code).toBe(0);
    expect(stdout).toMatch(/Hooks {7}3 ran\n/);
    expect(unfolded(stdout)).toContain("echo look after the tides] completed: look after the tides");
    const pre = JSON.parse(readFileSync(join(project, "pre.json"), "utf8"));
    expect(pre).toMatchObject({
      hook_event_name: "PreCompact",
      trigger: "manual",
      transcript_path: session,
      cwd: project,
      custom_instructions: "and the berths",
    });
    const post = JSON.parse(readFileSync(join(project, "post.json"), "utf8"));
    expect(post.compact_summary).toMatch(/and the berths[\s\S]*look after the tides/);
    const lines = readFileSync(session, "utf8").slice(text.length);
    expect(lines).toContain(project);
    expect(lines).toContain("look after the tides");
  });

  it("compact --json lists the hooks with their outcomes", async () => {
    configure({ PreCompact: [{ command: "exit 3" }, { command: "echo yes" }] });
    const { hooks } = JSON.parse((await compact("--json")).stdout);
    const common = { event: "PreCompact", kind: "command", durationMs: expect.any(Number) };
    expect(hooks).toEqual([
      { ...common, name: "exit 3", state: "failed", text: expect.stringContaining("exit code 3") },
      { ...common, name: "echo yes", state: "completed", text: "PreCompact [echo yes] completed: yes" },
    ]);
  });

  it("a dry run, --no-hooks, clear and inspect run no hooks", async () => {
    configure({ PreCompact: [{ command: "touch ran" }], SessionStart: [{ command: "touch ran" }] });
    expect((await compact("--dry-run", "--in-place")).code).toBe(0);
    expect((await compact("--no-hooks")).code).toBe(0);
    expect((await runCli(["clear", session, "--keep", "3"], { home })).code).toBe(0);
    expect(existsSync(join(project, "ran"))).toBe(false);
    await compact();
    expect(existsSync(join(project, "ran"))).toBe(true);
  });

  it("hooks run in the current folder when the session's folder is missing", async () => {
    configure({ PreCompact: [{ command: "pwd >&2; exit 2" }] });
    writeFileSync(session, text.replaceAll(project, join(home, "gone")));
    const { code, stderr } = await runCli(["compact", session], { home });
    expect(code).toBe(1);
    expect(stderr).toContain(`blocked the compaction: ${home}`);
  });

  it("a hook that blocks stops the compaction: exit code 1, the reason and the remedy, nothing written", async () => {
    configure({ PreCompact: [{ command: "echo not before the release is out >&2; exit 2" }] });
    const { code, stdout, stderr } = await compact("--in-place", "--json");
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /The hook echo not before.* blocked the compaction: not before the release is out/,
    );
    expect(stderr).toMatch(/--no-hooks/);
    expect(JSON.parse(stdout).error.code).toBe("compaction-blocked");
    expect(isUntouched()).toBe(true);
    expect((await compact("--in-place", "--no-hooks")).code).toBe(0);
  });

  it("a hook that hangs, fails or prints endlessly does not stop the compaction, and its outcome is shown", async () => {
    configure({
      PreCompact: [
        { command: "sleep 100", timeout: 0.3 },
        { command: "yes | head -c 300000000" },
        { command: "no-such-program-here" },
      ],
    });
    const { code, stdout } = await compact();
    expect(code).toBe(0);
    expect(stdout).toContain("3 ran, 2 of them failed");
    expect(unfolded(stdout)).toContain("[sleep 100] failed: timed out after 0.3 seconds");
    expect(stdout.length).toBeLessThan(10_000);
  });

  it("compact ignores hooks when other users may write to the settings, and says so", async () => {
    configure({ PreCompact: [{ command: "touch refused" }] });
    chmodSync(settingsPath(), 0o666);
    const { code, stderr } = await compact();
    expect(code).toBe(0);
    expect(stderr).toMatch(/are ignored: other users can write to the file/);
    expect(existsSync(join(project, "refused"))).toBe(false);
  });

  it("compact names unusable hooks and runs the others", async () => {
    writeFileSync(
      settingsPath(),
      JSON.stringify({
        hooks: { PreCompact: [{ hooks: [{ type: "riddle" }, { type: "command", command: "echo a" }] }] },
      }),
      { mode: 0o600 },
    );
    const { stdout, stderr } = await compact();
    expect(stderr).toMatch(/riddle/);
    expect(stdout).toContain("1 ran");
  });

  it("hooks cause no Node warning on the screen", async () => {
    configure({ PreCompact: Array.from({ length: 15 }, (_, index) => ({ command: `echo ${index}` })) });
    expect((await compact()).stderr).toBe("");
  });
});

describe.skipIf(!isPosix)("an interrupt while a hook runs", () => {
  const start = (): ChildProcessWithoutNullStreams =>
    spawn(process.execPath, [CLI_MAIN, "compact", session, "--in-place"], {
      env: { PATH: process.env.PATH ?? "", HOME: home },
    });

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "%s ends the hook with all of its child processes and writes nothing",
    async (signal) => {
      const mark = join(project, `pids-${signal}`);
      const stubborn = "trap '' TERM INT HUP; (trap '' TERM; sleep 60) & echo $! $$";
      configure({
        PreCompact: [{ command: `${stubborn} > ${mark}.new; mv ${mark}.new ${mark}; sleep 60; wait` }],
      });
      const child = start();
      let said = "";
      child.stderr.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
      while (!existsSync(mark)) await new Promise((resolve) => setTimeout(resolve, 10));
      child.kill(signal);
      const [code] = await once(child, "close");
      expect([code, said]).toEqual([
        1,
        "longhaul: You interrupted the command.\nNothing was changed. Run the command again to start over.\n",
      ]);
      expect(isUntouched()).toBe(true);
      const pids = readFileSync(mark, "utf8").trim().split(" ");
      expect(pids).toHaveLength(2);
      expect(pids.filter(isAlive)).toEqual([]);
    },
  );

  /**
   * Returns true if a process runs. The list also contains ended processes whose exit code was not read yet.
   * They are marked Z and do not count.
   */
  function isAlive(pid: string): boolean {
    const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", pid], { encoding: "utf8" });
    return stdout.trim() !== "" && !stdout.trim().startsWith("Z");
  }
});

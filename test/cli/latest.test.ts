import { mkdirSync, mkdtempSync, readFileSync, realpathSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type SessionAgent, sessionPath } from "@longhaul/sessions";
import { afterEach, describe, expect, it } from "vitest";
import { hasNoPty, openPty, type Pty } from "../chat/pty.case.ts";
import { type CliRun, runCli, unfolded } from "../support/cli.ts";
import { demoProject } from "../support/demo-project.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";

const base = realpathSync(temporaryFolder());
const project = join(base, "harbour");
/** A long session whose working folder is the project. */
const demo = demoProject(project);
const failed = [
  { type: "user", message: { role: "user", content: "hello" } },
  {
    type: "assistant",
    isApiErrorMessage: true,
    message: { role: "assistant", model: "<synthetic>", content: [] },
  },
]
  .map(
    (line, nth) =>
      `${JSON.stringify({ ...line, uuid: `f${nth}`, parentUuid: nth === 0 ? null : "f0", cwd: project })}\n`,
  )
  .join("");

const ptys: Pty[] = [];
afterEach(async () => {
  await Promise.all(ptys.splice(0).map((pty) => pty.close()));
});

/** Creates a home with a long session of the project, and a newer session that failed at its first call. */
function newHome(): { readonly home: string; readonly session: string; readonly text: () => string } {
  const home = mkdtempSync(join(base, "home-"));
  const write = (id: string, text: string, minute: number, agent: SessionAgent = "claude-code"): string => {
    const path = sessionPath(agent, { home, env: {} }, project, id);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    utimesSync(path, new Date(Date.UTC(2026, 0, 1, 0, minute)), new Date(Date.UTC(2026, 0, 1, 0, minute)));
    return path;
  };
  const session = write("11111111-talk", demo, 0);
  write("22222222-failed", failed, 1);
  write("33333333-failed", failed, 2, "longhaul");
  return { home, session, text: () => readFileSync(session, "utf8") };
}

const run = (home: string, cwd: string, ...args: readonly string[]): Promise<CliRun> =>
  runCli(args, { home, cwd });

describe("the session name `latest`", () => {
  it("`latest` is the newest session with a conversation, not a newer session whose first call failed", async () => {
    const { home, session } = newHome();
    const { stdout } = await run(home, home, "inspect", "latest", "--json");
    expect(JSON.parse(stdout).session.path).toBe(session);
  });

  it.each([
    ["compact", "--in-place"],
    ["clear", "--in-place"],
    ["notes", "--rebuild"],
  ])("`%s %s` names the latest session before it writes", async (name, option) => {
    const { home } = newHome();
    const inside = await run(home, project, name, "latest", option);
    expect(inside).toMatchObject({ code: 0 });
    expect(unfolded(inside.stderr)).toMatch(
      /The latest session is 11111111-talk \(Claude Code in .*harbour, \d+ days ago\)\. $/,
    );
  });

  it("compact latest names another project's session, and writes to it when it cannot ask the user", async () => {
    const { home, text } = newHome();
    const { code, stderr, stdout } = await run(home, home, "compact", "latest", "--in-place", "--json");
    expect(code).toBe(0);
    expect(stderr).toContain("It belongs to another project, because this one has no session yet.");
    expect(JSON.parse(stdout).written).toBeTruthy();
    expect(text().length).toBeGreaterThan(demo.length);
    const undone = await run(home, home, "undo", "latest", "--in-place");
    expect(undone).toMatchObject({ code: 0, stderr: expect.stringContaining("11111111-talk") });
  });

  it("commands that only read, and commands with a named session, do not mention `latest`", async () => {
    const { home } = newHome();
    for (const args of [
      ["inspect", "latest"],
      ["compact", "latest", "--dry-run"],
      ["undo", "latest", "--list"],
      ["notes", "latest", "--dry-run"],
      ["clear", "11111111", "--in-place"],
    ])
      expect(await run(home, home, ...args)).toMatchObject({ code: 0, stderr: "" });
  });
});

describe.skipIf(hasNoPty)("the session name `latest` in a terminal", () => {
  function terminal(
    home: string,
    cwd: string,
    args: readonly string[],
    env: Record<string, string> = {},
  ): Pty {
    const pty = openPty({ args, cwd, env: { HOME: home, ...env } });
    ptys.push(pty);
    return pty;
  }

  it("compact writes to the latest session of another project only after the user's yes", async () => {
    const { home, text } = newHome();
    for (const answer of ["", "n", "nonsense"]) {
      const pty = terminal(home, home, ["compact", "latest", "--in-place"]);
      await pty.waitFor("Use the session of another project? [y/N]");
      expect(unfolded(pty.screenText())).toContain("The latest session is 11111111-talk");
      pty.type(answer);
      pty.press("enter");
      await pty.waitFor("Nothing was written.");
      await pty.waitFor("11111111-talk");
      expect(await pty.exit).toMatchObject({ code: 1 });
      expect(text()).toBe(demo);
    }
    const pty = terminal(home, home, ["compact", "latest", "--in-place"]);
    await pty.waitFor("[y/N]");
    pty.type("y");
    pty.press("enter");
    expect(await pty.exit).toMatchObject({ code: 0 });
    expect(text().length).toBeGreaterThan(demo.length);
  });

  it("notes shows existing notes of another project's session at once, and asks before it writes new notes", async () => {
    const { home } = newHome();
    const asked = terminal(home, home, ["notes", "latest"]);
    await asked.waitFor("Use the session of another project? [y/N]");
    asked.type("y");
    asked.press("enter");
    expect(await asked.exit).toMatchObject({ code: 0 });
    const shown = terminal(home, home, ["notes", "latest"]);
    expect(await shown.exit).toMatchObject({ code: 0 });
    expect(unfolded(shown.screenText())).not.toContain("Use the session of another project?");
    const updated = terminal(home, home, ["notes", "latest", "--update"]);
    await updated.waitFor("Use the session of another project? [y/N]");
    updated.press("ctrl-c");
    await updated.waitFor("Nothing was written.");
  });

  it.each(["ctrl-c", "ctrl-d"] as const)(
    "clear leaves the latest session of another project unchanged after %s",
    async (key) => {
      const { home, text } = newHome();
      const pty = terminal(home, home, ["clear", "latest", "--in-place"]);
      await pty.waitFor("[y/N]");
      pty.press(key);
      await pty.waitFor("Nothing was written.");
      expect(text()).toBe(demo);
    },
  );

  it("compact writes to the latest session of the current project without a question", async () => {
    const { home, text } = newHome();
    const pty = terminal(home, project, ["compact", "latest", "--in-place"]);
    expect(await pty.exit).toMatchObject({ code: 0 });
    expect(text().length).toBeGreaterThan(demo.length);
  });

  it("chat resumes the latest session of another project only after the user's yes", async () => {
    const { home, text } = newHome();
    const chat = (): Pty =>
      terminal(home, home, ["chat", "--resume", "latest"], {
        ANTHROPIC_API_KEY: "any",
        ANTHROPIC_BASE_URL: "http://127.0.0.1:9",
      });
    const declined = chat();
    await declined.waitFor("Use the session of another project?");
    expect(unfolded(declined.screenText())).toContain("The latest session is 11111111-talk");
    declined.type("n");
    await declined.waitFor("Nothing was written.");
    expect(await declined.exit).toMatchObject({ code: 1 });
    const confirmed = chat();
    await confirmed.waitFor("Use the session of another project?");
    confirmed.type("y");
    await confirmed.waitFor("Resumed");
    expect(text()).toBe(demo);
  });
});

import { readFileSync, realpathSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { gone, pidIn, type ShellPlace, shellPlace } from "../../../../../test/support/shell-place.ts";
import type { ToolContext, ToolOutcome } from "../../tool.ts";
import { bashTool } from "./bash.ts";

let folder: string;
let place: ShellPlace;
beforeAll(async () => {
  folder = realpathSync(await mkdtemp(join(tmpdir(), "longhaul-bash-")));
  place = shellPlace(folder);
});
afterAll(async () => {
  await place.shells.close();
  rmSync(folder, { recursive: true, force: true });
});

const context = (more: Partial<ToolContext> = {}): ToolContext => ({
  callId: "call",
  signal: new AbortController().signal,
  onProgress: () => undefined,
  ...more,
});
const run = (command: string, more: object = {}, where: ShellPlace = place): Promise<ToolOutcome> =>
  bashTool(where).call({ command, ...more }, context());

describe.skipIf(process.platform === "win32")("the Bash tool", () => {
  it("returns standard output and standard error in the order they were written", async () => {
    const outcome = await run("for i in 1 2 3; do echo out$i; echo err$i >&2; done");
    expect(outcome).toMatchObject({ content: "out1\nerr1\nout2\nerr2\nout3\nerr3", isError: false });
    expect(outcome.summary).toMatch(/^exit 0 · \d+\.\d s · 6 lines$/);
  });

  it("the result of a failed command begins with its exit code, and is marked as an error", async () => {
    const outcome = await run("echo before; exit 3");
    expect(outcome).toMatchObject({ content: "Exit code 3\nbefore", isError: true });
    expect(outcome.summary).toMatch(/^exit 3 · .* · 1 line$/);
    expect(await run("kill -9 $$")).toMatchObject({
      content: "SIGKILL ended the command, so it has no exit code.",
      isError: true,
    });
    expect(await run("true")).toMatchObject({ content: "(no output)", isError: false });
  });

  it("runs each command in the working directory with a fresh environment and empty input", async () => {
    await run("cd / && export LEFT=over");
    expect((await run('pwd; echo "[$LEFT]"; cat; echo read')).content).toBe(`${folder}\n[]\nread`);
  });

  it("runs a command that begins with a dash as a command, not as an option of the shell", async () => {
    expect((await run("-x")).content).toMatch(/^Exit code 127\n.*-x/);
  });

  it("removes the API keys of model providers, and nothing else, from the environment of a command", async () => {
    const environment = {
      PATH: process.env.PATH,
      OPENAI_API_KEY: "secret",
      Anthropic_Api_Key: "secret",
      OTHER: "kept",
    };
    const print = 'echo "$OPENAI_API_KEY$Anthropic_Api_Key $OTHER"';
    expect((await run(print, {}, shellPlace(folder, { environment }))).content).toBe(" kept");
    const open = shellPlace(folder, { environment, passProviderKeys: true });
    expect((await run(print, {}, open)).content).toBe("secretsecret kept");
  });

  it("shows the beginning and the end of a long output, and writes all of it to a file", async () => {
    const { content } = await run("seq 1 20000");
    const text = String(content);
    expect(text.length).toBeLessThanOrEqual(30_000);
    expect(text.startsWith("1\n2\n")).toBe(true);
    expect(text.endsWith("\n20000")).toBe(true);
    const path = /The whole output is in (\S+) …/.exec(text)?.[1] ?? "";
    expect(readFileSync(path, "utf8")).toBe(
      Array.from({ length: 20_000 }, (_, at) => `${at + 1}\n`).join(""),
    );
    const narrow = await run("seq 1 20000", {}, { ...place, resultLimit: () => 2_000 });
    expect(String(narrow.content).length).toBeLessThanOrEqual(2_000);
  });

  it("stops a command at its timeout, and says so", async () => {
    const outcome = await run("echo begun; sleep 60", { timeout: 300 });
    expect(outcome.content).toMatch(
      /^The command reached its timeout of 0\.3 s and was stopped.*run_in_background\.\nbegun$/,
    );
    expect(outcome).toMatchObject({ isError: true, summary: expect.stringMatching(/^timed out · /) });
  });

  it("ends processes that a command left running, and says so", async () => {
    const { content, isError } = await run("sleep 60 >/dev/null & echo $! > left; echo done");
    expect(content).toMatch(/^done\n\[The command left processes running/);
    expect(isError).toBe(false);
    await gone(await pidIn(join(folder, "left")));
  });

  it("ends all processes of an aborted command, even those that ignore the signal", async () => {
    const stop = new AbortController();
    const loop = (name: string): string =>
      `sh -c 'trap "" TERM; echo $$ > ${name}; while :; do sleep 1; done'`;
    // Not every system can start a process outside its process group.
    const names = process.platform === "linux" ? ["deaf", "apart"] : ["deaf"];
    const deaf = `${names.map((name) => `${name === "apart" ? "setsid " : ""}${loop(name)} &`).join(" ")} wait`;
    const call = bashTool(place).call({ command: deaf }, context({ signal: stop.signal }));
    const pids = await Promise.all(names.map((name) => pidIn(join(folder, name))));
    stop.abort(new Error("stopped by the user"));
    await expect(call).rejects.toThrow("stopped by the user");
    for (const pid of pids) await gone(pid);
  });

  it("does not start a command whose signal is already aborted", async () => {
    const signal = AbortSignal.abort(new Error("too late"));
    const start = vi.spyOn(place.shells, "start");
    await expect(bashTool(place).call({ command: "true" }, context({ signal }))).rejects.toThrow("too late");
    expect(start).not.toHaveBeenCalled();
  });

  it("reports the last line of output while a command runs", async () => {
    const progress: string[] = [];
    await bashTool(place).call(
      { command: "echo first; echo second" },
      context({ onProgress: (line) => progress.push(line) }),
    );
    expect(["first", "second"]).toContain(progress[0]);
  });

  it("the Bash tool explains why a command did not run", async () => {
    const nowhere = { ...place, cwd: join(folder, "nowhere") };
    expect((await run("true", {}, nowhere)).content).toContain("nowhere does not exist");
    expect(await run(`: ${"x".repeat(4_000_000)}`)).toMatchObject({
      content: expect.stringMatching(/^The command did not run: .*Write it into a file/),
      isError: true,
      summary: expect.stringMatching(/^not started/),
    });
    expect(await run("a\0b")).toMatchObject({ isError: true, summary: "invalid input" });
    expect(await run(" ")).toMatchObject({ isError: true, summary: "invalid input" });
  });
});

describe("permissions of the Bash tool", () => {
  it('the question about a command shows the whole command and what the answer "always" would cover', async () => {
    const tool = bashTool(place);
    expect(await tool.needs({ command: "npm test -- -x" }, context())).toEqual([
      {
        kind: "shell",
        title: "Run npm test -- -x",
        detail: "npm test -- -x",
        key: "shell:npm test",
        scope: "commands that begin with npm test, even if the project's code changes",
        runsCode: true,
      },
    ]);
    const script = "npm test\nrm -rf x";
    expect(await tool.needs({ command: script, run_in_background: true }, context())).toMatchObject([
      { title: "Run in the background npm test ⏎ rm -rf x", detail: script, key: `shell-exact:${script}` },
    ]);
    expect(tool.title({ command: script })).toBe("npm test ⏎ rm -rf x");
    expect(tool.isReadOnly).toBe(false);
  });

  it("the question about a long command has a short title, shows the whole command, and takes little time", async () => {
    const tool = bashTool(place);
    const command = `echo ${"x".repeat(300)}; rm -rf x`;
    const [need] = await tool.needs({ command }, context());
    expect(need?.title).toBe(`Run ${command.slice(0, 200)}…`);
    expect(need?.detail).toBe(command);
    const startedAt = performance.now();
    expect(tool.title({ command: `echo${" ".repeat(300_000)}a \n\n b` })).toMatch(/a ⏎ b$/);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});

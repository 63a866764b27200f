import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { gone, isRunning, pidIn, shellPlace } from "../../../../../test/support/shell-place.ts";
import { temporaryFolder } from "../../../../../test/transcript/temporary-folder.ts";
import type { ToolContext } from "../../tool.ts";
import { bashOutputTool, bashTool, killShellTool } from "./bash.ts";

const folder = realpathSync(temporaryFolder());
const place = shellPlace(folder);
afterAll(() => place.shells.close());

const context: ToolContext = {
  callId: "call",
  signal: new AbortController().signal,
  onProgress: () => undefined,
};

async function start(command: string, where = place): Promise<string> {
  const { content } = await bashTool(where).call({ command, run_in_background: true }, context);
  return /bash_\w+/.exec(String(content))?.[0] ?? "";
}
const readOutput = async (id: string): Promise<string> =>
  String((await bashOutputTool(place).call({ bash_id: id }, context)).content);
const kill = async (id: string): Promise<string> =>
  String((await killShellTool(place).call({ shell_id: id }, context)).content);

/** Returns a command that prints, waits for a file, prints again and ends. */
const twoSteps = (name: string): string =>
  `echo first; until [ -e ${name} ]; do sleep 0.05; done; echo second; exit 4`;

describe.skipIf(process.platform === "win32")("commands in the background", () => {
  it("BashOutput returns only new output, while the command runs and after it ends", async () => {
    const id = await start(twoSteps("go-on"));
    await vi.waitFor(
      async () => expect(await readOutput(id)).toMatch(/has been running for .*\.\nfirst$/),
      10_000,
    );
    expect(await readOutput(id)).toMatch(/has been running.*\n\(nothing new\)$/);
    writeFileSync(join(folder, "go-on"), "");
    const command = place.shells.find(id);
    expect(await command?.ended).toEqual({ how: "exited", code: 4, leftBehind: false });
    expect(await readOutput(id)).toMatch(/ended after .* Exit code 4\nsecond$/);
    expect(await readOutput(id)).toMatch(/Exit code 4\n\(nothing new\)$/);
    expect(await kill(id)).toContain("had already ended. Exit code 4");
  });

  it("writes the whole output of a background command to a file", async () => {
    const id = await start("seq 1 20000");
    await place.shells.find(id)?.ended;
    const text = await readOutput(id);
    expect(text.length).toBeLessThan(30_000);
    expect(text).toContain(`The whole output is in ${join(folder, "outputs", `${id}.txt`)}`);
  });

  it("KillShell ends a background command with all its children", async () => {
    const id = await start(`sh -c 'trap "" TERM; echo $$ > child; while :; do sleep 1; done' & wait`);
    const pid = await pidIn(join(folder, "child"));
    expect(isRunning(pid)).toBe(true);
    expect(await kill(id)).toContain(`${id} was stopped after`);
    await gone(pid);
    expect(await readOutput(id)).toContain("The command was stopped before it finished.");
  });

  it("a background command survives an abort of the call that started it, and ends with the session", async () => {
    const own = shellPlace(folder);
    const stop = new AbortController();
    await bashTool(own).call(
      { command: "echo $$ > going; sleep 60", run_in_background: true },
      { ...context, signal: stop.signal },
    );
    const pid = await pidIn(join(folder, "going"));
    stop.abort();
    expect(isRunning(pid)).toBe(true);
    expect(own.shells.list()).toHaveLength(1);
    await own.shells.close();
    await gone(pid);
    await expect(start("true", own)).rejects.toThrow("no command can be started");
  });

  it("an unknown id of a background command is an error that lists the known commands", async () => {
    const id = await start("true");
    expect(await readOutput("bash_none")).toMatch(
      new RegExp(`There is no command bash_none\\. Known commands: .*${id}`),
    );
    expect(await kill("bash_none")).toContain("There is no command bash_none");
    const other = shellPlace(folder);
    const outcome = await bashOutputTool(other).call({ bash_id: id }, context);
    expect(outcome).toMatchObject({
      isError: true,
      content: expect.stringContaining("No command is running in the background."),
    });
  });
});

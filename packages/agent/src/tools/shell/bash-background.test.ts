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
const look = async (id: string): Promise<string> =>
  String((await bashOutputTool(place).call({ bash_id: id }, context)).content);
const kill = async (id: string): Promise<string> =>
  String((await killShellTool(place).call({ shell_id: id }, context)).content);

/** A command that prints, waits for a file, prints again and ends. */
const twoSteps = (name: string): string =>
  `echo first; until [ -e ${name} ]; do sleep 0.05; done; echo second; exit 4`;

describe.skipIf(process.platform === "win32")("a command in the background", () => {
  it("is looked at for what is new, while it runs and after it", async () => {
    const id = await start(twoSteps("go-on"));
    await vi.waitFor(
      async () => expect(await look(id)).toMatch(/is running, for .* so far\.\nfirst$/),
      10_000,
    );
    expect(await look(id)).toMatch(/is running.*\n\(nothing new\)$/);
    writeFileSync(join(folder, "go-on"), "");
    const command = place.shells.find(id);
    expect(await command?.ended).toEqual({ how: "exited", code: 4, leftBehind: false });
    expect(await look(id)).toMatch(/has ended after .* Exit code 4\nsecond$/);
    expect(await look(id)).toMatch(/Exit code 4\n\(nothing new\)$/);
    expect(await kill(id)).toContain("had already ended. Exit code 4");
  });

  it("has all that it prints in a file from the beginning", async () => {
    const id = await start("seq 1 20000");
    await place.shells.find(id)?.ended;
    const text = await look(id);
    expect(text.length).toBeLessThan(30_000);
    expect(text).toContain(`the whole output is in ${join(folder, "outputs", `${id}.txt`)}`);
  });

  it("is ended with everything it started", async () => {
    const id = await start(`sh -c 'trap "" TERM; echo $$ > child; while :; do sleep 1; done' & wait`);
    const pid = await pidIn(join(folder, "child"));
    expect(isRunning(pid)).toBe(true);
    expect(await kill(id)).toContain(`${id} was stopped after`);
    await gone(pid);
    expect(await look(id)).toContain("The command was stopped before it finished.");
  });

  it("goes on when the call that started it is aborted, and ends with the session", async () => {
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

  it("that is not known is said to be none, with those there are", async () => {
    const id = await start("true");
    expect(await look("bash_none")).toMatch(
      new RegExp(`There is no command bash_none\\. Known commands: .*${id}`),
    );
    expect(await kill("bash_none")).toContain("There is no command bash_none");
    const other = shellPlace(folder);
    const outcome = await bashOutputTool(other).call({ bash_id: id }, context);
    expect(outcome).toMatchObject({
      isError: true,
      content: expect.stringContaining("No command runs in the background."),
    });
  });
});

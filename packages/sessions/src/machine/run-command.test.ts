import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CommandRequest, CommandResult } from "@longhaul/core/hooks";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { KEPT_OUTPUT_BYTES, runCommand } from "./run-command.ts";

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "longhaul-command-")));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (command: string, more: Partial<CommandRequest> = {}): Promise<CommandResult> =>
  runCommand({
    command,
    input: "",
    cwd: folder,
    environment: {},
    signal: new AbortController().signal,
    ...more,
  });
const exited = (stdout: string, exitCode: number | null = 0, stderr = ""): CommandResult => ({
  state: "exited",
  exitCode,
  stdout,
  stderr,
});

describe.skipIf(process.platform === "win32")("runCommand", () => {
  it("runs a command in its folder with its input and the added environment variables", async () => {
    const result = await run('pwd; cat; echo "$ADDED $PATH"', {
      input: "the input\n",
      environment: { ADDED: "added" },
    });
    expect(result).toEqual(exited(`${folder}\nthe input\nadded ${process.env.PATH}\n`));
  });

  it("listens to the abort signal only while the command runs", async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    await run("true", { signal });
    expect(added).toHaveBeenCalledTimes(1);
    expect(removed.mock.calls[0]?.[1]).toBe(added.mock.calls[0]?.[1]);
  });

  it("returns the exit code, standard output and standard error of a command", async () => {
    expect(await run("echo out; echo err >&2; exit 3")).toEqual(exited("out\n", 3, "err\n"));
    expect(await run("kill -9 $$")).toEqual(exited("", null));
    expect(await run("no-such-program-anywhere")).toMatchObject({ exitCode: 127 });
  });

  it("runs a command in the current folder when no folder is given", async () => {
    expect(await run("pwd -P", { cwd: "" })).toEqual(exited(`${realpathSync(process.cwd())}\n`));
  });

  it("does not fail a command that never reads its input, however long the input is", async () => {
    const input = "x".repeat(5_000_000);
    expect(await run("exec <&-; echo done", { input })).toEqual(exited("done\n"));
    expect(await run("true", { input })).toEqual(exited(""));
  });

  it("reads 200 MB of output to the end, and keeps only the beginning in memory", async () => {
    // Memory of this process while the command runs, including garbage that is collected only afterwards.
    let highest = 0;
    const before = process.memoryUsage().rss;
    const watch = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage().rss - before);
    }, 10);
    const result = await run("head -c 200000000 /dev/zero | tr '\\0' x; echo end >&2", {
      runsInBackground: () => false,
    });
    clearInterval(watch);
    expect(result).toEqual(exited("x".repeat(KEPT_OUTPUT_BYTES), 0, "end\n"));
    expect(highest).toBeLessThan(120_000_000);
  });

  it("a command that prints 50 MB to standard error does not block", async () => {
    const result = await run("head -c 50000000 /dev/zero | tr '\\0' e >&2; echo out");
    expect(result).toEqual(exited("out\n", 0, "e".repeat(KEPT_OUTPUT_BYTES)));
  });

  it("accepts output that is not valid UTF-8, and never cuts a character in half", async () => {
    expect(await run("printf 'a\\377\\376b'")).toEqual(exited("a��b"));
    const result = await run(
      `head -c ${KEPT_OUTPUT_BYTES - 1} /dev/zero | tr '\\0' x; printf '\\303\\251\\303\\251'`,
    );
    expect(result).toEqual(exited("x".repeat(KEPT_OUTPUT_BYTES - 1)));
  });

  it("returns when the command exits, even if a background child keeps the output open", async () => {
    const pipes = () => process.getActiveResourcesInfo().filter((name) => name === "PipeWrap").length;
    const before = pipes();
    const pidFile = join(folder, "left.pid");
    expect(await run(`sleep 60 & echo $! > '${pidFile}'; echo done`)).toEqual(exited("done\n"));
    const pid = Number(
      (await run(`cat '${pidFile}'`).then((result) => "stdout" in result && result.stdout)) || 0,
    );
    await sleep(5);
    expect(pipes()).toBe(before);
    // The command started this process deliberately without waiting for it, so this process keeps running.
    expect(process.kill(pid, 0)).toBe(true);
    process.kill(pid, "SIGKILL");
  });

  it("does not lose output when this process was busy while the command exited", async () => {
    const ready = join(folder, "ready");
    const running = run(
      `printf first; touch '${ready}'; sleep 60 & head -c 60000 /dev/zero | tr '\\0' x; kill $!`,
    );
    while (!existsSync(ready)) await sleep(2);
    const until = performance.now() + 400;
    while (performance.now() < until);
    expect(await running).toEqual(exited(`first${"x".repeat(60_000)}`));
  });

  it("reports a command that cannot start because its folder is missing", async () => {
    const result = await run("true", { cwd: join(folder, "gone") });
    expect(result).toEqual({ state: "not-started", reason: "its working folder does not exist" });
    writeFileSync(join(folder, "file"), "");
    expect(await run("true", { cwd: join(folder, "file") })).toMatchObject({ state: "not-started" });
  });

  it("reports a command that cannot start because its shell is missing", async () => {
    const result = await run("true", { shell: "no-such-shell" });
    expect(result).toEqual({
      state: "not-started",
      reason: "the shell no-such-shell could not be started (ENOENT)",
    });
  });

  it("reports a command that contains a NUL character as not started", async () => {
    expect(await run("echo \0")).toMatchObject({ state: "not-started" });
  });

  it("does not wait for a command that continues in the background, but an abort still ends it", async () => {
    const alone = join(folder, "alone");
    const abort = new AbortController();
    const command = `trap 'echo ended > "${alone}"; exit' TERM; echo '{"async":true}'; while [ -d "${folder}" ]; do sleep 0.01; done`;
    const result = await run(command, {
      signal: abort.signal,
      runsInBackground: (line) => line === '{"async":true}',
    });
    expect(result).toEqual({ state: "in-background" });
    abort.abort();
    while (!existsSync(alone)) await sleep(5);
    expect(await run("sleep 60", { runsInBackground: () => true, signal: AbortSignal.timeout(50) })).toEqual({
      state: "in-background",
    });
  });

  it("asks runsInBackground only about the first whole line of output", async () => {
    const asked: string[] = [];
    const runsInBackground = (line: string) => {
      asked.push(line);
      return false;
    };
    await run("printf fir; sleep 0.05; printf 'st\\nsecond\\n'; sleep 0.05; echo third", {
      runsInBackground,
    });
    expect(asked).toEqual(["", "first"]);
    expect(await run("head -c 50000 /dev/zero | tr '\\0' x", { runsInBackground })).toMatchObject({
      state: "exited",
    });
    expect(asked).toEqual(["", "first", ""]);
  });
});

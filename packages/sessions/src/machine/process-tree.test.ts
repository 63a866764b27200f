import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "./run-command.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "longhaul-tree-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Source code of a function for test programs. The function starts a process in a separate session. That
 * process ignores the termination signal.
 */
const SPAWN_STUBBORN = `
  const spawnStubborn = (file) => require("node:child_process").spawn(
    "sh",
    ["-c", "trap '' TERM; echo $$ >> " + file + "; while [ -e " + file + " ]; do sleep 0.05; done"],
    { detached: true, stdio: "ignore" },
  );`;
const STAY = "setInterval(() => undefined, 1_000);";

/** Starts a command that prints one process id per line. Ends the command when `count` ids have arrived. */
async function endAfter(name: string, command: string, count: number): Promise<readonly number[]> {
  const file = join(folder, name);
  const abort = new AbortController();
  const running = runCommand({
    command: command.replaceAll("$PIDS", file),
    input: "",
    cwd: folder,
    environment: {},
    signal: abort.signal,
  });
  const pids = (): number[] =>
    existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean).map(Number) : [];
  while (pids().length < count) await sleep(5);
  expect(pids().filter(isAlive)).toEqual(pids());
  abort.abort();
  expect(await running).toEqual({ state: "ended" });
  await goneAll(pids());
  return pids();
}

/**
 * Checks whether a process runs. A process that has ended does not count. It stays listed as a zombie until
 * its parent reads the exit code.
 */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.startsWith("Z");
}

/** Waits until the processes are gone. The system needs a moment to end killed processes. */
async function goneAll(pids: readonly number[]): Promise<void> {
  while (pids.some(isAlive)) await sleep(5);
}

// If a process keeps running, these tests wait until they time out.
describe.skipIf(process.platform === "win32")("ending a running command", () => {
  it("ends a command together with its children and grandchildren", async () => {
    await endAfter(
      "plain",
      "echo $$ >> $PIDS; sleep 600 & echo $! >> $PIDS; sh -c 'echo $$ >> $PIDS; sleep 600 & echo $! >> $PIDS; wait'",
      4,
    );
  });

  it("ends processes that all ignore the termination signal", async () => {
    const stubborn = `trap "" TERM; echo $$ >> $PIDS; while [ -e $PIDS ]; do sleep 0.05; done`;
    await endAfter(
      "stubborn",
      `trap "" TERM; echo $$ >> $PIDS; sh -c '${stubborn}' & sh -c '${stubborn}'`,
      3,
    );
  });

  it("ends children that outlive their shell", async () => {
    await endAfter(
      "orphan",
      "sh -c 'trap \"\" TERM; echo $$ >> $PIDS; while [ -e $PIDS ]; do sleep 0.05; done' & sleep 600",
      1,
    );
  });

  it("ends children in separate process groups and sessions", async () => {
    writeFileSync(join(folder, "session.cjs"), `${SPAWN_STUBBORN} spawnStubborn("session"); ${STAY}`);
    await endAfter("session", `"${process.execPath}" session.cjs & wait`, 1);
  });

  it("ends processes that a child starts on receiving the termination signal", async () => {
    const late = `process.on("SIGTERM", () => spawnStubborn("late"));`;
    writeFileSync(join(folder, "late.cjs"), `${SPAWN_STUBBORN} ${late} spawnStubborn("late"); ${STAY}`);
    await endAfter("late", `"${process.execPath}" late.cjs & wait`, 1);
  });

  it("lets a command clean up when it receives the termination signal", async () => {
    const marker = join(folder, "cleaned");
    await endAfter(
      "polite",
      `trap 'touch "${marker}"; exit' TERM; echo $$ >> $PIDS; while [ -e $PIDS ]; do sleep 0.01; done`,
      1,
    );
    expect(existsSync(marker)).toBe(true);
  });

  it("never starts a command whose signal is already aborted", async () => {
    const marker = join(folder, "started");
    const result = await runCommand({
      command: `touch "${marker}"`,
      input: "",
      cwd: folder,
      environment: {},
      signal: AbortSignal.abort(),
    });
    expect(result).toEqual({ state: "ended" });
    expect(existsSync(marker)).toBe(false);
  });

  it("ending a command leaves no open handle that keeps this process running", async () => {
    const before = process.getActiveResourcesInfo().filter(isOurs).length;
    await endAfter("handles", "echo $$ >> $PIDS; sleep 600", 1);
    await sleep(20);
    expect(process.getActiveResourcesInfo().filter(isOurs).length).toBeLessThanOrEqual(before);
  });
});

const isOurs = (resource: string): boolean => /PipeWrap|ProcessWrap|Timeout/.test(resource);

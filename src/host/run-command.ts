import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify, TextDecoder } from "node:util";
import type { CommandRequest, CommandResult, RunCommand } from "../hooks/hook.ts";
import { untilAborted } from "../models/abortable.ts";

/** Kept of each of the two outputs: far more than is read of any answer, far less than memory. */
export const KEPT_OUTPUT_BYTES: number = 256 * 1024;
/** After the end of a command, for what it printed last. Its children may keep the pipes open for ever. */
const DRAIN_MS = 250;
/** To hear that it has gone, after it was ended. One that hangs in the kernel is not waited for. */
const LAST_WORD_MS = 500;

/**
 * Runs a command of the user's in a shell, in a process group of its own. All of its output is read, so that
 * it never stands still, but only the first part is kept.
 */
export const runCommand: RunCommand = async (request) => {
  if (request.signal.aborted) return { state: "ended" };
  let child: ChildProcessWithoutNullStreams;
  try {
    child = start(request);
  } catch (error) {
    return notStarted(request, error);
  }
  const ending = waitForEnd(child, request);
  return request.goesOnAlone === undefined
    ? ending
    : Promise.race([ending, letGo(child, request.goesOnAlone)]);
};

function start(request: CommandRequest): ChildProcessWithoutNullStreams {
  const child = spawn(request.command, {
    shell: request.shell ?? true,
    cwd: request.cwd === "" ? undefined : request.cwd,
    env: { ...process.env, ...request.environment },
    stdio: "pipe",
    // A group of its own on POSIX, to be ended as one; on Windows it would open a console.
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  // A command need not read what it is told: the broken pipe is no failure.
  child.stdin.on("error", () => undefined);
  child.stdin.end(request.input);
  return child;
}

async function waitForEnd(
  child: ChildProcessWithoutNullStreams,
  request: CommandRequest,
): Promise<CommandResult> {
  const stdout = keepFirst(child.stdout);
  const stderr = keepFirst(child.stderr);
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const exited = exitOf(child);
  try {
    const first = await untilAborted(request.signal, exited).catch(() => undefined);
    if (first === undefined) {
      if (child.pid !== undefined) await endProcessTree(child.pid);
      await orAfter(exited, LAST_WORD_MS);
      return { state: "ended" };
    }
    if ("error" in first) return await notStarted(request, first.error);
    await orAfter(closed, DRAIN_MS);
    return { state: "exited", exitCode: first.exitCode, stdout: stdout(), stderr: stderr() };
  } finally {
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy();
    child.unref();
  }
}

type Exit = { readonly exitCode: number | null } | { readonly error: unknown };

function exitOf(child: ChildProcessWithoutNullStreams): Promise<Exit> {
  return new Promise((resolve) => {
    child.once("exit", (exitCode) => resolve({ exitCode }));
    // Stays: a second error, of a signal that could not be sent, would otherwise end this process.
    child.on("error", (error) => resolve({ error }));
  });
}

/** Reads a stream to its end, and gives back its beginning as text. */
function keepFirst(stream: Readable): () => string {
  const kept = Buffer.alloc(KEPT_OUTPUT_BYTES);
  let size = 0;
  let isCut = false;
  stream.on("error", () => undefined);
  stream.on("data", (chunk: Buffer) => {
    isCut ||= chunk.length > kept.length - size;
    size += chunk.copy(kept, size);
  });
  // Streaming leaves out a character that the cut has halved; bytes that are no text become marks.
  return () => new TextDecoder().decode(kept.subarray(0, size), { stream: isCut });
}

function letGo(
  child: ChildProcessWithoutNullStreams,
  goesOnAlone: (firstLine: string) => boolean,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    let head = "";
    const ask = (firstLine: string): void => {
      if (!goesOnAlone(firstLine)) return;
      child.unref();
      for (const pipe of [child.stdin, child.stdout, child.stderr]) unref(pipe);
      resolve({ state: "goes-on-alone" });
    };
    const read = (chunk: Buffer): void => {
      head += chunk.toString("latin1");
      const lineEnd = head.indexOf("\n");
      if (lineEnd < 0 && head.length < LONGEST_FIRST_LINE) return;
      child.stdout.off("data", read);
      if (lineEnd >= 0) ask(head.slice(0, lineEnd));
    };
    child.stdout.on("data", read);
    ask("");
  });
}

/** It is JSON with a flag in it, where it matters. */
const LONGEST_FIRST_LINE = 10_000;

/** Pipes are sockets, though their type does not say so. */
function unref(pipe: object): void {
  if ("unref" in pipe && typeof pipe.unref === "function") pipe.unref();
}

/**
 * Resolves with the work or after a time. A busy event loop fires its timers before it reads what has long
 * been there, so one round of reading is let pass first.
 */
function orAfter(work: Promise<unknown>, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => setImmediate(resolve), milliseconds);
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Node says ENOENT both for a missing shell and for a missing folder. */
async function notStarted(request: CommandRequest, error: unknown): Promise<CommandResult> {
  const isFolder = request.cwd === "" || (await isDirectory(request.cwd));
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  const reason = isFolder
    ? `the shell ${request.shell ?? "of the system"} could not be started (${code})`
    : "its working folder is not there";
  return { state: "not-started", reason };
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

/** Time to save something between being asked to end and being ended. */
const GRACE_MS = 500;
/** How often we look whether all of them have gone. */
const LOOK_EVERY_MS = 25;

/** A process that runs. Numbers are used again, so only number and start together tell who it is. */
interface SystemProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly startedAt: string;
}

/**
 * Ends a process that leads its own group, and everything that it started: asks first, and after a short
 * grace no longer. What a process started outside its group is found by who its parents are; only what has
 * also disowned its parents, as a daemon does, is left.
 */
export async function endProcessTree(pid: number): Promise<void> {
  if (process.platform === "win32") return endTreeOnWindows(pid);
  const family = descendantsOf([pid], await listProcesses());
  signalAll(pid, family, "SIGTERM");
  const deadline = performance.now() + GRACE_MS;
  while (await isAnyLeft(pid, family)) {
    if (performance.now() >= deadline) return endAtOnce(pid, family);
    await sleep(LOOK_EVERY_MS);
  }
}

/** Whether anything runs in this group, also when the process that led it has ended. Always false on Windows. */
export async function isGroupRunning(group: number): Promise<boolean> {
  return process.platform !== "win32" && isAnyLeft(group, []);
}

/** Those who did not listen, and those whom they started since. */
async function endAtOnce(pid: number, family: readonly SystemProcess[]): Promise<void> {
  const now = await listProcesses();
  const left = family.filter((one) => now.some((other) => isSame(one, other)));
  const late = descendantsOf([pid, ...left.map((one) => one.pid)], now);
  signalAll(pid, [...left, ...late], "SIGKILL");
}

const isSame = (one: SystemProcess, other: SystemProcess): boolean =>
  one.pid === other.pid && one.startedAt === other.startedAt;

function signalAll(group: number, members: readonly SystemProcess[], signal: "SIGTERM" | "SIGKILL"): void {
  // One that left the group or has gone is no reason to spare the others.
  isSignalled(-group, signal);
  for (const { pid } of members) isSignalled(pid, signal);
}

/**
 * One that has ended can be signalled until its parent has asked for its exit code, which in a container
 * nobody may ever do. So who can still be signalled is looked up, where the system tells.
 */
async function isAnyLeft(group: number, members: readonly SystemProcess[]): Promise<boolean> {
  if (!isSignalled(-group, 0) && !members.some(({ pid }) => isSignalled(pid, 0))) return false;
  const now = await listProcesses();
  if (now.length === 0) return true;
  return now.some((one) => one.group === group || members.some((other) => isSame(one, other)));
}

function isSignalled(pid: number, signal: "SIGTERM" | "SIGKILL" | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

function descendantsOf(roots: readonly number[], processes: readonly SystemProcess[]): SystemProcess[] {
  const children = new Map<number, SystemProcess[]>();
  for (const one of processes) {
    const siblings = children.get(one.parent);
    if (siblings) siblings.push(one);
    else children.set(one.parent, [one]);
  }
  const found: SystemProcess[] = [];
  const seen = new Set(roots);
  const queue = [...roots];
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    for (const child of children.get(pid) ?? []) {
      if (seen.has(child.pid)) continue;
      seen.add(child.pid);
      found.push(child);
      queue.push(child.pid);
    }
  }
  return found;
}

/** All that have not ended. Empty where the system does not tell; the process group is then all that is ended. */
async function listProcesses(): Promise<readonly SystemProcess[]> {
  try {
    return process.platform === "linux" ? listOnLinux() : await listByPs();
  } catch {
    return [];
  }
}

/** Read in one go: a family that grows while it is being looked at would be seen only in part. */
function listOnLinux(): readonly SystemProcess[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    // The name of the program, in brackets, may hold anything: the fields count from the last bracket.
    const stat = readStat(name);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, parent, group] = fields;
    const startedAt = fields[19];
    if (state === "Z" || startedAt === undefined) return [];
    return [{ pid: Number(name), parent: Number(parent), group: Number(group), startedAt }];
  });
}

/** Empty for one that has gone meanwhile. */
function readStat(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return "";
  }
}

const run = promisify(execFile);

async function listByPs(): Promise<readonly SystemProcess[]> {
  const { stdout } = await run("ps", ["-A", "-o", "pid=,ppid=,pgid=,stat=,lstart="], { timeout: 1_000 });
  return stdout.split("\n").flatMap((line) => {
    const [pid, parent, group, state, ...start] = line.trim().split(/\s+/);
    if (pid === undefined || state === undefined || state.startsWith("Z")) return [];
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), startedAt: start.join(" ") }];
  });
}

/** There is no asking on Windows: what has no window does not hear it. */
async function endTreeOnWindows(pid: number): Promise<void> {
  await run("taskkill", ["/pid", String(pid), "/T", "/F"], { timeout: 2_000, windowsHide: true }).catch(
    () => undefined,
  );
}

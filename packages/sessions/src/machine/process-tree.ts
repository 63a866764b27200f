import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

/** The end of a process and of everything that it started, on Linux, macOS and Windows. */

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

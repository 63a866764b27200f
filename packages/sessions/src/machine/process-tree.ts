import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

/** Ends a process and everything it started, on Linux, macOS and Windows. */

/** Time between the termination signal and the kill, in which a process can save its work. */
const GRACE_MS = 500;
/** Interval between checks whether all processes have ended. */
const LOOK_EVERY_MS = 25;

/**
 * A running process. The id and the start time together identify it, because the system reuses process ids.
 */
interface SystemProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly startedAt: string;
}

/**
 * Ends a process that leads its own group, and everything it started. First sends a termination signal. After
 * a short grace period, kills all processes that are left. Finds processes outside the group through their
 * parents. Only a daemon keeps running, because it has also left its parents.
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

/** True if any process of this group is running, even if its leader has ended. Always false on Windows. */
export async function isGroupRunning(group: number): Promise<boolean> {
  return process.platform !== "win32" && isAnyLeft(group, []);
}

/** Kills processes that ignored the signal, and processes they have started since. */
async function endAtOnce(pid: number, family: readonly SystemProcess[]): Promise<void> {
  const now = await listProcesses();
  const left = family.filter((one) => now.some((other) => isSame(one, other)));
  const late = descendantsOf([pid, ...left.map((one) => one.pid)], now);
  signalAll(pid, [...left, ...late], "SIGKILL");
}

const isSame = (one: SystemProcess, other: SystemProcess): boolean =>
  one.pid === other.pid && one.startedAt === other.startedAt;

function signalAll(group: number, members: readonly SystemProcess[], signal: "SIGTERM" | "SIGKILL"): void {
  // A process that has left the group or ended must not stop us from signaling the others.
  isSignalled(-group, signal);
  for (const { pid } of members) isSignalled(pid, signal);
}

/**
 * Checks whether any process is left. If the system has a process list, reads the list, because a process
 * that has ended still accepts signals until its parent reads the exit code. In a container, the parent may
 * never read it.
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

/**
 * Lists all processes that have not ended. If the system provides no list, the result is empty. In that case,
 * only the process group is ended.
 */
async function listProcesses(): Promise<readonly SystemProcess[]> {
  try {
    return process.platform === "linux" ? listOnLinux() : await listByPs();
  } catch {
    return [];
  }
}

/**
 * Lists processes on Linux. Reads synchronously. Otherwise a process tree could grow during the reading, and
 * some of its processes would be missing.
 */
function listOnLinux(): readonly SystemProcess[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    // Fields are counted from the last bracket, because the program name in brackets may contain anything.
    const stat = readStat(name);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, parent, group] = fields;
    const startedAt = fields[19];
    if (state === "Z" || startedAt === undefined) return [];
    return [{ pid: Number(name), parent: Number(parent), group: Number(group), startedAt }];
  });
}

/** Reads the status of a process. Returns an empty string if the process has ended meanwhile. */
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

/**
 * Ends a process tree on Windows at once. On Windows, a program without a window does not receive a
 * termination signal.
 */
async function endTreeOnWindows(pid: number): Promise<void> {
  await run("taskkill", ["/pid", String(pid), "/T", "/F"], { timeout: 2_000, windowsHide: true }).catch(
    () => undefined,
  );
}

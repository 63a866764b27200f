import { readdirSync, readFileSync } from "node:fs";
import { startGroup } from "./process-group.ts";

export interface ProcessRun {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

export interface ProcessEnd {
  /** Exit code. Null if a signal ended the process. */
  readonly code: number | null;
  /** Standard output and standard error. */
  readonly output: string;
}

/** Variable that marks each process of one row, because some clients start daemons in groups of their own. */
export const RUN_MARK = "LONGHAUL_CLIENT_RUN";

/** Runs a client until it ends, at the latest until the time limit. */
export async function runClient({ file, args, cwd, env, limitMs, signal }: ProcessRun): Promise<ProcessEnd> {
  const { child, ended } = startGroup(file, args, { cwd, env, limitMs, signal });
  child.stdin?.end();
  let output = "";
  child.stdout?.on("data", (data: Buffer) => {
    output += data.toString();
  });
  const errors = await ended;
  return { code: child.exitCode, output: `${output}\n${errors}` };
}

/**
 * Ends the processes that a row left behind, and returns their number. It finds them by the mark in their
 * environment, which only Linux shows. Elsewhere, only the process groups of the clients end.
 */
export function endLeftovers(mark: string): number {
  const left = marked(mark);
  for (const pid of left) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process has ended meanwhile.
    }
  }
  return left.length;
}

function marked(mark: string): readonly number[] {
  if (process.platform !== "linux") return [];
  const pids = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []));
  return pids.filter((pid) => pid !== process.pid && environmentOf(pid).includes(`${RUN_MARK}=${mark}`));
}

function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}

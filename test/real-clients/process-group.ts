import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";

export interface Group {
  readonly child: ChildProcess;
  /** Resolves with the standard error output when the process and its group have ended. */
  readonly ended: Promise<string>;
}

export interface GroupOptions extends Pick<SpawnOptions, "cwd" | "env"> {
  readonly limitMs: number;
  /** Ends the group when it aborts. */
  readonly signal?: AbortSignal;
}

/**
 * Starts a client as leader of its own process group, so that commands of the client end with it. The group
 * ends at the latest after the time limit, and when this process exits.
 */
export function startGroup(
  file: string,
  args: readonly string[],
  { limitMs, signal, ...options }: GroupOptions,
): Group {
  const child = spawn(file, args, { ...options, detached: true });
  let errors = "";
  child.stderr?.on("data", (data: Buffer) => {
    errors += data.toString();
  });
  const end = (): void => endGroup(child);
  const limit = setTimeout(end, limitMs);
  signal?.addEventListener("abort", end);
  process.once("exit", end);
  const ended = new Promise<string>((resolve, reject) => {
    child.on("error", reject);
    // A process that the client left behind can hold the pipes open, so the group ends with its leader.
    child.on("exit", end);
    child.on("close", () => {
      clearTimeout(limit);
      signal?.removeEventListener("abort", end);
      process.off("exit", end);
      end();
      resolve(errors);
    });
  });
  return { child, ended };
}

function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // The process group has already ended, or the system has no process groups, as Windows.
    child.kill("SIGKILL");
  }
}

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Workplace } from "@longhaul/agent";
import { vi } from "vitest";
import { createShells, type ShellsOptions } from "../../packages/agent/src/tools/shell/shells.ts";
import { pathRules } from "../../packages/agent/src/workplace/path-rules.ts";

export type ShellPlace = Pick<Workplace, "cwd" | "paths" | "shells" | "outputFolder" | "resultLimit">;

/** Creates the environment of shell tools in a folder. The caller closes its shells. */
export function shellPlace(cwd: string, options: ShellsOptions = {}): ShellPlace {
  const outputs = join(cwd, "outputs");
  mkdirSync(outputs, { recursive: true });
  return {
    cwd,
    paths: pathRules({ cwd, home: join(cwd, "..", "no-home") }),
    shells: createShells(options),
    outputFolder: async () => outputs,
    resultLimit: () => 100_000,
  };
}

/** Resolves with the process id that a command writes into a file. */
export const pidIn = (path: string): Promise<number> =>
  vi.waitFor(() => {
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    if (!/^\d+\n$/.test(text)) throw new Error(`${path} has no number yet`);
    return Number(text);
  }, WAIT);

/** Resolves when a process has ended. A process whose exit code was not read yet counts as ended. */
export const gone = (pid: number): Promise<void> =>
  vi.waitFor(() => {
    if (isRunning(pid)) throw new Error(`${pid} still runs`);
  }, WAIT);

/** Generous limits, because the machine may be busy. */
const WAIT = { timeout: 10_000, interval: 20 };

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = `/proc/${pid}/stat`;
  return !existsSync(stat) || !/\) Z /.test(readFileSync(stat, "utf8"));
}

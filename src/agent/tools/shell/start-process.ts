import { type ChildProcess, spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { PassThrough, type Readable } from "node:stream";
import type { Environment } from "./environment.ts";

export interface ProcessRequest {
  readonly command: string;
  readonly cwd: string;
  readonly environment: Environment;
}

export interface StartedProcess {
  readonly child: ChildProcess;
  /** Both outputs, in the order in which they were written where the system lets us know it. */
  readonly output: Readable;
}

/**
 * One pipe for both outputs, which two pipes read one after the other could not give back in their order. The shell that
 * opens it is replaced by bash, or by itself, so there is one process as before.
 */
const INTO_ONE_PIPE =
  'if command -v bash >/dev/null 2>&1; then exec bash -c -- "$1" 2>&1; fi; exec sh -c -- "$1" 2>&1';

/**
 * Nothing to read for it, and a process group of its own, by which it is ended with all that it started.
 * @throws what node throws where the system does not even try.
 */
export function startProcess(request: ProcessRequest): StartedProcess {
  return process.platform === "win32" ? startOnWindows(request) : startOnPosix(request);
}

function startOnPosix({ command, cwd, environment }: ProcessRequest): StartedProcess {
  const child = spawn("/bin/sh", ["-c", INTO_ONE_PIPE, "sh", command], {
    cwd,
    env: environment,
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  return { child, output: child.stdout };
}

function startOnWindows({ command, cwd, environment }: ProcessRequest): StartedProcess {
  const child = spawn(command, {
    shell: true,
    cwd,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
  });
  const output = new PassThrough();
  child.stdout.pipe(output, { end: false });
  child.stderr.pipe(output, { end: false });
  child.once("close", () => output.end());
  return { child, output };
}

/** Why nothing was run, for the model. Node says ENOENT both for a missing shell and for a missing folder. */
export async function whyNotStarted({ cwd }: ProcessRequest, error: unknown): Promise<string> {
  const isFolder = (await stat(cwd).catch(() => undefined))?.isDirectory() ?? false;
  if (!isFolder) return `the working directory ${cwd} is not there`;
  const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
  return code === "E2BIG"
    ? "it is longer than the system takes: write it into a file and run that"
    : `the shell could not be started (${code})`;
}

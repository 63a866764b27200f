import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { TextDecoder } from "node:util";
import type { CommandRequest, CommandResult, RunCommand } from "@longhaul/core/hooks";
import { untilAborted } from "@longhaul/core/models";
import { endProcessTree } from "./process-tree.ts";

/**
 * Number of bytes that are kept of stdout, and of stderr. It is far more than any caller reads, but only a
 * small part of the machine's memory.
 */
export const KEPT_OUTPUT_BYTES: number = 256 * 1024;
/**
 * Maximum wait for the last output after a command has ended. Its children may keep the pipes open
 * indefinitely.
 */
const DRAIN_MS = 250;
/** Maximum wait for the exit event after a kill. A process that hangs in the kernel is not awaited. */
const EXIT_WAIT_MS = 500;

/**
 * Runs a user's command in a shell, in a separate process group. Reads all output, so that the command never
 * blocks. Keeps only the first part of the output.
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
  return request.runsInBackground === undefined
    ? ending
    : Promise.race([ending, letGo(child, request.runsInBackground)]);
};

function start(request: CommandRequest): ChildProcessWithoutNullStreams {
  const child = spawn(request.command, {
    shell: request.shell ?? true,
    cwd: request.cwd === "" ? undefined : request.cwd,
    env: { ...process.env, ...request.environment },
    stdio: "pipe",
    // On POSIX, a detached process leads its own group, which can be ended as a whole. On Windows, a detached
    // process would open a console.
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  // A command need not read its input, so a broken pipe is not a failure.
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
      await withTimeout(exited, EXIT_WAIT_MS);
      return { state: "ended" };
    }
    if ("error" in first) return await notStarted(request, first.error);
    await withTimeout(closed, DRAIN_MS);
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
    // This listener is never removed. A signal that cannot be sent causes a second error. Without a listener,
    // that error would end this process.
    child.on("error", (error) => resolve({ error }));
  });
}

/** Reads a stream to its end and returns its beginning as text. */
function keepFirst(stream: Readable): () => string {
  const kept = Buffer.alloc(KEPT_OUTPUT_BYTES);
  let size = 0;
  let isCut = false;
  stream.on("error", () => undefined);
  stream.on("data", (chunk: Buffer) => {
    isCut ||= chunk.length > kept.length - size;
    size += chunk.copy(kept, size);
  });
  // Streaming mode drops an incomplete character at the cut. Invalid bytes become replacement characters.
  return () => new TextDecoder().decode(kept.subarray(0, size), { stream: isCut });
}

function letGo(
  child: ChildProcessWithoutNullStreams,
  runsInBackground: (firstLine: string) => boolean,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    let head = "";
    const ask = (firstLine: string): void => {
      if (!runsInBackground(firstLine)) return;
      child.unref();
      for (const pipe of [child.stdin, child.stdout, child.stderr]) unref(pipe);
      resolve({ state: "in-background" });
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

/** Maximum length of a first line that is checked. A relevant line is short JSON with a flag. */
const LONGEST_FIRST_LINE = 10_000;

/**
 * Lets the process end while the pipe is open. Pipes are sockets and have `unref`, although their type does
 * not show this.
 */
function unref(pipe: object): void {
  if ("unref" in pipe && typeof pipe.unref === "function") pipe.unref();
}

/**
 * Resolves when the work is done, or after a time limit. After the time limit, allows one more round of
 * reading, because a busy event loop runs timers before it reads pending input.
 */
function withTimeout(work: Promise<unknown>, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => setImmediate(resolve), milliseconds);
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/**
 * Describes why a command did not start. Node reports ENOENT both for a missing shell and for a missing
 * folder.
 */
async function notStarted(request: CommandRequest, error: unknown): Promise<CommandResult> {
  const isFolder = request.cwd === "" || (await isDirectory(request.cwd));
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  const reason = isFolder
    ? `the shell ${request.shell ?? "of the system"} could not be started (${code})`
    : "its working folder does not exist";
  return { state: "not-started", reason };
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { setTimeout as sleep, setImmediate as soon } from "node:timers/promises";
import { endProcessTree, isGroupRunning } from "../../../node.ts";
import type { ShellCommand, ShellEnd, ShellOutput, ShellRequest } from "../../workplace.ts";
import { CommandOutput } from "./command-output.ts";
import { OutputFile } from "./output-file.ts";
import { type ProcessRequest, startProcess, whyNotStarted } from "./start-process.ts";

/** After the end of a command, for what it printed last. What it left behind may keep the pipe open for ever. */
const DRAIN_MS = 250;
/** While something still comes. The pipe holds little, so what comes longer is not the command's own. */
const MOST_DRAINS = 8;
/** To hear that it has gone, after it was ended. One that hangs in the kernel is not waited for. */
const LAST_WORD_MS = 1_000;

/** A command that runs, or has run. */
export class RunningCommand implements ShellCommand {
  readonly id: string;
  readonly command: string;
  readonly ended: Promise<ShellEnd>;
  readonly #output: CommandOutput;
  readonly #startedAt = performance.now();
  #end: { readonly value: ShellEnd; readonly afterMs: number } | undefined;
  #pid: number | undefined;
  #isKilled = false;
  #pieces = 0;

  constructor(id: string, request: ShellRequest, environment: ProcessRequest["environment"]) {
    this.id = id;
    this.command = request.command;
    this.#output = new CommandOutput({
      shownChars: request.shownChars,
      file: new OutputFile(() => request.outputFolder(), `${id}.txt`),
      isKeptFromStart: request.isBackground,
      onLine: request.onLine?.bind(request),
    });
    const { command, cwd } = request;
    this.ended = this.#run({ command, cwd, environment }).then((value) => {
      this.#end = { value, afterMs: performance.now() - this.#startedAt };
      return value;
    });
  }

  get end(): ShellEnd | undefined {
    return this.#end?.value;
  }

  get runsForMs(): number {
    return this.#end?.afterMs ?? performance.now() - this.#startedAt;
  }

  look(): Promise<ShellOutput> {
    return this.#output.look();
  }

  async kill(): Promise<void> {
    if (this.#end !== undefined) return;
    this.#isKilled = true;
    if (this.#pid !== undefined) await endProcessTree(this.#pid);
    await orAfter(this.ended, LAST_WORD_MS);
  }

  async #run(request: ProcessRequest): Promise<ShellEnd> {
    let started: ReturnType<typeof startProcess>;
    try {
      started = startProcess(request);
    } catch (error) {
      return this.#notStarted(request, error);
    }
    const { child, output } = started;
    this.#pid = child.pid;
    const reading = this.#read(output);
    const exit = await exitOf(child);
    if ("error" in exit) {
      output.destroy();
      return this.#notStarted(request, exit.error);
    }
    const leftBehind = await this.#clearUp(reading);
    // Whatever still holds the pipe has left the command's group: a daemon, which is meant to go on.
    output.destroy();
    await reading;
    await this.#output.finish();
    if (this.#isKilled) return { how: "killed" };
    if (exit.code === null) return { how: "signalled", signal: exit.signal ?? "a signal" };
    return { how: "exited", code: exit.code, leftBehind };
  }

  async #notStarted(request: ProcessRequest, error: unknown): Promise<ShellEnd> {
    await this.#output.finish();
    return { how: "not-started", reason: await whyNotStarted(request, error) };
  }

  /** Reads only as fast as it is kept, so that memory is bounded whatever a command prints. */
  async #read(output: Readable): Promise<void> {
    try {
      for await (const bytes of output) {
        this.#pieces++;
        await this.#output.add(bytes);
      }
    } catch {
      // It was closed by us, or the pipe broke: what has come is what there is.
    }
  }

  /** Waits for the rest of the output, and ends what the command left in its group; whether there was any. */
  async #clearUp(reading: Promise<void>): Promise<boolean> {
    await this.#drain(reading);
    if (this.#pid === undefined || !(await isGroupRunning(this.#pid))) return false;
    await endProcessTree(this.#pid);
    await this.#drain(reading);
    return true;
  }

  async #drain(reading: Promise<void>): Promise<void> {
    for (let drains = 0, seen = -1; drains < MOST_DRAINS && seen !== this.#pieces; drains++) {
      seen = this.#pieces;
      if (await orAfter(reading, DRAIN_MS)) return;
    }
  }
}

type Exit =
  | { readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly error: unknown };

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    // Stays: a second error, of a signal that could not be sent, would otherwise end this process.
    child.on("error", (error) => resolve({ error }));
  });
}

/**
 * Whether the work was done within the time. A busy event loop fires its timers before it reads what has long been
 * there, so one round of reading is let pass first.
 */
async function orAfter(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const timer = new AbortController();
  const over = sleep(milliseconds, false, { signal: timer.signal }).then(
    () => soon(false),
    () => false,
  );
  try {
    return await Promise.race([work.then(() => true), over]);
  } finally {
    timer.abort();
  }
}

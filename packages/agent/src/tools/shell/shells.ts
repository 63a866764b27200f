import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { stat } from "node:fs/promises";
import { PassThrough, type Readable } from "node:stream";
import { setTimeout as sleep, setImmediate as soon } from "node:timers/promises";
import { endProcessTree, isGroupRunning } from "@longhaul/sessions";
import type { ShellCommand, ShellEnd, ShellOutput, ShellRequest, Shells } from "../../workplace.ts";
import { CommandOutput, OutputFile } from "./command-output.ts";

export interface ShellsOptions {
  /** Environment of the commands. Default: the environment of this process. */
  readonly environment?: Environment | undefined;
  /** True to let commands see the keys of model providers, such as ANTHROPIC_API_KEY. Default: false. */
  readonly passProviderKeys?: boolean | undefined;
}

/**
 * Creates the shells of one session. Background commands run until they end, or until the shells are closed.
 */
export function createShells(options: ShellsOptions = {}): Shells {
  const { environment = process.env, passProviderKeys = false } = options;
  const shared = passProviderKeys ? environment : withoutProviderKeys(environment);
  const running = new Set<RunningCommand>();
  const background = new Map<string, RunningCommand>();
  let isClosed = false;
  return {
    start: (request) => {
      if (isClosed) throw new Error("The session has ended, so no command can be started.");
      // The id is random instead of counted, because a resumed session could repeat an id that the model
      // already knows.
      const id = `bash_${randomBytes(4).toString("hex")}`;
      const command = new RunningCommand(id, request, { ...shared, ...request.environment });
      running.add(command);
      void command.ended.then(() => running.delete(command));
      if (request.isBackground) background.set(id, command);
      return command;
    },
    find: (id) => background.get(id),
    list: () => [...background.values()],
    close: async () => {
      isClosed = true;
      await Promise.all([...running].map((command) => command.kill()));
    },
  };
}

/**
 * Maximum wait for the last output after a command has ended. Its child processes could keep the pipe open
 * forever.
 */
const DRAIN_MS = 250;
/**
 * Maximum number of waits while output arrives. The pipe is small, so output after these waits is not from
 * the command itself.
 */
const MAX_DRAINS = 8;
/** Maximum wait for the exit after a kill. A process that hangs in the kernel is not waited for. */
const EXIT_WAIT_MS = 1_000;

class RunningCommand implements ShellCommand {
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
    await orAfter(this.ended, EXIT_WAIT_MS);
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
    // A process that still uses the pipe has left the command's process group. It is a daemon and keeps
    // running on purpose.
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

  /** Reads the output only as fast as it is stored, so that memory stays bounded. */
  async #read(output: Readable): Promise<void> {
    try {
      for await (const bytes of output) {
        this.#pieces++;
        await this.#output.add(bytes);
      }
    } catch {
      // We closed the pipe, or it broke. Keep the output so far.
    }
  }

  /**
   * Waits for the remaining output and ends the processes that the command left in its group. Returns true if
   * there were such processes.
   */
  async #clearUp(reading: Promise<void>): Promise<boolean> {
    await this.#drain(reading);
    if (this.#pid === undefined || !(await isGroupRunning(this.#pid))) return false;
    await endProcessTree(this.#pid);
    await this.#drain(reading);
    return true;
  }

  async #drain(reading: Promise<void>): Promise<void> {
    for (let drains = 0, seen = -1; drains < MAX_DRAINS && seen !== this.#pieces; drains++) {
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
    // This listener is never removed. A signal that cannot be sent causes a second error, and without a
    // listener that error would end this process.
    child.on("error", (error) => resolve({ error }));
  });
}

/**
 * Waits for work with a time limit. Returns true if the work finished in time. At the limit, waits for one
 * more round of reading, because a busy event loop fires timers before it reads data that already arrived.
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

interface ProcessRequest {
  readonly command: string;
  readonly cwd: string;
  readonly environment: Environment;
}

/**
 * Script that uses one pipe for stdout and stderr, because two pipes would lose their relative order. The
 * first shell replaces itself with bash or sh, so there is still only one process.
 */
const INTO_ONE_PIPE =
  'if command -v bash >/dev/null 2>&1; then exec bash -c -- "$1" 2>&1; fi; exec sh -c -- "$1" 2>&1';

/**
 * Starts a process without input. The process gets its own process group, so that it can be ended with all
 * its children. `output` has stdout and stderr. If the system allows it, they are in the order of writing.
 * @throws the error of Node if the system cannot start a process.
 */
function startProcess({ command, cwd, environment: env }: ProcessRequest): {
  readonly child: ChildProcess;
  readonly output: Readable;
} {
  if (process.platform !== "win32") {
    const shell = ["-c", INTO_ONE_PIPE, "sh", command];
    const child = spawn("/bin/sh", shell, { cwd, env, stdio: ["ignore", "pipe", "ignore"], detached: true });
    return { child, output: child.stdout };
  }
  const child = spawn(command, {
    shell: true,
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
  });
  const output = new PassThrough();
  child.stdout.pipe(output, { end: false });
  child.stderr.pipe(output, { end: false });
  child.once("close", () => output.end());
  return { child, output };
}

/**
 * Explains to the model why nothing ran. Node reports ENOENT both for a missing shell and for a missing
 * folder.
 */
async function whyNotStarted({ cwd }: ProcessRequest, error: unknown): Promise<string> {
  const isFolder = (await stat(cwd).catch(() => undefined))?.isDirectory() ?? false;
  if (!isFolder) return `the working directory ${cwd} does not exist`;
  const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
  return code === "E2BIG"
    ? "the command is too long for the system. Write it into a file and run the file"
    : `the shell could not be started (${code})`;
}

/**
 * Variables with keys of model providers, as their SDKs read them. The keys pay for the agent. They must not
 * reach the commands that the agent runs, or the output of these commands. All other variables are passed on.
 */
const PROVIDER_KEYS = new RegExp(
  `^(?:${[
    "ANTHROPIC_(?:API_KEY|AUTH_TOKEN|CUSTOM_HEADERS)|AWS_BEARER_TOKEN_BEDROCK",
    "(?:OPENAI|AZURE|AZURE_OPENAI|GOOGLE|GOOGLE_GENERATIVE_AI|GEMINI|AI_GATEWAY|OPENROUTER)_API_KEY",
    "(?:MISTRAL|XAI|DEEPSEEK|GROQ|TOGETHER|TOGETHER_AI|FIREWORKS|CEREBRAS|COHERE|PERPLEXITY)_API_KEY",
  ].join("|")})$`,
);

type Environment = Readonly<Record<string, string | undefined>>;

/** Removes the keys of model providers. Compares names without case, as Windows does. */
function withoutProviderKeys(environment: Environment): Environment {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !PROVIDER_KEYS.test(name.toUpperCase())),
  );
}

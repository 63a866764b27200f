import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { stat } from "node:fs/promises";
import { PassThrough, type Readable } from "node:stream";
import { setTimeout as sleep, setImmediate as soon } from "node:timers/promises";
import { endProcessTree, isGroupRunning } from "@longhaul/sessions";
import type { ShellCommand, ShellEnd, ShellOutput, ShellRequest, Shells } from "../../workplace.ts";
import { CommandOutput, OutputFile } from "./command-output.ts";

export interface ShellsOptions {
  /** Of the commands; that of this process unless given. */
  readonly environment?: Environment | undefined;
  /** Lets the commands see the keys of model providers (ANTHROPIC_API_KEY and the like). They do not unless asked for. */
  readonly passProviderKeys?: boolean | undefined;
}

/** Runs the commands of one session. Those in the background go on until it is closed. */
export function createShells(options: ShellsOptions = {}): Shells {
  const { environment = process.env, passProviderKeys = false } = options;
  const shared = passProviderKeys ? environment : withoutProviderKeys(environment);
  const running = new Set<RunningCommand>();
  const background = new Map<string, RunningCommand>();
  let isClosed = false;
  return {
    start: (request) => {
      if (isClosed) throw new Error("The session is over: no command can be started.");
      // Not counted: a session that is gone on with would give an id again that the model knows from before.
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

/** After the end of a command, for what it printed last. What it left behind may keep the pipe open for ever. */
const DRAIN_MS = 250;
/** While something still comes. The pipe holds little, so what comes longer is not the command's own. */
const MOST_DRAINS = 8;
/** To hear that it has gone, after it was ended. One that hangs in the kernel is not waited for. */
const LAST_WORD_MS = 1_000;

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

interface ProcessRequest {
  readonly command: string;
  readonly cwd: string;
  readonly environment: Environment;
}

/**
 * One pipe for both outputs, which two pipes read one after the other could not give back in their order. The shell that
 * opens it is replaced by bash, or by itself, so there is one process as before.
 */
const INTO_ONE_PIPE =
  'if command -v bash >/dev/null 2>&1; then exec bash -c -- "$1" 2>&1; fi; exec sh -c -- "$1" 2>&1';

/**
 * Nothing to read for it, and a process group of its own, by which it is ended with all that it started. `output` has
 * both outputs, in the order in which they were written where the system lets us know it.
 * @throws what node throws where the system does not even try.
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

/** Why nothing was run, for the model. Node says ENOENT both for a missing shell and for a missing folder. */
async function whyNotStarted({ cwd }: ProcessRequest, error: unknown): Promise<string> {
  const isFolder = (await stat(cwd).catch(() => undefined))?.isDirectory() ?? false;
  if (!isFolder) return `the working directory ${cwd} is not there`;
  const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
  return code === "E2BIG"
    ? "it is longer than the system takes: write it into a file and run that"
    : `the shell could not be started (${code})`;
}

/**
 * Keys of model providers, as their SDKs read them: what pays for the agent is not for the commands it runs, nor for
 * whatever these print or send. Everything else of the environment is passed on as it is.
 */
const PROVIDER_KEYS = new RegExp(
  `^(?:${[
    "ANTHROPIC_(?:API_KEY|AUTH_TOKEN|CUSTOM_HEADERS)|AWS_BEARER_TOKEN_BEDROCK",
    "(?:OPENAI|AZURE|AZURE_OPENAI|GOOGLE|GOOGLE_GENERATIVE_AI|GEMINI|AI_GATEWAY|OPENROUTER)_API_KEY",
    "(?:MISTRAL|XAI|DEEPSEEK|GROQ|TOGETHER|TOGETHER_AI|FIREWORKS|CEREBRAS|COHERE|PERPLEXITY)_API_KEY",
  ].join("|")})$`,
);

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of the commands. Names in any case: on Windows there is no difference. */
function withoutProviderKeys(environment: Environment): Environment {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !PROVIDER_KEYS.test(name.toUpperCase())),
  );
}

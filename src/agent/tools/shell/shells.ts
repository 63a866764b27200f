import { randomBytes } from "node:crypto";
import type { ShellCommand, ShellRequest, Shells } from "../../workplace.ts";
import { type Environment, withoutProviderKeys } from "./environment.ts";
import { RunningCommand } from "./shell-command.ts";

export interface ShellsOptions {
  /** Of the commands; that of this process unless given. */
  readonly environment?: Environment | undefined;
  /** Lets the commands see the keys of model providers (ANTHROPIC_API_KEY and the like). They do not unless asked for. */
  readonly passProviderKeys?: boolean | undefined;
}

/** Runs the commands of one session. Those in the background go on until it is closed. */
export function createShells(options: ShellsOptions = {}): Shells {
  return new SessionShells(options);
}

class SessionShells implements Shells {
  readonly #environment: Environment;
  readonly #running = new Set<RunningCommand>();
  readonly #background = new Map<string, RunningCommand>();
  #isClosed = false;

  constructor({ environment = process.env, passProviderKeys = false }: ShellsOptions) {
    this.#environment = passProviderKeys ? environment : withoutProviderKeys(environment);
  }

  start(request: ShellRequest): ShellCommand {
    if (this.#isClosed) throw new Error("The session is over: no command can be started.");
    // Not counted: a session that is gone on with would give an id again that the model knows from before.
    const id = `bash_${randomBytes(4).toString("hex")}`;
    const command = new RunningCommand(id, request, { ...this.#environment, ...request.environment });
    this.#running.add(command);
    void command.ended.then(() => this.#running.delete(command));
    if (request.isBackground) this.#background.set(id, command);
    return command;
  }

  find(id: string): ShellCommand | undefined {
    return this.#background.get(id);
  }

  list(): readonly ShellCommand[] {
    return [...this.#background.values()];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#running].map((command) => command.kill()));
  }
}

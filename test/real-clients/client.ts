import type { ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Group, startGroup } from "./process-group.ts";
import type { Json } from "./wire.ts";

/** A client that takes longer counts as hung. Clients answer within seconds. */
const LIMIT_MS = 90_000;

/** The folders of one run of the client, without any of the user's own settings. */
export interface Place {
  readonly binary: string;
  readonly home: string;
  readonly workspace: string;
  /** Address of the provider. */
  readonly url: string;
  /** A proxy that refuses everything, so that the client reaches only loopback. */
  readonly proxy: string;
  readonly model: string;
  /** Additional environment variables of the client. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Result {
  readonly sessionId: string;
  readonly isError: boolean;
  readonly text: string;
}

export function clientEnv(place: Pick<Place, "home" | "url" | "proxy" | "env">): Record<string, string> {
  const { home, url, proxy, env } = place;
  const temp = join(home, "tmp");
  mkdirSync(temp, { recursive: true });
  return {
    PATH: process.env.PATH ?? "",
    LANG: "C.UTF-8",
    HOME: home,
    TMPDIR: temp,
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "any",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_ERROR_REPORTING: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    NO_PROXY: "127.0.0.1,localhost",
    // Claude Code refuses to skip its permission prompts as root unless it runs in a sandbox.
    IS_SANDBOX: "1",
    ...env,
  };
}

const HEADLESS = ["--dangerously-skip-permissions", "-p"];

/** Sends one prompt and returns the answer. `args` select the session to continue. */
export async function ask(place: Place, prompt: string, args: readonly string[] = []): Promise<Result> {
  const all = [...HEADLESS, prompt, "--output-format", "json", "--model", place.model, ...args];
  const { child, ended } = start(place, all);
  child.stdin?.end();
  let output = "";
  child.stdout?.on("data", (data: Buffer) => {
    output += data.toString();
  });
  const errors = await ended;
  try {
    return resultOf(JSON.parse(output) as Json);
  } catch {
    throw new Error(`The client gave no result: ${output.slice(-500)} ${errors.slice(-500)}`);
  }
}

/** A client that stays open and accepts prompts one after the other, as an editor uses it. */
export class OpenClient {
  readonly #child: ChildProcess;
  readonly #ended: Promise<string>;
  readonly #results: Result[] = [];
  #waiting: ((result: Result | undefined) => void) | undefined;
  #isOver = false;

  constructor(place: Place, args: readonly string[] = []) {
    const format = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
    const { child, ended } = start(place, [...HEADLESS, ...format, "--model", place.model, ...args]);
    this.#child = child;
    this.#ended = ended;
    if (child.stdout !== null)
      createInterface({ input: child.stdout }).on("line", (line) => this.#read(line));
    void ended.then(() => {
      this.#isOver = true;
      this.#waiting?.(undefined);
    });
  }

  send(prompt: string): void {
    const message = { type: "user", message: { role: "user", content: [{ type: "text", text: prompt }] } };
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  /** Returns the next result of a turn. */
  async result(): Promise<Result> {
    const ready = this.#results.shift();
    if (ready !== undefined) return ready;
    const next = this.#isOver
      ? undefined
      : await new Promise<Result | undefined>((resolve) => {
          this.#waiting = resolve;
        });
    this.#waiting = undefined;
    if (next === undefined)
      throw new Error(`The client ended without a result: ${(await this.#ended).slice(-500)}`);
    return next;
  }

  async close(): Promise<void> {
    this.#child.stdin?.end();
    await this.#ended;
  }

  #read(line: string): void {
    const event = parsed(line);
    if (event?.type !== "result") return;
    const result = resultOf(event);
    if (this.#waiting === undefined) this.#results.push(result);
    else this.#waiting(result);
  }
}

function parsed(line: string): Json | undefined {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return undefined;
  }
}

function resultOf(event: Json): Result {
  return {
    sessionId: String(event.session_id),
    isError: event.is_error === true,
    text: String(event.result ?? ""),
  };
}

function start(place: Place, args: readonly string[]): Group {
  return startGroup(place.binary, args, { cwd: place.workspace, env: clientEnv(place), limitMs: LIMIT_MS });
}

import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { LONGHAUL } from "./cell.ts";
import type { Json } from "./wire.ts";

/** Number of answers of the coder to one prompt, enough for several tools. */
const TURNS = "6";
const STARTED_WITHIN_MS = 20_000;

/** Endpoints on which a refusal is a fault. Some clients also probe other addresses. */
const MODEL_ENDPOINTS: ReadonlySet<unknown> = new Set([
  "messages",
  "count_tokens",
  "chat_completions",
  "responses",
  "compact",
]);

/** `longhaul sim` as people start it, in a separate process. */
export class SimProcess {
  readonly url: string;
  readonly requests: readonly Json[];
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string, requests: readonly Json[]) {
    this.#child = child;
    this.url = url;
    this.requests = requests;
  }

  /** Starts the simulator. `more` are additional flags. */
  static start(more: readonly string[] = []): Promise<SimProcess> {
    const child = spawn(process.execPath, [LONGHAUL, "sim", "--json", "--turns", TURNS, ...more], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    process.once("exit", () => child.kill());
    const requests: Json[] = [];
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error("longhaul sim did not start.")), STARTED_WITHIN_MS);
      child.on("close", (code) => reject(new Error(`longhaul sim ended with ${code}.`)));
      createInterface({ input: child.stdout }).on("line", (line) => {
        const event = JSON.parse(line) as Json;
        if (event.type === "request") requests.push(event);
        if (event.type !== "listening") return;
        clearTimeout(limit);
        resolve(new SimProcess(child, String(event.url), requests));
      });
    });
  }

  /** Returns every model of the simulator, newest first. */
  async models(): Promise<readonly string[]> {
    const headers = { "x-api-key": "any", "anthropic-version": "2023-06-01" };
    const response = await fetch(`${this.url}/v1/models?limit=1000`, { headers });
    const { data } = (await response.json()) as { readonly data: readonly { readonly id: string }[] };
    return data.map(({ id }) => id);
  }

  /** Returns the model calls since this index. */
  calls(from: number): readonly Json[] {
    return this.requests.slice(from).filter(({ endpoint }) => MODEL_ENDPOINTS.has(endpoint));
  }

  stop(): void {
    this.#child.kill();
  }
}

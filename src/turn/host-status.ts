import type { SummaryProgress } from "../compaction/write/attempts.ts";
import type { Entry } from "../conversation/entry.ts";
import type { CompactorEvent, EventDetail } from "./events.ts";
import type { HostCallbacks } from "./options.ts";

/** Hosts and what stands between them and the user take a silence of a minute for a hang. */
const KEEP_ALIVE_MS = 30_000;

export type StreamMode = Parameters<NonNullable<HostCallbacks["onStreamMode"]>>[0];

/** The host's callbacks, none of which can stop anything. */
export interface SafeHost {
  event(detail: EventDetail): void;
  progress(progress: SummaryProgress): void;
  status(status: "compacting" | undefined): void;
  streamMode(mode: StreamMode): void;
  length(characters: number): void;
  hookMessage(text: string): void;
  message(entry: Entry): void;
  filesForgotten(paths: readonly string[]): void;
  /** Empties the host's own caches, each of them whatever the others do. */
  cleanCaches(): void;
}

/**
 * Takes what callbacks throw, now or later (a host may pass an async function), and reports it by name.
 * `identity` is asked with each event, since turns come and go.
 */
export function safely(
  callbacks: HostCallbacks,
  identity: () => Pick<CompactorEvent, "agentId" | "turnId">,
): SafeHost {
  const event = (detail: EventDetail): void => {
    const { agentId, turnId } = identity();
    const whole: CompactorEvent = { agentId, turnId, ...detail };
    // A host that cannot take an event may still take the news of that; if not, there is nobody left to tell.
    callSafely(
      () => callbacks.onEvent?.(whole),
      () => callSafely(() => callbacks.onEvent?.(failedCallback("onEvent"))),
    );
  };
  const failedCallback = (callback: string): CompactorEvent => ({
    ...identity(),
    type: "host-callback-failed",
    callback,
  });
  const run = (callback: string, action: () => unknown): void =>
    callSafely(action, () => event({ type: "host-callback-failed", callback }));
  return {
    event,
    progress: (progress) => run("onProgress", () => callbacks.onProgress?.(progress)),
    status: (status) => run("onStatus", () => callbacks.onStatus?.(status)),
    streamMode: (mode) => run("onStreamMode", () => callbacks.onStreamMode?.(mode)),
    length: (characters) => run("onLength", () => callbacks.onLength?.(characters)),
    hookMessage: (text) => run("onHookMessage", () => callbacks.onHookMessage?.(text)),
    message: (entry) => run("onMessage", () => callbacks.onMessage?.(entry)),
    filesForgotten: (paths) => run("onFilesForgotten", () => callbacks.onFilesForgotten?.(paths)),
    cleanCaches: () => {
      for (const clean of callbacks.caches ?? []) run("caches", clean);
    },
  };
}

/** For a callback on its own; what it throws, now or later, goes no further than `onFailure`. */
export function callSafely(action: () => unknown, onFailure: () => void = ignore): void {
  try {
    const outcome = action();
    if (isPromiseLike(outcome)) outcome.then(undefined, onFailure);
  } catch {
    onFailure();
  }
}

const isPromiseLike = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as PromiseLike<unknown> | null | undefined)?.then === "function";

const ignore = (): void => undefined;

export interface StatusPorts {
  /** Calls it again and again until the returned function is called; by the system's timer unless given. */
  readonly every?: ((intervalMs: number, tick: () => void) => () => void) | undefined;
}

/**
 * Shows on the host that a compaction runs: at once, and again and again while it does. Whatever becomes of
 * it, status, stream mode and length are reset once at the end, and nothing is shown after that.
 */
export async function withHostStatus<T>(
  host: SafeHost,
  { every = everyByTimer }: StatusPorts,
  run: (onProgress: (progress: SummaryProgress) => void) => Promise<T>,
): Promise<T> {
  const display = new StatusDisplay(host);
  host.status("compacting");
  display.show("requesting");
  const stop = every(KEEP_ALIVE_MS, () => host.status("compacting"));
  try {
    return await run((progress) => display.advance(progress));
  } finally {
    stop();
    display.end();
  }
}

class StatusDisplay {
  readonly #host: SafeHost;
  #mode: StreamMode;
  #hasEnded = false;

  constructor(host: SafeHost) {
    this.#host = host;
  }

  /** What an aborted call still says after the end is for nobody. */
  advance(progress: SummaryProgress): void {
    if (this.#hasEnded) return;
    this.#host.progress(progress);
    switch (progress.phase) {
      case "thinking":
        this.show("thinking");
        break;
      case "writing":
        this.show("responding");
        this.#host.length(progress.characters);
        break;
      case "hooks":
        // No request is under way, and what came of an answer stays.
        break;
      default:
        // Sent anew: what had come of an answer is void.
        this.show("requesting");
        this.#host.length(0);
    }
  }

  show(mode: StreamMode): void {
    if (mode === this.#mode) return;
    this.#mode = mode;
    this.#host.streamMode(mode);
  }

  end(): void {
    this.#hasEnded = true;
    this.show(undefined);
    this.#host.length(0);
    this.#host.status(undefined);
  }
}

function everyByTimer(intervalMs: number, tick: () => void): () => void {
  const timer = setInterval(tick, intervalMs);
  // The sign of life of a compaction must not keep a process alive that has nothing else to do.
  (timer as { unref?: () => void }).unref?.();
  return () => clearInterval(timer);
}

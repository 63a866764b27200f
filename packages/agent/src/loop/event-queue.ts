import type { AgentEvent, RunResult } from "../agent-events.ts";

/** Queue with any number of writers and one reader. The reader gets the items in order, at its own pace. */
export class EventQueue<T> {
  #waiting: T[] = [];
  #wake: (() => void) | undefined;
  #isOver = false;

  /** Adds an item. Returns false if the queue has ended. */
  push(item: T): boolean {
    if (this.#isOver) return false;
    this.#waiting.push(item);
    this.#wake?.();
    return true;
  }

  /** Ends the queue. The reader gets the waiting items, then the end. */
  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  async *read(): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const batch = this.#waiting;
      this.#waiting = [];
      yield* batch;
      if (this.#waiting.length > 0) continue;
      if (this.#isOver) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}

/**
 * Starts a run and yields its events, then its end. The run does not wait for the reader. If the reader
 * stops, the run is aborted.
 */
export async function* listenTo(
  start: (queue: EventQueue<AgentEvent>, signal: AbortSignal) => Promise<RunResult>,
  signal: AbortSignal | undefined,
): AsyncGenerator<AgentEvent, RunResult> {
  const abort = new AbortController();
  const stop = (): void => abort.abort(signal?.reason);
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  const queue = new EventQueue<AgentEvent>();
  const run = start(queue, abort.signal);
  run.catch(() => undefined).finally(() => queue.end());
  try {
    yield* queue.read();
    const result = await run;
    yield { type: "ended", ...result };
    return result;
  } finally {
    abort.abort();
    await run.catch(() => undefined);
    signal?.removeEventListener("abort", stop);
  }
}

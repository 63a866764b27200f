import type { AgentEvent, RunResult } from "../events.ts";
import { EventQueue } from "./event-queue.ts";

/**
 * Starts a run, yields what it tells, and then its end. The run does not wait for whoever listens; whoever stops
 * listening does not want it to go on.
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

import { LonghaulError } from "@longhaul/core";
import { untilAborted } from "@longhaul/core/models";

/** Queue that runs one task at a time, in order of arrival. */
export class Queue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the task in its turn. If the signal fires before that, rejects and never runs the task. */
  async run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const before = this.#last;
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#last = before.then(() => ended);
    try {
      // When the signal fires, only the waiting ends. The earlier work continues.
      await untilAborted(signal, before).catch(() => undefined);
      signal?.throwIfAborted();
      return await work();
    } finally {
      end();
    }
  }
}

/** Queue that can be closed. Closing aborts running and waiting tasks and rejects new ones. */
export class ClosableQueue {
  readonly #queue = new Queue();
  /** Controllers of running and waiting tasks. */
  readonly #aborts = new Set<AbortController>();
  #isClosed = false;

  /**
   * Runs the task in its turn. The task's signal fires when the given signal fires or the queue is closed.
   */
  async alone<T>(work: (signal: AbortSignal) => Promise<T>, given?: AbortSignal): Promise<T> {
    if (this.#isClosed) throw closed();
    const abort = new AbortController();
    const stop = (): void => abort.abort(given?.reason);
    if (given?.aborted) stop();
    given?.addEventListener("abort", stop, { once: true });
    this.#aborts.add(abort);
    try {
      return await this.#queue.run(() => work(abort.signal));
    } finally {
      this.#aborts.delete(abort);
      given?.removeEventListener("abort", stop);
    }
  }

  /** Closes the queue, and runs a last task after all earlier tasks have ended. */
  close(work: () => Promise<void>): Promise<void> {
    this.#isClosed = true;
    for (const abort of this.#aborts) abort.abort();
    return this.#queue.run(work);
  }
}

const closed = (): LonghaulError =>
  new LonghaulError("agent-closed", "The agent is closed, so it cannot work anymore.", {
    remedy: "Open another agent. With the same session, it continues where this one stopped.",
  });

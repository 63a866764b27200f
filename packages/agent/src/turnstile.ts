import { LonghaulError } from "@longhaul/core";
import { untilAborted } from "@longhaul/core/models";

/** Runs one thing at a time, in the order in which they came. */
export class Queue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs it when its turn has come. Rejects, and never runs it, when the signal fires before. */
  async run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const before = this.#last;
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#last = before.then(() => ended);
    try {
      // When the signal fires, the work before goes on: only the waiting ends.
      await untilAborted(signal, before).catch(() => undefined);
      signal?.throwIfAborted();
      return await work();
    } finally {
      end();
    }
  }
}

/** A queue that can be closed: whoever is at work or waits is told to stop, and nobody is let in any more. */
export class Turnstile {
  readonly #queue = new Queue();
  /** Of those at work, and of those who wait. */
  readonly #aborts = new Set<AbortController>();
  #isClosed = false;

  /** The signal of the work fires with the one given, and when it is closed. */
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

  /** The work is done when all who came before have gone. */
  close(work: () => Promise<void>): Promise<void> {
    this.#isClosed = true;
    for (const abort of this.#aborts) abort.abort();
    return this.#queue.run(work);
  }
}

const closed = (): LonghaulError =>
  new LonghaulError("agent-closed", "This agent has been closed.", {
    remedy: "Open another one: with the same session it goes on where this one ended.",
  });

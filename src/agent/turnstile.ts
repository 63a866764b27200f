import { LonghaulError } from "../index.ts";

/** Lets one through at a time, in the order in which they came, until it is closed. */
export class Turnstile {
  #last: Promise<unknown> = Promise.resolve();
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
      return await this.#inTurn(() => work(abort.signal));
    } finally {
      this.#aborts.delete(abort);
      given?.removeEventListener("abort", stop);
    }
  }

  /** Whoever came before is told to stop; when they have gone this is done, and nobody is let in any more. */
  close(work: () => Promise<void>): Promise<void> {
    this.#isClosed = true;
    for (const abort of this.#aborts) abort.abort();
    return this.#inTurn(work);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

const closed = (): LonghaulError =>
  new LonghaulError("agent-closed", "This agent has been closed.", {
    remedy: "Open another one: with the same session it goes on where this one ended.",
  });

/** Lets one through at a time, in the order in which they came. */
export class Turnstile {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves when everybody before has left, with what is to be called on leaving. */
  async enter(): Promise<() => void> {
    const before = this.#last;
    let leave: () => void = () => undefined;
    this.#last = new Promise<void>((resolve) => {
      leave = resolve;
    });
    await before;
    return leave;
  }

  async alone<T>(work: () => Promise<T>): Promise<T> {
    const leave = await this.enter();
    try {
      return await work();
    } finally {
      leave();
    }
  }
}

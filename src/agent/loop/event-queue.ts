/** Hands on what is pushed from anywhere, in order, to one reader who takes it when it likes. */
export class EventQueue<T> {
  #waiting: T[] = [];
  #wake: (() => void) | undefined;
  #isOver = false;

  push(item: T): void {
    if (this.#isOver) return;
    this.#waiting.push(item);
    this.#wake?.();
  }

  /** Nothing more comes: the reader gets what is waiting, and then the end. */
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

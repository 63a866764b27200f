/** Hands on what is pushed from anywhere, in order, to one reader who takes it when it likes. */
export class EventQueue<T> {
  #waiting: T[] = [];
  #wake: (() => void) | undefined;
  #isOver = false;

  /** False where nothing is taken any more. */
  push(item: T): boolean {
    if (this.#isOver) return false;
    this.#waiting.push(item);
    this.#wake?.();
    return true;
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

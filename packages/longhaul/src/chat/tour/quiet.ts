import { setTimeout as pause } from "node:timers/promises";

/** Maximum wait for notes and summaries. */
const LONGEST_WAIT_MS = 5_000;
/** Time for work after an answer, such as writing a file. */
const AFTERWARDS_MS = 30;

/** Detects when the simulated model has no open calls, including background calls. */
export class Quiet {
  #open = 0;
  #waiting: readonly (() => void)[] = [];

  /** Registers the start of a call. The returned function registers its end. */
  begin(): () => void {
    this.#open += 1;
    return () => {
      this.#open -= 1;
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const resolve of waiting) resolve();
    };
  }

  async settled(): Promise<void> {
    const late = pause(LONGEST_WAIT_MS, "late" as const, { ref: false });
    for (;;) {
      await pause(AFTERWARDS_MS);
      if (this.#open === 0) return;
      const ended = new Promise<void>((resolve) => {
        this.#waiting = [...this.#waiting, resolve];
      });
      if ((await Promise.race([ended, late])) === "late") return;
    }
  }
}

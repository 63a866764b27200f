import { setTimeout as pause } from "node:timers/promises";

/** Notes and summaries are written within this; whoever takes longer is not waited for. */
const LONGEST_WAIT_MS = 5_000;
/** Time in which the work that waited for an answer is done, such as writing a file. */
const AFTERWARDS_MS = 30;

/** Tells when nothing is being asked of the stand-in, also not in the background. */
export class Quiet {
  #open = 0;
  #waiting: readonly (() => void)[] = [];

  /** A call begins; what it returns ends it. */
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

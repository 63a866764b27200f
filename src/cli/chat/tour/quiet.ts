import type { RequestLog } from "../../../testing/simulator/server/log.ts";

/** Notes and summaries are written within this; whoever takes longer is not waited for. */
const LONGEST_WAIT_MS = 5_000;

/** Tells when nothing is being asked of the stand-in, also not in the background. */
export class Quiet {
  #waiting: (() => void)[] = [];

  /** A request has come to its end. */
  ended(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  async settled({ all }: Pick<RequestLog, "all">): Promise<void> {
    const late = AbortSignal.timeout(LONGEST_WAIT_MS);
    while (!late.aborted && all.some(({ outcome }) => outcome === "open")) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        late.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  }
}

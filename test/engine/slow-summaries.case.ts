import type { CallOptions, Model, ModelEvent, ModelRequest } from "@longhaul/core";
import { ModelError } from "@longhaul/core";
import type { MovableClock } from "@longhaul/simulator";
import { summaryRequestIn } from "../../packages/core/src/compaction/summary/builtin/summarize-messages.ts";

/**
 * A model that writes summaries slowly. Its clock moves only with the loop's next turn. If a turn waited for
 * a summary, it would never end, because nothing moves the clock meanwhile.
 */
export class SlowSummaries {
  readonly model: Model;
  readonly #clock: MovableClock;
  readonly #takesMs: number;
  #waiting: { readonly readyAt: number; readonly go: () => void }[] = [];
  asked = 0;
  /** Number of calls that have ended, for any reason. */
  ended = 0;
  /** Number of calls to refuse from now on. */
  refuse = 0;

  constructor(model: Model, clock: MovableClock, takesMs: number) {
    this.#clock = clock;
    this.#takesMs = takesMs;
    this.model = {
      name: model.name,
      capabilities: model.capabilities,
      countTokens: (request, options) => model.countTokens(request, options),
      stream: (request, options) => this.#stream(model, request, options),
    };
  }

  /** Completes all calls. */
  release(): void {
    for (const { go } of this.#waiting.splice(0)) go();
  }

  /** Completes only the newest call. */
  releaseNewest(): void {
    this.#waiting.pop()?.go();
  }

  /** Completes all calls and waits for their end. */
  async releaseToTheEnd(): Promise<void> {
    this.release();
    while (this.ended < this.asked) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Completes the calls whose time has come. */
  tick(): void {
    const ready = this.#waiting.filter(({ readyAt }) => readyAt <= this.#clock.now());
    this.#waiting = this.#waiting.filter(({ readyAt }) => readyAt > this.#clock.now());
    for (const { go } of ready) go();
  }

  async *#stream(model: Model, request: ModelRequest, options?: CallOptions): AsyncGenerator<ModelEvent> {
    if (summaryRequestIn(request.messages) === undefined) {
      yield* model.stream(request, options);
      return;
    }
    this.asked += 1;
    try {
      const readyAt = this.#clock.now() + this.#takesMs;
      if (this.#takesMs > 0) await new Promise<void>((go) => this.#waiting.push({ readyAt, go }));
      if (this.refuse-- > 0) throw new ModelError({ kind: "other", retry: false }, "no");
      yield* model.stream(request, options);
    } finally {
      this.ended += 1;
    }
  }
}

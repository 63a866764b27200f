import type { Compactor, CompactorOptions, Turn } from "@longhaul/core/engine";
import { createCompactor } from "@longhaul/core/engine";
import type { Entry } from "@longhaul/core/messages";
import { SessionFiles } from "../session-files.ts";
import type { ReplayUsage } from "./prefix-cache.ts";
import type { RecordedCall } from "./recorded-calls.ts";
import { asReplayed, outputTokensOf, type RunOutcome, type Stage, tokensOfRequest } from "./stage.ts";
import { summaryModel, tooLong } from "./summary-model.ts";

export const runLonghaul = (stage: Stage): Promise<RunOutcome> => new EngineRun(stage).run();

/** The engine itself, as a host has it: three calls around each model call. */
class EngineRun {
  readonly #stage: Stage;
  readonly #compactor: Compactor;
  readonly #files = new SessionFiles();
  #stallMs = 0;
  #compactions = 0;
  #clearings = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#compactor = createCompactor({
      ...engineOptions(stage),
      state: { files: this.#files },
      host: {
        onEvent: ({ type }) => {
          if (type === "compacted") this.#compactions++;
          if (type === "results-cleared") this.#clearings++;
        },
      },
    });
  }

  async run(): Promise<RunOutcome> {
    const { calls, rest } = this.#stage.recorded;
    let messages: readonly Entry[] = [];
    let last: { readonly call: RecordedCall; readonly usage: ReplayUsage | undefined } | undefined;
    const next = (entries: readonly Entry[]): readonly Entry[] => asReplayed(entries, last, this.#stallMs);
    for (const [index, call] of calls.entries()) {
      this.#files.add(call.news);
      const turn = await this.#before([...messages, ...next(call.news)], call);
      const { sent, usage } = await this.#send(turn, call, calls[index + 1]?.news ?? rest);
      last = { call, usage };
      messages = sent.messages;
      this.#stage.onCall();
    }
    await this.#stage.clock.passDuring(this.#compactor.close());
    return {
      entries: [...messages, ...next(rest)],
      compactions: this.#compactions,
      clearings: this.#clearings,
      stallMs: this.#stallMs,
    };
  }

  async #before(messages: readonly Entry[], call: RecordedCall): Promise<Turn<Entry>> {
    const { clock } = this.#stage;
    await clock.advanceTo(call.startedAt + this.#stallMs);
    return this.#waitFor(this.#compactor.before(messages));
  }

  /** What it takes of the clock is what the person waits. */
  async #waitFor<T>(work: Promise<T>): Promise<T> {
    const { clock } = this.#stage;
    const startedAt = clock.now();
    const result = await clock.passDuring(work);
    this.#stallMs += clock.now() - startedAt;
    return result;
  }

  async #send(
    turn: Turn<Entry>,
    call: RecordedCall,
    answer: readonly Entry[],
  ): Promise<{ readonly sent: Turn<Entry>; readonly usage: ReplayUsage | undefined }> {
    const { clock, till, scale, model } = this.#stage;
    const sent = await this.#within(turn);
    const isRewritten = sent !== turn || turn.compaction !== undefined || turn.cleared > 0;
    const tokens = tokensOfRequest(sent.request, scale);
    if (tokens > this.#stage.thresholds.size) {
      till.refused(tokens, isRewritten);
      return { sent, usage: undefined };
    }
    const outputTokens = outputTokensOf(call, answer, scale);
    const usage = till.call(sent.request, { at: clock.now(), outputTokens, isRewritten });
    await clock.advanceTo(call.endedAt + this.#stallMs);
    const { messageId } = call;
    this.#compactor.after({ ...(messageId === undefined ? {} : { id: messageId }), model, usage });
    return { sent, usage };
  }

  /** The provider refuses what is too long, and the engine is asked what to do. */
  async #within(turn: Turn<Entry>): Promise<Turn<Entry>> {
    const { scale, thresholds } = this.#stage;
    const tokens = tokensOfRequest(turn.request, scale);
    if (tokens <= thresholds.size) return turn;
    const again = await this.#waitFor(this.#compactor.recover<Entry>(tooLong(tokens, thresholds.size)));
    return again ?? turn;
  }
}

function engineOptions(stage: Stage): CompactorOptions {
  const { clock, scale, thresholds, ttl, transcriptPath, ownPrices } = stage;
  const { settings: values, ...engine } = stage.engine;
  let ids = 0;
  return {
    ...engine,
    model: summaryModel(stage),
    request: scale.frame,
    window: { tokens: thresholds.size },
    cost: { cacheTtl: ttl, prices: ownPrices },
    // The same wherever it runs.
    settings: { values, environment: {} },
    transcript: { path: transcriptPath, append: async () => undefined },
    ports: { now: () => new Date(clock.now()), newUuid: () => `replayed-${++ids}` },
  };
}

import type { Compactor, CompactorOptions, Turn } from "@longhaul/core/engine";
import { createCompactor } from "@longhaul/core/engine";
import type { Entry } from "@longhaul/core/messages";
import { SessionFiles } from "../session-files.ts";
import type { RewriteKind } from "./cost-breakdown.ts";
import type { ReplayUsage } from "./prefix-cache.ts";
import type { RecordedCall } from "./recorded-calls.ts";
import {
  outputTokensOf,
  type ReplayEnvironment,
  type RunOutcome,
  tokensOfRequest,
  toReplayed,
} from "./replay-environment.ts";
import { summaryModel, tooLong } from "./summary-model.ts";

export const runLonghaul = (stage: ReplayEnvironment): Promise<RunOutcome> => new EngineRun(stage).run();

/** Runs the engine the way a host does: three calls to the engine around each model call. */
class EngineRun {
  readonly #stage: ReplayEnvironment;
  readonly #compactor: Compactor;
  readonly #files = new SessionFiles();
  #stallMs = 0;
  #compactions = 0;
  #clearings = 0;

  constructor(stage: ReplayEnvironment) {
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
    const next = (entries: readonly Entry[]): readonly Entry[] => toReplayed(entries, last, this.#stallMs);
    for (const [index, call] of calls.entries()) {
      this.#files.add(call.newEntries);
      const turn = await this.#before([...messages, ...next(call.newEntries)], call);
      const { sent, usage } = await this.#send(turn, call, calls[index + 1]?.newEntries ?? rest);
      last = { call, usage };
      messages = sent.messages;
      this.#stage.onCall();
    }
    await this.#stage.clock.advanceUntilDone(this.#compactor.close());
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

  /** Waits for this work. Adds the time that passes on the clock meanwhile to the person's waiting time. */
  async #waitFor<T>(work: Promise<T>): Promise<T> {
    const { clock } = this.#stage;
    const startedAt = clock.now();
    const result = await clock.advanceUntilDone(work);
    this.#stallMs += clock.now() - startedAt;
    return result;
  }

  async #send(
    turn: Turn<Entry>,
    call: RecordedCall,
    answer: readonly Entry[],
  ): Promise<{ readonly sent: Turn<Entry>; readonly usage: ReplayUsage | undefined }> {
    const { clock, costs, scale, model } = this.#stage;
    const sent = await this.#within(turn);
    const rewrite = rewriteOf(turn, sent);
    if (sent.compaction !== undefined) costs.recordRestored(sent.compaction.attachments);
    const tokens = tokensOfRequest(sent.request, scale);
    if (tokens > this.#stage.thresholds.size) {
      costs.recordRefusedCall(tokens, rewrite);
      return { sent, usage: undefined };
    }
    const outputTokens = outputTokensOf(call, answer, scale);
    const usage = costs.recordCall(sent.request, { at: clock.now(), outputTokens, rewrite });
    await clock.advanceTo(call.endedAt + this.#stallMs);
    const { messageId } = call;
    this.#compactor.after({ ...(messageId === undefined ? {} : { id: messageId }), model, usage });
    return { sent, usage };
  }

  /**
   * Returns a turn that fits the window. If the request exceeds the window, reports a refusal by the provider
   * to the engine, so that the engine recovers.
   */
  async #within(turn: Turn<Entry>): Promise<Turn<Entry>> {
    const { scale, thresholds } = this.#stage;
    const tokens = tokensOfRequest(turn.request, scale);
    if (tokens <= thresholds.size) return turn;
    const again = await this.#waitFor(this.#compactor.recover<Entry>(tooLong(tokens, thresholds.size)));
    return again ?? turn;
  }
}

/** Returns how the engine rewrote the history for this call. `sent` differs from the turn after a recovery. */
function rewriteOf(turn: Turn<Entry>, sent: Turn<Entry>): RewriteKind | undefined {
  if (sent !== turn || turn.compaction !== undefined) return "compacted";
  return turn.cleared > 0 ? "cleared" : undefined;
}

function engineOptions(stage: ReplayEnvironment): CompactorOptions {
  const { clock, scale, thresholds, ttl, transcriptPath, ownPrices } = stage;
  const { settings: values, ...engine } = stage.engine;
  let ids = 0;
  return {
    ...engine,
    model: summaryModel(stage),
    request: scale.frame,
    window: { tokens: thresholds.size },
    cost: { cacheTtl: ttl, prices: ownPrices },
    // Ignores environment variables, so that the replay gives the same result on every machine.
    settings: { values, environment: {} },
    transcript: { path: transcriptPath, append: async () => undefined },
    ports: { now: () => new Date(clock.now()), newUuid: () => `replayed-${++ids}` },
  };
}

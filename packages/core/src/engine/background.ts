import {
  type CompactionPlan,
  type FittingPlan,
  idsOf,
  planFromPrepared,
} from "../compaction/plan/compaction-plan.ts";
import type { PreparedSummary } from "../compaction/write/summary-chain.ts";
import { withTimeLimit } from "../models/abortable.ts";
import { clearableTokens } from "./clear-stale.ts";
import { forkNow } from "./fork.ts";
import { skipReasonFor } from "./health.ts";
import type { BackgroundSummary, OfferedPlan } from "./parts.ts";
import { cachedMeasures, findFittingPlan, refreshPlan, restoreBudget, snapshotOf } from "./planning.ts";
import { codeOf } from "./reporter.ts";
import { CALLS_DURING_SUMMARY, paysToCompactEarly } from "./rewrite-decisions.ts";
import { type CompactionParts, compactOptions, loadCarryOut } from "./run-compaction.ts";
import { expectedSummaryCost, mayModelSummarize } from "./summary-cost.ts";

/** Share of the auto-compact threshold at which the background summary starts. */
const START_SHARE = 0.8;

/** Share of the auto-compact threshold at which the background summary starts at the latest. */
const LATEST_START_SHARE = 0.95;

/** If more tokens than this were added since the summary was written, the summary is refreshed before use. */
const STALE_TOKENS = 20_000;
/**
 * A summary is also refreshed if the result of a compaction with it would exceed this share of the threshold.
 * This matters in small windows.
 */
const STALE_RESULT_SHARE = 0.75;

/**
 * The summary starts at most this many tokens before the threshold. In a large window, an earlier summary
 * would be stale before its use and cost a second call.
 */
const START_BEFORE_THRESHOLD_TOKENS = 2 * STALE_TOKENS;

/**
 * If a background summary fails, the built-in summarizer does not replace it, because the model may work
 * again at the threshold.
 */
const NO_BUILT_IN_FALLBACK = { builtInFallback: "never" } as const;

interface ReadySummary {
  /** Ids of the messages that the summary replaces. */
  readonly ids: readonly (string | undefined)[];
  /**
   * Tokens of the kept messages when the summary was written. Kept tokens above this figure belong to
   * messages added later.
   */
  readonly keptTokens: number;
  readonly summary: PreparedSummary;
}

interface UsableSummary extends ReadySummary {
  readonly plan: CompactionPlan;
}

/**
 * Writes the summary for the next compaction in the background, while the conversation continues. At the
 * threshold, the summary replaces its messages, and all newer messages are kept. A failure here is harmless,
 * because the turn at the threshold can compact without a prepared summary.
 */
export class BackgroundSummarizer implements BackgroundSummary {
  /** Resolved on use, because the parts refer to each other. */
  readonly #parts: () => CompactionParts;
  #ready: ReadySummary | undefined;
  #running: AbortController | undefined;
  /** True after a failure. The background work does not retry. The next compaction reports the error. */
  #hasFailed = false;
  #isClosed = false;

  constructor(parts: () => CompactionParts) {
    this.#parts = parts;
  }

  /**
   * Starts or refreshes a summary after a response if one is due. Runs the cheap checks first, because most
   * responses need no summary.
   */
  onResponse(): void {
    if (this.#running !== undefined || this.#hasFailed) return;
    try {
      if (this.#isOff() || !this.#isDue() || !mayModelSummarize(this.#parts())) return;
      const ready = this.#findUsable();
      if ((ready === undefined || !this.#isFreshEnough(ready, false)) && !this.#isClearingEnough())
        this.#startOrRefresh(ready);
    } catch (error) {
      // The turn at the threshold will report the problem to the user.
      this.#hasFailed = true;
      this.#reportEnd("failed", codeOf(error));
    }
  }

  offer(): OfferedPlan | "under-way" | "at-once" | undefined {
    if (this.#isOff()) return undefined;
    const ready = this.#findUsable();
    const mustCompact = this.#hasReached(this.#parts().gauge.thresholds.blocking);
    const offer =
      ready !== undefined && this.#isFreshEnough(ready, mustCompact) ? this.#offerOf(ready) : undefined;
    if (offer !== undefined || this.#hasFailed) return offer;
    if (mustCompact || (this.#running === undefined && !mayModelSummarize(this.#parts()))) return "at-once";
    if (this.#running === undefined) this.#startOrRefresh(ready);
    return this.#running === undefined ? undefined : "under-way";
  }

  preparedResult(): { readonly tokensAfter: number | undefined } | undefined {
    if (this.#isOff()) return undefined;
    const isFull = this.#hasReached(this.#parts().gauge.thresholds.blocking);
    // If the window is full, the turn does not wait for the running summary.
    if (this.#running !== undefined) return isFull ? undefined : { tokensAfter: undefined };
    const ready = this.#findUsable();
    if (ready === undefined || !this.#isFreshEnough(ready, isFull)) return undefined;
    return { tokensAfter: minTokensAfter(ready.plan, ready.summary) };
  }

  reset(): void {
    this.#running?.abort();
    this.#running = undefined;
    this.#ready = undefined;
    this.#hasFailed = false;
  }

  /** Discards the prepared summary, if there is one. */
  discard(reason: string): void {
    if (this.#ready === undefined) return;
    this.#ready = undefined;
    this.#reportEnd("discarded", reason);
  }

  /** Stops the background work. Later responses start no summary. */
  close(): void {
    this.reset();
    this.#isClosed = true;
  }

  /**
   * Returns true if a background summary is disabled, not allowed now or not needed. Session notes already
   * are a summary, the built-in summarizer takes no time, and the provider's own compaction makes its own
   * call.
   */
  #isOff(): boolean {
    const parts = this.#parts();
    const { options, health, modules } = parts;
    const { compaction, model } = options;
    const { background = true, summarizer = "model" } = compaction;
    if (this.#isClosed) return true;
    if (!background || model === undefined || summarizer !== "model" || modules.hasSummary) return true;
    return health.isResting() || skipReasonFor("auto", parts) !== undefined;
  }

  /**
   * Size at which a summary starts. If the summary pays before the threshold, or if that is unknown, it starts
   * early. Otherwise it starts just in time for the threshold.
   */
  get #startTokens(): number {
    const { gauge, pace } = this.#parts();
    const { autoCompact } = gauge.thresholds;
    const early = Math.max(autoCompact * START_SHARE, autoCompact - START_BEFORE_THRESHOLD_TOKENS);
    const inTime = autoCompact - CALLS_DURING_SUMMARY * pace.growthPerTurn;
    if (gauge.size().tokens < early || paysToCompactEarly(this.#parts()) !== false) return early;
    return Math.max(early, Math.min(inTime, autoCompact * LATEST_START_SHARE));
  }

  /** Returns true if the conversation is large enough to start or refresh a summary. */
  #isDue(): boolean {
    const soon = this.#parts().gauge.thresholds.autoCompact - STALE_TOKENS;
    const from = this.#ready === undefined ? this.#startTokens : Math.max(this.#startTokens, soon);
    // Uses the size without padding, because the padded size would be near the threshold right after a
    // compaction.
    return this.#parts().gauge.size().tokens >= from;
  }

  #hasReached(tokens: number): boolean {
    return this.#parts().gauge.size().paddedTokens >= tokens;
  }

  /** Returns the prepared summary with its plan, if the conversation still starts with the same messages. */
  #findUsable(): UsableSummary | undefined {
    const ready = this.#ready;
    if (ready === undefined) return undefined;
    const parts = this.#parts();
    const plan = planFromPrepared(snapshotOf(parts), ready.ids, { measured: cachedMeasures(parts) });
    if (plan !== undefined) return { ...ready, plan };
    this.discard("conversation-changed");
    return undefined;
  }

  /**
   * Returns true if the summary can be used. In a full window, even an outdated summary is used, because all
   * newer messages are kept.
   */
  #isFreshEnough(ready: UsableSummary, isFull: boolean): boolean {
    return !this.#leavesTooMuch(ready) && (isFull || !this.#isStale(ready));
  }

  #isStale({ keptTokens, plan }: UsableSummary): boolean {
    return plan.keptTokens - keptTokens > STALE_TOKENS;
  }

  /** Returns true if there are so many new messages that the compaction would free too little. */
  #leavesTooMuch({ plan, summary }: UsableSummary): boolean {
    return minTokensAfter(plan, summary) > this.#parts().gauge.thresholds.autoCompact * STALE_RESULT_SHARE;
  }

  #offerOf({ summary, plan }: UsableSummary): OfferedPlan {
    const { autoCompact: targetTokens } = this.#parts().gauge.thresholds;
    const restoreBudgetTokens = restoreBudget(this.#parts().gauge, plan, summary.written.text);
    return { plan, prepared: summary, targetTokens, restoreBudgetTokens };
  }

  /**
   * Returns true if clearing frees enough tokens to make a summary unnecessary. At the threshold, the engine
   * clears first.
   */
  #isClearingEnough(): boolean {
    const parts = this.#parts();
    return parts.gauge.size().tokens - clearableTokens(parts) < this.#startTokens;
  }

  /** Refreshes a summary that covers most of the conversation. Otherwise starts a new one. */
  #startOrRefresh(known: UsableSummary | undefined): void {
    const isMost = known !== undefined && known.plan.summarizedTokens >= known.plan.keptTokens;
    const fresh = isMost ? refreshPlan(this.#parts(), known.plan, known.summary.written.text) : undefined;
    if (known !== undefined && fresh !== undefined) {
      this.#refresh(known, fresh);
      return;
    }
    this.discard("outdated");
    this.#start();
  }

  #start(): void {
    const parts = this.#parts();
    const fitted = tryPlan(parts);
    if (fitted === undefined) return;
    const { plan, targetTokens } = fitted;
    const fork = forkNow(parts);
    const options = compactOptions(parts, { trigger: "auto", plan, targetTokens }, () => undefined);
    this.#run(plan.tokensBefore, false, async (signal) => {
      const { prepareSummary } = await loadCarryOut(signal);
      return {
        ids: idsOf(plan.summarized),
        keptTokens: plan.keptTokens,
        summary: await prepareSummary(plan, { ...options, ...NO_BUILT_IN_FALLBACK, fork, signal }),
      };
    });
  }

  /** Summarizes the previous summary together with the new messages. */
  #refresh({ ids, summary, plan }: UsableSummary, fresh: CompactionPlan): void {
    const parts = this.#parts();
    const { written, hookOutcomes, instructions } = summary;
    const { autoCompact: targetTokens } = parts.gauge.thresholds;
    const options = compactOptions(parts, { trigger: "auto", plan: fresh, targetTokens }, () => undefined);
    this.#run(plan.tokensBefore, true, async (signal) => {
      // The provider has not cached this input, so no fork is possible. The hooks have already run.
      const alone = { ...NO_BUILT_IN_FALLBACK, fork: undefined, hooks: undefined, instructions, signal };
      const { prepareSummary } = await loadCarryOut(signal);
      const next = await prepareSummary(fresh, { ...options, ...alone });
      const attempts = [...written.attempts, ...next.written.attempts];
      return {
        // The first summarized entry is the previous summary.
        ids: [...ids, ...idsOf(fresh.summarized.slice(1))],
        keptTokens: fresh.keptTokens,
        summary: { written: { ...next.written, attempts }, hookOutcomes, instructions },
      };
    });
  }

  #run(tokens: number, isRefresh: boolean, work: (signal: AbortSignal) => Promise<ReadySummary>): void {
    const parts = this.#parts();
    const startedAt = parts.now();
    const abort = new AbortController();
    parts.reporter.emit({ type: "background-started", tokens, isRefresh });
    parts.pace.recordSummaryCost(expectedSummaryCost(parts));
    const end = (ended: { readonly ready?: ReadySummary; readonly reason?: string }): void => {
      if (this.#running !== abort) return;
      this.#running = undefined;
      // If a refresh fails, the old summary stays available for a full window.
      this.#ready = ended.ready ?? this.#ready;
      this.#hasFailed = ended.ready === undefined;
      this.#reportEnd(this.#hasFailed ? "failed" : "ready", ended.reason, parts.now() - startedAt);
    };
    this.#running = abort;
    withTimeLimit(abort.signal, parts.options.timeLimits.totalMs, work).then(
      (ready) => end({ ready }),
      (error: unknown) => {
        if (!abort.signal.aborted) parts.reporter.noteFailure(error);
        end({ reason: codeOf(error) });
      },
    );
  }

  #reportEnd(outcome: "ready" | "failed" | "discarded", reason: string | undefined, durationMs = 0): void {
    this.#parts().reporter.emit({ type: "background-ended", outcome, reason, durationMs });
  }
}

/** Returns the size after the compaction, without restored content. */
const minTokensAfter = (plan: CompactionPlan, { written }: PreparedSummary): number =>
  plan.overheadTokens + plan.keptTokens + plan.countTokens(written.text);

/** Returns a plan, or undefined if planning fails. The turn at the threshold reports the reason. */
function tryPlan(parts: CompactionParts): FittingPlan | undefined {
  try {
    const fitted = findFittingPlan(parts);
    return "plan" in fitted ? fitted : undefined;
  } catch {
    return undefined;
  }
}

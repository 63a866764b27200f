import {
  type CompactionPlan,
  type FittingPlan,
  idsOf,
  planFromPrepared,
} from "../compaction/plan/compaction-plan.ts";
import { type PreparedSummary, prepareSummary } from "../compaction/write/summary-chain.ts";
import { withTimeLimit } from "../models/abortable.ts";
import { clearableTokens } from "./clear-stale.ts";
import { forkNow } from "./fork.ts";
import { whyNotNow } from "./health.ts";
import type { BackgroundSummary, OfferedPlan } from "./parts.ts";
import { fittingPlan, measuredBy, refreshPlan, restoreBudget, snapshotOf } from "./planning.ts";
import { codeOf } from "./reporter.ts";
import { type Compacted, compactOptions } from "./run-compaction.ts";

/** Of the auto threshold: from here on a summary is written ahead of need. */
const START_SHARE = 0.8;

/** A summary that knows so much less than there is by now is brought up to date before it is used. */
const STALE_TOKENS = 20_000;
/** In a small window much less is too much: of the threshold, what may be there right after a compaction. */
const STALE_RESULT_SHARE = 0.75;

/**
 * In a large window the share alone would begin so early that the summary is stale long before it is used, and has to
 * be paid for twice.
 */
const START_BEFORE_THRESHOLD_TOKENS = 2 * STALE_TOKENS;

/** A model that fails now may not do so at the threshold: until then there is no need for the built-in summariser. */
const NO_STAND_IN = { builtInFallback: "never" } as const;

interface Ready {
  /** What the summary stands for. */
  readonly ids: readonly (string | undefined)[];
  /** Of the messages that were kept beside it when it was written: what is more has come since. */
  readonly keptTokens: number;
  readonly summary: PreparedSummary;
}

interface Usable extends Ready {
  readonly plan: CompactionPlan;
}

/**
 * Has the summary of the next compaction written ahead of need, while the conversation goes on. At the threshold it
 * takes the place of the messages that it stands for, and all that came meanwhile is kept as it is. Whatever goes wrong
 * here does no harm: then there is none, and the turn compacts as it would have.
 */
export class Background implements BackgroundSummary {
  /** Asked when they are needed: the parts know each other. */
  readonly #parts: () => Compacted;
  #ready: Ready | undefined;
  #running: AbortController | undefined;
  /** Once is enough: the next compaction asks again, and the user hears of it then. */
  #hasFailed = false;
  #isClosed = false;

  constructor(parts: () => Compacted) {
    this.#parts = parts;
  }

  /** What is cheap to tell is asked first: most responses find nothing to do. */
  responded(): void {
    if (this.#running !== undefined || this.#hasFailed) return;
    try {
      if (this.#isOff() || !this.#isDue()) return;
      const ready = this.#usable();
      if ((ready === undefined || !this.#isFit(ready, false)) && !this.#isClearingEnough())
        this.#begin(ready);
    } catch (error) {
      // Nobody asked for it yet: what is wrong, the turn at the threshold says.
      this.#hasFailed = true;
      this.#tellEnd("failed", codeOf(error));
    }
  }

  offer(): OfferedPlan | "under-way" | "at-once" | undefined {
    if (this.#isOff()) return undefined;
    const ready = this.#usable();
    const mustCompact = this.#isNear(this.#parts().gauge.thresholds.blocking);
    const offer = ready !== undefined && this.#isFit(ready, mustCompact) ? this.#offerOf(ready) : undefined;
    if (offer !== undefined || this.#hasFailed) return offer;
    if (mustCompact) return "at-once";
    if (this.#running === undefined) this.#begin(ready);
    return this.#running === undefined ? undefined : "under-way";
  }

  paidFor(): { readonly tokensAfter: number | undefined } | undefined {
    if (this.#isOff()) return undefined;
    const isFull = this.#isNear(this.#parts().gauge.thresholds.blocking);
    // Nobody waits for it once the window is full.
    if (this.#running !== undefined) return isFull ? undefined : { tokensAfter: undefined };
    const ready = this.#usable();
    if (ready === undefined || !this.#isFit(ready, isFull)) return undefined;
    return { tokensAfter: leastTokens(ready.plan, ready.summary) };
  }

  reset(): void {
    this.#running?.abort();
    this.#running = undefined;
    this.#ready = undefined;
    this.#hasFailed = false;
  }

  /** Forgets the summary that is ready, if there is one. */
  discard(reason: string): void {
    if (this.#ready === undefined) return;
    this.#ready = undefined;
    this.#tellEnd("discarded", reason);
  }

  /** An answer that comes after the end begins nothing. */
  close(): void {
    this.reset();
    this.#isClosed = true;
  }

  /** Notes are a summary already; without a model there is nobody to wait for; a provider's own comes with a call. */
  #isOff(): boolean {
    const parts = this.#parts();
    const { options, health, modules } = parts;
    const { compaction, model } = options;
    const { background = true, summariser = "model" } = compaction;
    if (this.#isClosed) return true;
    if (!background || model === undefined || summariser !== "model" || modules.hasSummary) return true;
    return health.isResting() || whyNotNow("auto", parts) !== undefined;
  }

  get #startTokens(): number {
    const { autoCompact } = this.#parts().gauge.thresholds;
    return Math.max(autoCompact * START_SHARE, autoCompact - START_BEFORE_THRESHOLD_TOKENS);
  }

  /** Whether there may be one to begin, or one to bring up to date. */
  #isDue(): boolean {
    const soon = this.#parts().gauge.thresholds.autoCompact - STALE_TOKENS;
    const from = this.#ready === undefined ? this.#startTokens : Math.max(this.#startTokens, soon);
    // Without the margin of an estimate, by which a conversation that was just compacted would be near again at once.
    return this.#parts().gauge.size().tokens >= from;
  }

  #isNear(tokens: number): boolean {
    return this.#parts().gauge.size().paddedTokens >= tokens;
  }

  /** With its plan, where the conversation still begins as it did. */
  #usable(): Usable | undefined {
    const ready = this.#ready;
    if (ready === undefined) return undefined;
    const parts = this.#parts();
    const plan = planFromPrepared(snapshotOf(parts), ready.ids, { measured: measuredBy(parts) });
    if (plan !== undefined) return { ...ready, plan };
    this.discard("conversation-changed");
    return undefined;
  }

  /** Where the window is full, one that is behind is better than none: all that it does not know is kept as it is. */
  #isFit(ready: Usable, isFull: boolean): boolean {
    return !this.#leavesTooMuch(ready) && (isFull || !this.#isBehind(ready));
  }

  #isBehind({ keptTokens, plan }: Usable): boolean {
    return plan.keptTokens - keptTokens > STALE_TOKENS;
  }

  /** So much has come since that there would be little room to go on. */
  #leavesTooMuch({ plan, summary }: Usable): boolean {
    return leastTokens(plan, summary) > this.#parts().gauge.thresholds.autoCompact * STALE_RESULT_SHARE;
  }

  #offerOf({ summary, plan }: Usable): OfferedPlan {
    const { autoCompact: targetTokens } = this.#parts().gauge.thresholds;
    const restoreBudgetTokens = restoreBudget(this.#parts().gauge, plan, summary.written.text);
    return { plan, prepared: summary, targetTokens, restoreBudgetTokens };
  }

  /** At the threshold clearing comes first, and where it is enough no summary will be needed. */
  #isClearingEnough(): boolean {
    const parts = this.#parts();
    return parts.gauge.size().tokens - clearableTokens(parts) < this.#startTokens;
  }

  /** Brings a summary up to date that knows most of what there is; else one is written of all of it. */
  #begin(known: Usable | undefined): void {
    const isMost = known !== undefined && known.plan.summarisedTokens >= known.plan.keptTokens;
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
    const fitted = planOrNone(parts);
    if (fitted === undefined) return;
    const { plan, targetTokens } = fitted;
    const fork = forkNow(parts);
    const options = compactOptions(parts, { trigger: "auto", plan, targetTokens }, () => undefined);
    this.#run(plan.tokensBefore, false, async (signal) => ({
      ids: idsOf(plan.summarised),
      keptTokens: plan.keptTokens,
      summary: await prepareSummary(plan, {
        ...options,
        ...NO_STAND_IN,
        fork,
        signal,
      }),
    }));
  }

  /** With just what came since: the summary so far stands for the rest. */
  #refresh({ ids, summary, plan }: Usable, fresh: CompactionPlan): void {
    const parts = this.#parts();
    const { written, hookOutcomes, instructions } = summary;
    const { autoCompact: targetTokens } = parts.gauge.thresholds;
    const options = compactOptions(parts, { trigger: "auto", plan: fresh, targetTokens }, () => undefined);
    this.#run(plan.tokensBefore, true, async (signal) => {
      // What goes in is not what the provider has in its cache. The hooks have been asked.
      const alone = { ...NO_STAND_IN, fork: undefined, hooks: undefined, instructions, signal };
      const next = await prepareSummary(fresh, { ...options, ...alone });
      const attempts = [...written.attempts, ...next.written.attempts];
      return {
        // The first of what was summarised is the summary so far.
        ids: [...ids, ...idsOf(fresh.summarised.slice(1))],
        keptTokens: fresh.keptTokens,
        summary: { written: { ...next.written, attempts }, hookOutcomes, instructions },
      };
    });
  }

  #run(tokens: number, isRefresh: boolean, work: (signal: AbortSignal) => Promise<Ready>): void {
    const parts = this.#parts();
    const startedAt = parts.now();
    const abort = new AbortController();
    parts.reporter.emit({ type: "background-started", tokens, isRefresh });
    const end = (ended: { readonly ready?: Ready; readonly reason?: string }): void => {
      if (this.#running !== abort) return;
      this.#running = undefined;
      // One that could not be brought up to date is still there when the window is full.
      this.#ready = ended.ready ?? this.#ready;
      this.#hasFailed = ended.ready === undefined;
      this.#tellEnd(this.#hasFailed ? "failed" : "ready", ended.reason, parts.now() - startedAt);
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

  #tellEnd(outcome: "ready" | "failed" | "discarded", reason: string | undefined, durationMs = 0): void {
    this.#parts().reporter.emit({ type: "background-ended", outcome, reason, durationMs });
  }
}

/** What there will be before anything is put back. */
const leastTokens = (plan: CompactionPlan, { written }: PreparedSummary): number =>
  plan.overheadTokens + plan.keptTokens + plan.countTokens(written.text);

/** Why there is none, the turn at the threshold says. */
function planOrNone(parts: Compacted): FittingPlan | undefined {
  try {
    const fitted = fittingPlan(parts);
    return "plan" in fitted ? fitted : undefined;
  } catch {
    return undefined;
  }
}

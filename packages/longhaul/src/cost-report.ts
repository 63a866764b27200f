import type { SizedConversation } from "@longhaul/core/internal/compaction";
import { promptCost } from "@longhaul/core/internal/measure";
import type { Thresholds, WeighedOption, Weighing } from "@longhaul/core/measure";
import { type PriceTable, pricesOf } from "@longhaul/core/measure";
import type { Session } from "@longhaul/sessions";
import {
  type CallCost,
  expectedCall,
  type SessionSituation,
  sessionSituation,
  usualPlan,
  type WeighedCompaction,
  weighSession,
} from "@longhaul/sessions/internal";

/**
 * Future cost of a session in dollars. The cost of answers is not included, because it is the same for each
 * option.
 */
export interface CostReport {
  /**
   * Model whose prices are used. This is the session's model. If its prices are unknown, this is a common
   * model.
   */
  readonly model: string;
  readonly arePricesAssumed: boolean;
  readonly cache: {
    readonly ttl: "5m" | "1h";
    /** Seconds since the newest response. Null if the file does not say. */
    readonly ageSeconds: number | null;
    readonly isCold: boolean;
  };
  readonly turnsSoFar: number;
  readonly growthPerTurn: number;
  /** Cost of the next call's prompt with a warm and with a cold cache. */
  readonly nextTurn: { readonly warm: number; readonly cold: number };
  readonly expectedTurns: number;
  /**
   * Summary calls that were already made or are expected. The figures of the compaction include their cost.
   * Null if there are none.
   */
  readonly call: CallCost | null;
  /**
   * Call that a summary by the session's model would need. No figure includes the cost of this call. Null if
   * `call` is not null.
   */
  readonly assumedCall: CallCost | null;
  readonly options: readonly OptionReport[];
  readonly chosen: Weighing["chosen"];
  readonly why: Weighing["why"];
}

export interface OptionReport extends Omit<WeighedOption, "breakEvenTurns"> {
  /** Number of turns until the option pays off. Null if it never does. */
  readonly breakEvenTurns: number | null;
}

interface CostCircumstances {
  readonly thresholds: Thresholds;
  readonly contextTokens: number;
  readonly now: Date;
  readonly prices: PriceTable;
  /**
   * The compaction to compare with doing nothing. Undefined if there is nothing to compact. Ignored if
   * compaction is off.
   */
  readonly compaction: WeighedCompaction | undefined;
  /** The session's conversation with sizes, if already computed. */
  readonly sized?: SizedConversation | undefined;
}

/** Computes the future cost of a session. Returns null for a session without messages. */
export function costReport(session: Session, circumstances: CostCircumstances): CostReport | null {
  if (session.conversation.length === 0) return null;
  const { thresholds } = circumstances;
  const compaction = thresholds.headroomBy === "nobody" ? undefined : circumstances.compaction;
  const situation = sessionSituation(session, { ...circumstances, now: circumstances.now.getTime() });
  const weighing = weighSession(session, situation, thresholds, compaction, circumstances.sized);
  if (weighing === undefined) return null;
  const calls = callsFor(session, situation.model, { ...circumstances, compaction });
  return costFigures(situation, weighing, calls);
}

type Calls = Pick<CostReport, "call" | "assumedCall">;

/**
 * Returns the summary calls for the report. If the compaction was already computed, the built-in summarizer
 * wrote its summary. In that case, the model call is only assumed.
 */
function callsFor(session: Session, model: string, circumstances: CostCircumstances): Calls {
  const { compaction, thresholds, prices } = circumstances;
  if (compaction === undefined) return { call: null, assumedCall: null };
  if ("plan" in compaction)
    return { call: null, assumedCall: expectedCall(compaction.plan, thresholds, model, prices) ?? null };
  const plan = usualPlan(session, thresholds);
  const call = plan && expectedCall(plan, thresholds, compaction.summaryBy, prices);
  return { call: call ?? null, assumedCall: null };
}

function costFigures(situation: SessionSituation, weighing: Weighing, calls: Calls): CostReport | null {
  const { model, cacheTtl = "5m", contextTokens: tokens, cacheAgeMs, turnsSoFar } = situation;
  const prices = pricesOf(model, tokens, situation.prices);
  if (prices === undefined) return null;
  const { expectedTurns, options, chosen, why } = weighing;
  return {
    model,
    arePricesAssumed: situation.arePricesAssumed,
    cache: {
      ttl: cacheTtl,
      ageSeconds: cacheAgeMs === undefined ? null : Math.round(cacheAgeMs / 1_000),
      isCold: situation.cachedTokens === 0,
    },
    turnsSoFar,
    growthPerTurn: Math.round(situation.growthPerTurn),
    nextTurn: {
      warm: promptCost({ tokens, cachedTokens: tokens }, prices, cacheTtl),
      cold: promptCost({ tokens, cachedTokens: 0 }, prices, cacheTtl),
    },
    expectedTurns: Math.round(expectedTurns),
    ...calls,
    options: options.map((option) => ({
      ...option,
      tokensSaved: Math.round(option.tokensSaved),
      breakEvenTurns: option.breakEvenTurns ?? null,
    })),
    chosen,
    why,
  };
}

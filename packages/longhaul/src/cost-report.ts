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

/** What a session costs from here on, in dollars. Answers are left out: they cost the same on every way. */
export interface CostReport {
  /** The model whose prices are used: the session's, or a usual one where its prices are not known. */
  readonly model: string;
  readonly arePricesAssumed: boolean;
  readonly cache: {
    readonly ttl: "5m" | "1h";
    /** Since the newest response; null where the file does not tell. */
    readonly ageSeconds: number | null;
    readonly isCold: boolean;
  };
  readonly turnsSoFar: number;
  readonly growthPerTurn: number;
  /** The prompt of the next call: while the provider has it in its cache, and once it has not. */
  readonly nextTurn: { readonly warm: number; readonly cold: number };
  readonly expectedTurns: number;
  /** Calls for a summary that the figures of a compaction include, made or expected; null for none. */
  readonly call: CallCost | null;
  /** In no figure: the call that a summary by the session's model would take. Null where `call` has one. */
  readonly assumedCall: CallCost | null;
  readonly options: readonly OptionReport[];
  readonly chosen: Weighing["chosen"];
  readonly why: Weighing["why"];
}

export interface OptionReport extends Omit<WeighedOption, "breakEvenTurns"> {
  /** Null: it never pays. */
  readonly breakEvenTurns: number | null;
}

interface CostCircumstances {
  readonly thresholds: Thresholds;
  readonly contextTokens: number;
  readonly now: Date;
  readonly prices: PriceTable;
  /**
   * The compaction that is compared with doing nothing. Undefined where there is nothing to compact. Ignored where
   * compaction is switched off.
   */
  readonly compaction: WeighedCompaction | undefined;
  /** The conversation of the session as it was sized before. */
  readonly sized?: SizedConversation | undefined;
}

/** Null where nothing has been said in the session. */
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

/** A compaction that was computed has the built-in summariser's summary: a call for it is only assumed. */
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

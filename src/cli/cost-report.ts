import { promptCost } from "../cost/rates.ts";
import type { WeighedOption, Weighing } from "../cost/weigh.ts";
import { type SessionSituation, sessionSituation, weighSession } from "../host/session-cost.ts";
import type { Session } from "../transcript/session.ts";
import { type PriceTable, pricesOf } from "../window/prices.ts";
import type { Thresholds } from "../window/thresholds.ts";

/** What a session costs from here on, in dollars. Answers are left out: they cost the same on every way. */
export interface CostReport {
  readonly model: string;
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
  readonly options: readonly OptionReport[];
  readonly chosen: Weighing["chosen"];
  readonly why: Weighing["why"];
}

export interface OptionReport extends Omit<WeighedOption, "breakEvenTurns"> {
  /** Null: it never pays. */
  readonly breakEvenTurns: number | null;
}

export interface CostCircumstances {
  readonly thresholds: Thresholds;
  readonly contextTokens: number;
  readonly now: Date;
  readonly prices: PriceTable;
}

/** Null where the prices of the session's model are not known, or nothing has been said in it. */
export function costReport(session: Session, circumstances: CostCircumstances): CostReport | null {
  if (session.conversation.length === 0) return null;
  const situation = sessionSituation(session, { ...circumstances, now: circumstances.now.getTime() });
  const weighing = situation && weighSession(session, situation, circumstances.thresholds);
  return situation && weighing ? costFigures(situation, weighing) : null;
}

function costFigures(situation: SessionSituation, weighing: Weighing): CostReport | null {
  const { model, cacheTtl = "5m", contextTokens: tokens, cacheAgeMs, turnsSoFar } = situation;
  const prices = pricesOf(model, tokens, situation.prices);
  if (prices === undefined) return null;
  const { expectedTurns, options, chosen, why } = weighing;
  return {
    model,
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
    options: options.map((option) => ({
      ...option,
      tokensSaved: Math.round(option.tokensSaved),
      breakEvenTurns: option.breakEvenTurns ?? null,
    })),
    chosen,
    why,
  };
}

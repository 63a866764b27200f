import type { Compaction } from "../compaction/compact.ts";
import { type CompactionPlan, unchangedTokens } from "../compaction/plan/compaction-plan.ts";
import type { SizedConversation } from "../compaction/plan/sized.ts";
import type { SummaryAttempt } from "../compaction/write/attempts.ts";
import { inputTokens } from "../conversation/responses.ts";
import { netSaving, promptCost, type WeighedOption, type Weighing, weigh } from "../cost/rewrite-cost.ts";
import {
  type CallCost,
  expectedCall,
  type SessionSituation,
  sessionSituation,
  usualPlan,
  type WeighedCompaction,
  weighSession,
} from "../host/session-cost.ts";
import { BUILT_IN_MODEL_NAME } from "../summary/builtin/builtin-model.ts";
import type { Session } from "../transcript/load.ts";
import { costOf, type PriceTable, pricesOf } from "../window/prices.ts";
import type { Thresholds } from "../window/thresholds.ts";

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

/** What a compaction costs and brings, in dollars. */
export interface CompactCost
  extends Pick<CostReport, "model" | "arePricesAssumed" | "call" | "assumedCall" | "expectedTurns"> {
  /** What the next prompt writes to the provider's cache anew; 0 once that has gone cold. */
  readonly rewrite: number;
  readonly savedPerTurn: number;
  /** Null: it never pays. */
  readonly breakEvenTurns: number | null;
  /** The saving over the expected turns, net of the costs above; `inspect` computes the same. */
  readonly netSaving: number;
}

interface CompactCostInput {
  readonly session: Session;
  readonly plan: CompactionPlan;
  readonly compaction: Compaction;
  readonly thresholds: Thresholds;
  readonly now: Date;
  readonly prices: PriceTable;
  /** The model of `--model` that a dry run does not call; undefined where nothing is left open. */
  readonly wouldAsk: string | undefined;
}

/** Null where the price of a call for the summary is not known. */
export function compactCost(input: CompactCostInput): CompactCost | null {
  const { session, plan, compaction, thresholds, prices } = input;
  const { tokensBefore } = plan;
  const now = input.now.getTime();
  const situation = sessionSituation(session, { thresholds, contextTokens: tokensBefore, now, prices });
  const call = callOf(input);
  if (call === undefined) return null;
  const { tokensAfter } = compaction;
  const way = { tokensAfter, unchangedTokens: unchangedTokens(plan), callCost: call?.cost ?? 0 };
  const saving = netSaving({ ...situation, ...way, tokensBefore, turns: situation.expectedTurns });
  const weighing = weigh({ ...situation, alternatives: [{ name: "compact", ...way }] });
  const [nothing, compact] = weighing?.options ?? [];
  if (saving === undefined || weighing === undefined || nothing === undefined || compact === undefined)
    return null;
  return {
    model: situation.model,
    arePricesAssumed: situation.arePricesAssumed,
    call,
    assumedCall: call === null ? assumedCall(input, situation.model) : null,
    rewrite: saving.rewrite,
    savedPerTurn: nothing.costPerTurn - compact.costPerTurn,
    breakEvenTurns: compact.breakEvenTurns ?? null,
    expectedTurns: Math.round(weighing.expectedTurns),
    netSaving: nothing.total - compact.total,
  };
}

/** Undefined where its price is not known. */
function callOf(input: CompactCostInput): CallCost | null | undefined {
  const { compaction, plan, thresholds, wouldAsk, prices } = input;
  if (wouldAsk === undefined) return callsMade(compaction.attempts, prices);
  if (wouldAsk === BUILT_IN_MODEL_NAME) return null;
  return expectedCall(plan, thresholds, wouldAsk, prices);
}

/** Notes stand in place of a summary: nobody would write one. */
function assumedCall(
  { compaction, plan, thresholds, prices }: CompactCostInput,
  model: string,
): CallCost | null {
  if (compaction.written.source === "notes") return null;
  return expectedCall(plan, thresholds, model, prices) ?? null;
}

/** Those that failed were paid for as well. */
export function callsMade(
  attempts: readonly SummaryAttempt[],
  prices: PriceTable,
): CallCost | null | undefined {
  let sum = null as CallCost | null;
  for (const { usage, model } of attempts) {
    if (usage === undefined || model === undefined) continue;
    const cost = costOf(usage, model, prices);
    if (cost === undefined) return undefined;
    sum = {
      model,
      inputTokens: (sum?.inputTokens ?? 0) + inputTokens(usage),
      outputTokens: (sum?.outputTokens ?? 0) + usage.output_tokens,
      cost: (sum?.cost ?? 0) + cost,
      isEstimate: false,
    };
  }
  return sum;
}

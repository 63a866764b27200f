import { type CacheTtl, type Prices, type PriceTable, pricesOf } from "../window/prices.ts";
import { inProportion, type Thresholds } from "../window/thresholds.ts";
import { turnsOfRoom } from "./pace.ts";

/** The model, price table and cache lifetime that determine the cost of tokens. */
export interface PricingContext {
  readonly model: string;
  /** Takes precedence over the table of published prices. */
  readonly prices?: PriceTable | undefined;
  readonly cacheTtl?: CacheTtl | undefined;
}

/**
 * Lifetimes of a cached prefix that no call reads: the default, and a longer one that costs more to write.
 */
export const CACHE_TTL_MS: Readonly<Record<CacheTtl, number>> = { "5m": 300_000, "1h": 3_600_000 };

export const PER_MILLION = 1_000_000;

/** Price of writing a million tokens to the cache. */
export const cacheWritePrice = (prices: Prices, ttl: CacheTtl | undefined): number =>
  ttl === "1h" ? prices.cacheWrite1h : prices.cacheWrite5m;

/**
 * Computes the cost of a prompt in dollars: the first `cachedTokens` are read from the cache, the rest is
 * written to it.
 */
export function promptCost(
  { tokens, cachedTokens }: { readonly tokens: number; readonly cachedTokens: number },
  prices: Prices,
  ttl: CacheTtl | undefined,
): number {
  const read = Math.min(Math.max(0, cachedTokens), tokens);
  return (read * prices.cacheRead + (tokens - read) * cacheWritePrice(prices, ttl)) / PER_MILLION;
}

/** Net saving of a rewrite in dollars, and the figures that it consists of. */
export interface NetSaving {
  /** `saved` minus `rewrite` and `call`. Below 0, the rewrite does not pay off within `turns`. */
  readonly dollars: number;
  /** Dollars that are saved because the expected turns no longer read the removed tokens. */
  readonly saved: number;
  /** Extra cost of tokens that are written to the cache again instead of being read from it. */
  readonly rewrite: number;
  /** Cost of the calls that wrote a summary. */
  readonly call: number;
  /** Number of turns that the figures cover. */
  readonly turns: number;
}

export interface Rewrite extends PricingContext {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Tokens of `tokensBefore` that were in the provider's cache. 0 if the cache had expired. */
  readonly cachedTokens: number;
  /** Number of tokens at the start that the rewrite left unchanged. */
  readonly unchangedTokens: number;
  readonly callCost: number;
  readonly turns: number;
}

/** Returns undefined if the prices are unknown. */
export function netSaving(rewritten: Rewrite): NetSaving | undefined {
  const { model, tokensBefore, tokensAfter, cachedTokens, unchangedTokens, callCost, turns } = rewritten;
  const prices = pricesOf(model, tokensBefore, rewritten.prices);
  if (prices === undefined) return undefined;
  const read = prices.cacheRead / PER_MILLION;
  const write = cacheWritePrice(prices, rewritten.cacheTtl) / PER_MILLION;
  const freed = tokensBefore - tokensAfter;
  const lostOfCache = Math.max(0, Math.min(cachedTokens, tokensAfter) - unchangedTokens);
  // With an expired cache, the next call would have written the removed tokens to the cache.
  const saved = freed * (read * (turns - 1) + (cachedTokens > 0 ? read : write));
  const rewrite = lostOfCache * (write - read);
  return { dollars: saved - rewrite - callCost, saved, rewrite, call: callCost, turns };
}

export interface Rewriting extends PricingContext {
  readonly contextTokens: number;
  /** Tokens that a rewrite must write to the cache again. */
  readonly rewrittenTokens: number;
  /** Tokens that could have been cleared, summed over the turns that read them. See `Pace`. */
  readonly carriedTokens: number;
}

/**
 * Returns true when reading old results has cost as much as clearing them would cost. This rule needs no
 * forecast and never costs more than twice the optimum.
 */
export function isClearingDue(rewriting: Rewriting): boolean {
  const { model, contextTokens, rewrittenTokens, carriedTokens } = rewriting;
  const prices = pricesOf(model, contextTokens, rewriting.prices);
  if (prices === undefined) return false;
  const extra = cacheWritePrice(prices, rewriting.cacheTtl) - prices.cacheRead;
  return carriedTokens * prices.cacheRead >= rewrittenTokens * extra;
}

/** Tokens of a typical summary with nine sections. */
const SUMMARY_TOKENS = 6_000;
/**
 * Tokens of restored content after a typical compaction. They usually need less than half of their budget.
 */
const RESTORED_TOKENS = 24_000;
/** The same without files: a task list, a skill, the names of tools, and the paths of files. */
const RESTORED_BESIDE_FILES_TOKENS = 3_000;

interface UsualParts {
  readonly overheadTokens: number;
  readonly keptTokens: number;
  /** True if files are restored only where that pays, which is rare. */
  readonly withoutFiles?: boolean;
}

/**
 * Predicts the size after a compaction and the output tokens of its summary. Used until a first compaction
 * shows the real figures.
 */
export function usualCompaction(
  thresholds: Pick<Thresholds, "size">,
  { overheadTokens, keptTokens, withoutFiles = false }: UsualParts,
): { readonly tokensAfter: number; readonly outputTokens: number } {
  const restored = withoutFiles ? RESTORED_BESIDE_FILES_TOKENS : RESTORED_TOKENS;
  const rest = inProportion(thresholds, SUMMARY_TOKENS + restored);
  return {
    tokensAfter: overheadTokens + keptTokens + rest,
    outputTokens: inProportion(thresholds, SUMMARY_TOKENS),
  };
}

/**
 * Share of the removed tokens that the agent must fetch again, by option. The figures are cautious guesses.
 * The agent gets a cleared result back with one tool call. After a summary, the agent must first notice that
 * something is missing.
 */
const REFETCH_SHARE: Readonly<Record<WeighedOption["name"], number>> = {
  nothing: 0,
  clear: 0.1,
  compact: 0.2,
};

/** A rewrite that could be applied to a conversation. */
export interface Alternative {
  readonly name: "clear" | "compact";
  readonly tokensAfter: number;
  /** Number of tokens at the start that stay exactly as the provider has cached them. */
  readonly unchangedTokens: number;
  /** Cost in dollars of the call that writes a summary. 0 if there is no such call. */
  readonly callCost?: number | undefined;
}

/** A conversation before its next call. All sizes are in tokens as the provider counts them. */
export interface Situation extends PricingContext {
  readonly contextTokens: number;
  /** Tokens of the context that are still in the provider's cache. 0 if the cache has expired. */
  readonly cachedTokens: number;
  /** From this size on, the conversation must be rewritten in any case. */
  readonly thresholdTokens: number;
  readonly growthPerTurn: number;
  /** Number of calls that will still be made. See `expectedTurns`. */
  readonly expectedTurns: number;
  readonly alternatives: readonly Alternative[];
}

/**
 * One option and its cost in dollars. The cost of the model's answers is excluded, because it is the same for
 * every option.
 */
export interface WeighedOption {
  readonly name: "nothing" | Alternative["name"];
  /** Cost of the next call's prompt, of the call for a summary, and of fetching removed content again. */
  readonly costNow: number;
  /** Cost of the prompt of a typical later call. */
  readonly costPerTurn: number;
  /** Total cost over the expected turns. */
  readonly total: number;
  /**
   * Number of calls after which this option has cost no more than doing nothing. Undefined if that never
   * happens.
   */
  readonly breakEvenTurns: number | undefined;
  readonly tokensSaved: number;
}

export type WeighedWhy =
  /** The option costs the least over the expected turns. */
  | "cheapest"
  /** The threshold is reached, and this is the cheapest option that gets below it. */
  | "cheapest-below-threshold"
  /**
   * The threshold is reached, and this is the only option that gets below it, or the one that gets closest.
   */
  | "only-way-below-threshold";

/** The compared options and the decision, as data. */
export interface Weighing {
  /** The first option is to do nothing. */
  readonly options: readonly WeighedOption[];
  /**
   * Number of turns that the comparison covers. The comparison ends at the threshold at the latest, because a
   * rewrite follows there in any case.
   */
  readonly expectedTurns: number;
  readonly chosen: WeighedOption["name"];
  readonly why: WeighedWhy;
}

interface Way extends Omit<Alternative, "name"> {
  readonly name: WeighedOption["name"];
}

/**
 * Computes the cost of each option and chooses the cheapest one that stays below the threshold. Returns
 * undefined if the prices are unknown.
 */
export function weigh(situation: Situation): Weighing | undefined {
  const { contextTokens, thresholdTokens, growthPerTurn, cachedTokens } = situation;
  const isFull = contextTokens >= thresholdTokens;
  const room = turnsOfRoom(thresholdTokens - contextTokens, growthPerTurn);
  const turns = Math.max(1, isFull ? situation.expectedTurns : Math.min(situation.expectedTurns, room));
  const nothing: Way = { name: "nothing", tokensAfter: contextTokens, unchangedTokens: cachedTokens };
  const ways = [nothing, ...situation.alternatives];
  const figures = ways.flatMap((way) => figuresOf(way, turns, situation) ?? []);
  const [first] = figures;
  if (first === undefined || figures.length < ways.length) return undefined;
  const options = figures.map((each) => ({ ...each, breakEvenTurns: breakEven(first, each) }));
  const isSafe = ({ tokensSaved }: WeighedOption): boolean => contextTokens - tokensSaved < thresholdTokens;
  return { options, expectedTurns: turns, ...choose(options, isSafe, isFull) };
}

function choose(
  options: readonly WeighedOption[],
  isSafe: (option: WeighedOption) => boolean,
  isFull: boolean,
): Pick<Weighing, "chosen" | "why"> {
  const safe = options.filter(isSafe);
  const least = (figure: (option: WeighedOption) => number, among: readonly WeighedOption[]): WeighedOption =>
    among.reduce((best, option) => (figure(option) < figure(best) ? option : best));
  if (safe.length === 0) {
    const nearest = least(({ tokensSaved }) => -tokensSaved, options);
    return { chosen: nearest.name, why: "only-way-below-threshold" };
  }
  const { name } = least(({ total }) => total, safe);
  if (!isFull) return { chosen: name, why: "cheapest" };
  return { chosen: name, why: safe.length === 1 ? "only-way-below-threshold" : "cheapest-below-threshold" };
}

/**
 * Computes the cost of one option. If an option frees tokens for fewer turns than expected, it must be
 * repeated. This multiplies its cost.
 */
function figuresOf(
  way: Way,
  turns: number,
  situation: Situation,
): Omit<WeighedOption, "breakEvenTurns"> | undefined {
  const { contextTokens, thresholdTokens, growthPerTurn, model } = situation;
  const prices = pricesOf(model, way.tokensAfter, situation.prices);
  if (prices === undefined) return undefined;
  const tokensSaved = contextTokens - way.tokensAfter;
  const room = Math.max(1, turnsOfRoom(thresholdTokens - way.tokensAfter, growthPerTurn));
  // Doing nothing frees no tokens and cannot be repeated. It only serves as the baseline.
  const times = way.name === "nothing" ? 1 : Math.max(1, turns / room);
  const grown = (growthPerTurn * Math.min(turns, way.name === "nothing" ? turns : room)) / 2;
  const costNow = costOnce(way, tokensSaved, prices, situation);
  const costPerTurn = ((way.tokensAfter + grown) * prices.cacheRead) / PER_MILLION;
  const total = costNow * times + costPerTurn * Math.max(0, turns - times);
  return { name: way.name, costNow, costPerTurn, total, tokensSaved };
}

function costOnce(
  { name, tokensAfter, unchangedTokens, callCost = 0 }: Way,
  tokensSaved: number,
  prices: Prices,
  { cachedTokens, cacheTtl }: Situation,
): number {
  const cached = Math.min(unchangedTokens, cachedTokens);
  const prompt = promptCost({ tokens: tokensAfter, cachedTokens: cached }, prices, cacheTtl);
  const again =
    (REFETCH_SHARE[name] * Math.max(0, tokensSaved) * cacheWritePrice(prices, cacheTtl)) / PER_MILLION;
  return callCost + prompt + again;
}

type Costs = Pick<WeighedOption, "costNow" | "costPerTurn" | "tokensSaved">;

/** Returns the number of calls until break-even. Ignores growth, which costs the same for both options. */
export function breakEven(nothing: Costs, { costNow, costPerTurn }: Costs): number | undefined {
  const extra = costNow - nothing.costNow;
  const saved = nothing.costPerTurn - costPerTurn;
  if (extra <= 0) return saved < 0 ? undefined : 0;
  return saved > 0 ? 1 + Math.ceil(extra / saved) : undefined;
}

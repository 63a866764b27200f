import { type CacheTtl, type Prices, type PriceTable, pricesOf } from "../window/prices.ts";
import { inProportion, type Thresholds } from "../window/thresholds.ts";
import { turnsOfRoom } from "./pace.ts";

/** A conversation whose tokens have prices. */
export interface Priced {
  readonly model: string;
  /** Goes before the table of published prices. */
  readonly prices?: PriceTable | undefined;
  readonly cacheTtl?: CacheTtl | undefined;
}

/** How long providers keep a prefix that nobody reads: by default, and where the longer time was paid for. */
export const CACHE_TTL_MS: Readonly<Record<CacheTtl, number>> = { "5m": 300_000, "1h": 3_600_000 };

export const PER_MILLION = 1_000_000;

const writePrice = (prices: Prices, ttl: CacheTtl | undefined): number =>
  ttl === "1h" ? prices.cacheWrite1h : prices.cacheWrite5m;

/** A prompt of so many tokens, of which the first are in the cache and the rest is written to it. Dollars. */
export function promptCost(
  { tokens, cachedTokens }: { readonly tokens: number; readonly cachedTokens: number },
  prices: Prices,
  ttl: CacheTtl | undefined,
): number {
  const read = Math.min(Math.max(0, cachedTokens), tokens);
  return (read * prices.cacheRead + (tokens - read) * writePrice(prices, ttl)) / PER_MILLION;
}

/** Gain of a rewrite of the conversation, in dollars, with its parts. */
export interface NetSaving {
  /** `saved` less `rewrite` and `call`; below 0 it does not pay over these turns. */
  readonly dollars: number;
  /** For tokens that the expected turns no longer read. */
  readonly saved: number;
  /** For tokens that are written to the cache anew instead of being read from it. */
  readonly rewrite: number;
  /** For calls that wrote a summary. */
  readonly call: number;
  /** Over how many turns. */
  readonly turns: number;
}

export interface Rewrite extends Priced {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Tokens of it that the provider had in its cache; 0 once that has gone cold. */
  readonly cachedTokens: number;
  /** How many tokens, from the first on, are the same as before. */
  readonly unchangedTokens: number;
  readonly callCost: number;
  readonly turns: number;
}

/** Undefined where the prices are not known. */
export function netSaving(rewritten: Rewrite): NetSaving | undefined {
  const { model, tokensBefore, tokensAfter, cachedTokens, unchangedTokens, callCost, turns } = rewritten;
  const prices = pricesOf(model, tokensBefore, rewritten.prices);
  if (prices === undefined) return undefined;
  const read = prices.cacheRead / PER_MILLION;
  const write = writePrice(prices, rewritten.cacheTtl) / PER_MILLION;
  const freed = tokensBefore - tokensAfter;
  const lostOfCache = Math.max(0, Math.min(cachedTokens, tokensAfter) - unchangedTokens);
  // With a cold cache the next call would have written all of it.
  const saved = freed * (read * (turns - 1) + (cachedTokens > 0 ? read : write));
  const rewrite = lostOfCache * (write - read);
  return { dollars: saved - rewrite - callCost, saved, rewrite, call: callCost, turns };
}

export interface Rewriting extends Priced {
  readonly contextTokens: number;
  /** Tokens that would be written to the cache anew. */
  readonly rewrittenTokens: number;
  /** Tokens that could have been cleared, summed over the turns that read it, see `Pace`. */
  readonly carriedTokens: number;
}

/**
 * True if carrying results along has cost as much by now as getting rid of them would: the moment to stop renting and
 * buy. Earlier, the rewrites cost more than they save; later, the reading does. It needs no forecast, and is never
 * worse than twice what somebody would pay who knew the future.
 */
export function carriedPays(rewriting: Rewriting): boolean {
  const { model, contextTokens, rewrittenTokens, carriedTokens } = rewriting;
  const prices = pricesOf(model, contextTokens, rewriting.prices);
  if (prices === undefined) return false;
  const extra = writePrice(prices, rewriting.cacheTtl) - prices.cacheRead;
  return carriedTokens * prices.cacheRead >= rewrittenTokens * extra;
}

/** A summary of nine sections, as models write them. */
const SUMMARY_TOKENS = 6_000;
/** Of what may be put back, usually less than half of it is there. */
const RESTORED_TOKENS = 24_000;

/** Tokens that a compaction leaves, and that the model writes for it, as long as none has shown it. */
export function usualCompaction(
  thresholds: Pick<Thresholds, "size">,
  { overheadTokens, keptTokens }: { readonly overheadTokens: number; readonly keptTokens: number },
): { readonly tokensAfter: number; readonly outputTokens: number } {
  const rest = inProportion(thresholds, SUMMARY_TOKENS + RESTORED_TOKENS);
  return {
    tokensAfter: overheadTokens + keptTokens + rest,
    outputTokens: inProportion(thresholds, SUMMARY_TOKENS),
  };
}

/**
 * Of what is taken out of the context, this share is fetched or found out again. Guesses on the careful side: without
 * them every rewrite would look free of harm. A cleared result is one call away; what a summary left out is more than
 * results, and has to be missed first.
 */
const AGAIN_SHARE: Readonly<Record<WeighedOption["name"], number>> = { nothing: 0, clear: 0.1, compact: 0.2 };

/** Something that could be done with a conversation. */
export interface Alternative {
  readonly name: "clear" | "compact";
  readonly tokensAfter: number;
  /** How many of them, from the first on, stay as the provider has them in its cache. */
  readonly unchangedTokens: number;
  /** Dollars for the call that writes a summary; 0 where none is made. */
  readonly callCost?: number | undefined;
}

/** A conversation before its next call. All sizes in tokens as the provider counts them. */
export interface Situation extends Priced {
  readonly contextTokens: number;
  /** Tokens of it that the provider still has; 0 once the cache has gone cold. */
  readonly cachedTokens: number;
  /** From here on it must be rewritten in any case. */
  readonly thresholdTokens: number;
  readonly growthPerTurn: number;
  /** Calls that will still be made, see `expectedTurns`. */
  readonly expectedTurns: number;
  readonly alternatives: readonly Alternative[];
}

/** One way to go on and what it costs, in dollars. Answers are left out: they cost the same on every way. */
export interface WeighedOption {
  readonly name: "nothing" | Alternative["name"];
  /** The next call's prompt, the call for a summary, and what will have to be fetched again. */
  readonly costNow: number;
  /** The prompt of a usual call after it. */
  readonly costPerTurn: number;
  /** All of it over the expected turns. */
  readonly total: number;
  /** After so many calls it has cost no more than doing nothing; undefined: never. */
  readonly breakEvenTurns: number | undefined;
  readonly tokensSaved: number;
}

export type WeighedWhy =
  /** It costs least over the expected turns. */
  | "cheapest"
  /** The threshold is reached, and this costs least of what gets below it. */
  | "cheapest-below-threshold"
  /** The threshold is reached, and only this gets below it, or nearest to it. */
  | "only-way-below-threshold";

/** A decision as data. */
export interface Weighing {
  /** Doing nothing first. */
  readonly options: readonly WeighedOption[];
  /** How far ahead was looked: no further than to the threshold, where a rewrite comes in any case. */
  readonly expectedTurns: number;
  readonly chosen: WeighedOption["name"];
  readonly why: WeighedWhy;
}

interface Way extends Omit<Alternative, "name"> {
  readonly name: WeighedOption["name"];
}

/** Costs of each way to go on, and the cheapest that is safe. Undefined where the prices are not known. */
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
 * A way that gives room for fewer turns than are expected has to be gone again, as often as it takes: so ways that
 * free little are not taken for cheap.
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
  // Doing nothing at the threshold gives no room, and is no way to go on; it is there to compare with.
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
  const again = (AGAIN_SHARE[name] * Math.max(0, tokensSaved) * writePrice(prices, cacheTtl)) / PER_MILLION;
  return callCost + prompt + again;
}

type Costs = Pick<WeighedOption, "costNow" | "costPerTurn" | "tokensSaved">;

/** Growth costs the same on both ways as long as neither has to be gone again. */
function breakEven(nothing: Costs, { costNow, costPerTurn }: Costs): number | undefined {
  const extra = costNow - nothing.costNow;
  const saved = nothing.costPerTurn - costPerTurn;
  if (extra <= 0) return saved < 0 ? undefined : 0;
  return saved > 0 ? 1 + Math.ceil(extra / saved) : undefined;
}

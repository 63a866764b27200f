import { claudeVersion } from "../../messages/claude-version.ts";
import type { Usage } from "../../messages/entry.ts";
import { isRecord } from "../../messages/untrusted.ts";
import { longestMatch } from "./models.ts";

/** Lifetime of a cache write, which determines its price. */
export type CacheTtl = "5m" | "1h";

/** Prices in dollars per million tokens. */
export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly cacheRead: number;
}

interface PriceRow extends Prices {
  /** `prices` apply to the whole call if the prompt has more than `aboveTokens` tokens. */
  readonly step?: { readonly aboveTokens: number; readonly prices: Prices };
}

/** Price of cache writes and reads relative to plain input. */
const WRITE_5M = 1.25;
const WRITE_1H = 2;
const READ = 0.1;

function prices(input: number, output: number, readShare: number = READ): Prices {
  return {
    input,
    output,
    cacheWrite5m: input * WRITE_5M,
    cacheWrite1h: input * WRITE_1H,
    cacheRead: input * readShare,
  };
}

/**
 * The price table. The key is the exact model line and version, and the value is the prices. A model without
 * published prices therefore does not get the prices of a similar model.
 */
const PRICES: Readonly<Record<string, PriceRow>> = {
  "fable-5.1": prices(10, 50, 0.025),
  "mythos-5.1": prices(10, 50, 0.025),
  "opus-5.5": prices(4, 20, 0.05),
  "sonnet-5.5": prices(2, 10),
  "haiku-5.5": { ...prices(0.1, 0.5), step: { aboveTokens: 100_000, prices: prices(0.5, 2.5) } },
  "fable-5.0": prices(10, 50),
  "mythos-5.0": prices(10, 50),
  "opus-5.0": prices(5, 25),
  "opus-4.8": prices(5, 25),
  "opus-4.7": prices(5, 25),
  "opus-4.6": prices(5, 25),
  "opus-4.5": prices(5, 25),
  "sonnet-5.0": prices(2, 10),
  "sonnet-4.6": prices(3, 15),
  "sonnet-4.5": prices(3, 15),
  "haiku-4.5": prices(1, 5),
};

/**
 * A user's own prices. The key is the name of a model, or whole words of it. The longest match wins, as in
 * the model table.
 */
export type PriceTable = Readonly<Record<string, Prices>>;

/** Returns undefined for a model with unknown prices, because a missing figure is better than a wrong one. */
export function pricesOf(model: string, promptTokens = 0, own: PriceTable = {}): Prices | undefined {
  const given = longestMatch(model, own);
  if (given !== undefined) return own[given];
  const version = claudeVersion(model);
  if (version === undefined) return undefined;
  const row = PRICES[`${version.line}-${version.major}.${version.minor}`];
  return row?.step !== undefined && promptTokens > row.step.aboveTokens ? row.step.prices : row;
}

/** Substitute for a model with unknown prices, so that options can still be compared. */
const USUAL_MODEL = "claude-sonnet-4-5";

/**
 * Returns the model whose prices apply to a session. If this is not the session's own model, the prices are
 * only assumed, and the user should see that.
 */
export const pricedModel = (model: string | undefined, own?: PriceTable): string =>
  model !== undefined && pricesOf(model, 0, own) !== undefined ? model : USUAL_MODEL;

/** Usage with the parts that have separate prices. */
export interface PricedUsage extends Usage {
  readonly cache_creation?: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  } | null;
}

/** Computes the cost of one call in dollars. Cache writes of unknown lifetime count as five-minute writes. */
export function costOf(usage: PricedUsage, model: string, own?: PriceTable): number | undefined {
  const written = usage.cache_creation_input_tokens ?? 0;
  const read = usage.cache_read_input_tokens ?? 0;
  const price = pricesOf(model, usage.input_tokens + written + read, own);
  if (price === undefined) return undefined;
  const written1h = usage.cache_creation?.ephemeral_1h_input_tokens ?? 0;
  const dollars =
    usage.input_tokens * price.input +
    usage.output_tokens * price.output +
    (written - written1h) * price.cacheWrite5m +
    written1h * price.cacheWrite1h +
    read * price.cacheRead;
  return dollars / 1_000_000;
}

/** A user's own prices in dollars per million tokens. */
export interface CustomPrices {
  readonly input: number;
  readonly output: number;
  /** Price of cache reads. Defaults to the input price. */
  readonly cacheRead?: number | undefined;
  readonly cacheWrite5m?: number | undefined;
  readonly cacheWrite1h?: number | undefined;
}

export interface ReadPrices {
  readonly prices: PriceTable;
  /** One sentence for each model whose prices were ignored. */
  readonly warnings: readonly string[];
}

const REQUIRED = ["input", "output"] as const;
const OPTIONAL = ["cacheRead", "cacheWrite5m", "cacheWrite1h"] as const;

/**
 * Reads prices that a user entered in an option or in the settings file. If several sources have the same
 * model, the first source wins.
 */
export function readPrices(...sources: readonly unknown[]): ReadPrices {
  const prices = new Map<string, Prices>();
  const warnings: string[] = [];
  for (const source of sources) {
    if (source === undefined || source === null) continue;
    if (!isRecord(source)) {
      warnings.push("The setting prices is ignored: it must be an object that maps model names to prices.");
      continue;
    }
    for (const [model, given] of Object.entries(source)) {
      const read = readOne(given);
      if (read === undefined) warnings.push(`The prices of ${model} are ignored: ${EXPECTED}.`);
      else if (!prices.has(model)) prices.set(model, read);
    }
  }
  return { prices: Object.fromEntries(prices), warnings };
}

const EXPECTED =
  "they need an input price and an output price in dollars per million tokens. The prices cacheRead, cacheWrite5m and cacheWrite1h are optional";

function readOne(given: unknown): Prices | undefined {
  if (!isRecord(given)) return undefined;
  if (!REQUIRED.every((name) => isPrice(given[name]))) return undefined;
  if (!OPTIONAL.every((name) => given[name] === undefined || isPrice(given[name]))) return undefined;
  const { input, output, cacheRead, cacheWrite5m, cacheWrite1h } = given as unknown as CustomPrices;
  return {
    input,
    output,
    cacheRead: cacheRead ?? input,
    cacheWrite5m: cacheWrite5m ?? input,
    cacheWrite1h: cacheWrite1h ?? cacheWrite5m ?? input,
  };
}

const isPrice = (value: unknown): boolean =>
  typeof value === "number" && Number.isFinite(value) && value >= 0;

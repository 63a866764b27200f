import { isRecord } from "../conversation/untrusted.ts";
import type { Prices, PriceTable } from "./prices.ts";

/** What somebody tells of their own prices: dollars for a million tokens. */
export interface OwnPrices {
  readonly input: number;
  readonly output: number;
  /** As plain input where nothing is said: then nothing is taken for cheaper than it may be. */
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

/** Prices as somebody typed them, in an option or in the settings file; later sources fill what earlier ones leave. */
export function readPrices(...sources: readonly unknown[]): ReadPrices {
  const prices = new Map<string, Prices>();
  const warnings: string[] = [];
  for (const source of sources) {
    if (source === undefined || source === null) continue;
    if (!isRecord(source)) {
      warnings.push("The setting prices is ignored: it must hold prices by the names of models.");
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
  "they must be an input and an output price in dollars for a million tokens, and may have cacheRead, cacheWrite5m and cacheWrite1h";

function readOne(given: unknown): Prices | undefined {
  if (!isRecord(given)) return undefined;
  if (!REQUIRED.every((name) => isPrice(given[name]))) return undefined;
  if (!OPTIONAL.every((name) => given[name] === undefined || isPrice(given[name]))) return undefined;
  const { input, output, cacheRead, cacheWrite5m, cacheWrite1h } = given as unknown as OwnPrices;
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

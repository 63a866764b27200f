import type { TelemetryCounter, TelemetryHistogram, TelemetryMeter } from "./api.ts";
import { METRIC } from "./names.ts";

/** Bounds that the gen_ai conventions advise for tokens: powers of four, to 67 million. */
const TOKEN_BOUNDS: readonly number[] = Array.from({ length: 14 }, (_, power) => 4 ** power);
/** Seconds: doubling as the conventions have it, and on to more than five minutes, since summaries are long. */
const SECOND_BOUNDS: readonly number[] = Array.from({ length: 16 }, (_, power) => 2 ** power / 100);
/** Shares of the threshold: fine where something is about to happen. */
const SHARE_BOUNDS: readonly number[] = [
  0.1, 0.25, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.25, 2,
];

type HistogramName =
  | "tokenUsage"
  | "compactionDuration"
  | "tokensSaved"
  | "contextTokens"
  | "contextUtilisation"
  | "hookDuration";
type CounterName = Exclude<keyof typeof METRIC, HistogramName>;

export type Instruments = Readonly<
  Record<HistogramName, TelemetryHistogram> & Record<CounterName, TelemetryCounter>
>;

export function createInstruments(meter: TelemetryMeter): Instruments {
  const histogram = (
    name: HistogramName,
    unit: string,
    bounds: readonly number[],
    description: string,
  ): TelemetryHistogram =>
    meter.createHistogram(METRIC[name], {
      unit,
      description,
      advice: { explicitBucketBoundaries: [...bounds] },
    });
  const counter = (name: CounterName, unit: string, description: string): TelemetryCounter =>
    meter.createCounter(METRIC[name], { unit, description });
  return {
    tokenUsage: histogram("tokenUsage", "{token}", TOKEN_BOUNDS, "Tokens used by a call for a summary"),
    compactionDuration: histogram("compactionDuration", "s", SECOND_BOUNDS, "How long a compaction took"),
    tokensSaved: histogram("tokensSaved", "{token}", TOKEN_BOUNDS, "What a compaction freed of the window"),
    contextTokens: histogram("contextTokens", "{token}", TOKEN_BOUNDS, "Tokens in the context at each check"),
    contextUtilisation: histogram(
      "contextUtilisation",
      "1",
      SHARE_BOUNDS,
      "Context as share of the threshold",
    ),
    hookDuration: histogram("hookDuration", "s", SECOND_BOUNDS, "How long a hook ran"),
    compactions: counter("compactions", "{compaction}", "Compactions that ended"),
    verdicts: counter("verdicts", "{compaction}", "Compactions judged by the next usage reported"),
    resultsCleared: counter("resultsCleared", "{result}", "Tool results cleared"),
    clearedTokens: counter("clearedTokens", "{token}", "Tokens freed by clearing tool results"),
    cacheBreaks: counter("cacheBreaks", "{break}", "Times the prompt cache was lost"),
    cacheLostTokens: counter("cacheLostTokens", "{token}", "Tokens not read from the cache as expected"),
    breakerOpened: counter("breakerOpened", "{opening}", "Times the circuit breaker opened"),
    breakerClosed: counter("breakerClosed", "{closing}", "Times the circuit breaker closed"),
    recoveries: counter("recoveries", "{recovery}", "Failed calls taken up for recovery"),
    restoredItems: counter("restoredItems", "{item}", "Things to be put back after a compaction"),
    requestRepairs: counter("requestRepairs", "{repair}", "Repairs of requests that broke a rule of the API"),
    events: counter("events", "{event}", "Events by type"),
  };
}

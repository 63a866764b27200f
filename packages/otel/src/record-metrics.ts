import type { CompactorEvent } from "@longhaul/core/engine";
import type { TelemetryAttributes, TelemetryCounter, TelemetryHistogram, TelemetryMeter } from "./api.ts";
import { billedCalls, type CompactionEnd, type EventOf, outcomeAttributes } from "./compaction-end.ts";
import { countByKind, hookAttributes } from "./compaction-spans.ts";
import { ATTRIBUTE, CALL_OPERATION, count, label, METRIC, modelLabel } from "./names.ts";

const MS_PER_SECOND = 1_000;

interface MetricsRecorder {
  record(event: CompactorEvent): void;
  /** Records a compaction that never ended. */
  recordAbandoned(started: EventOf<"compaction-started">): void;
}

/**
 * Creates a recorder that turns events into metrics.
 * @param common attributes of every summary call. They contain no ids, because each id would create a new
 * time series.
 */
export function recordMetrics(meter: TelemetryMeter, common: TelemetryAttributes): MetricsRecorder {
  const instruments = createInstruments(meter);
  return {
    record: (event) => recordEvent(event, instruments, common),
    recordAbandoned: ({ trigger }) =>
      instruments.compactions.add(1, {
        [ATTRIBUTE.trigger]: trigger,
        [ATTRIBUTE.outcome]: "abandoned",
        [ATTRIBUTE.errorType]: "abandoned",
      }),
  };
}

function recordEvent(event: CompactorEvent, to: Instruments, common: TelemetryAttributes): void {
  to.events.add(1, { [ATTRIBUTE.eventType]: label(event.type) });
  (RECORDERS[event.type] as Recorder | undefined)?.(event, to, common);
}

type Recorder<E = CompactorEvent> = (event: E, to: Instruments, common: TelemetryAttributes) => void;

/** Recorders of measurements for some types of events. Events of all other types are only counted. */
const RECORDERS: { readonly [T in CompactorEvent["type"]]?: Recorder<EventOf<T>> } = {
  "window-checked": (event, to) => {
    const attributes = { [ATTRIBUTE.decision]: event.decision, [ATTRIBUTE.tokenSource]: event.source };
    to.contextTokens.record(count(event.tokens), attributes);
    const share = count(event.tokens / event.threshold);
    if (share > 0) to.contextUtilization.record(share);
  },
  "results-cleared": (event, to) => {
    const attributes = { [ATTRIBUTE.clearingForm]: event.form };
    to.resultsCleared.add(count(event.results), attributes);
    to.clearedTokens.add(count(event.tokensBefore - event.tokensAfter), attributes);
  },
  compacted: recordCompaction,
  "compaction-failed": recordCompaction,
  "compaction-judged": ({ verdict }, to) => to.verdicts.add(1, { [ATTRIBUTE.verdict]: verdict }),
  "hook-ended": (event, to) =>
    to.hookDuration.record(count(event.durationMs) / MS_PER_SECOND, hookAttributes(event)),
  restored: ({ items, skipped }, to) => {
    for (const [outcome, those] of Object.entries({ restored: items, skipped })) {
      for (const [kind, number] of countByKind(those)) {
        to.restoredItems.add(number, { [ATTRIBUTE.restoreKind]: kind, [ATTRIBUTE.outcome]: outcome });
      }
    }
  },
  "breaker-opened": ({ why }, to) => to.breakerOpened.add(1, { [ATTRIBUTE.breakerWhy]: why }),
  "breaker-closed": ({ why }, to) => to.breakerClosed.add(1, { [ATTRIBUTE.breakerWhy]: why }),
  "cache-break": (event, to) => {
    to.cacheBreaks.add(1);
    to.cacheLostTokens.add(count(event.expected - event.after));
  },
  recovered: recordRecovery,
  "recovery-failed": recordRecovery,
  "request-repaired": ({ rules }, to) => {
    for (const [rule, times] of Object.entries(rules)) {
      to.requestRepairs.add(count(times), { [ATTRIBUTE.rule]: label(rule) });
    }
  },
};

function recordCompaction(event: CompactionEnd, to: Instruments, common: TelemetryAttributes): void {
  for (const { model, tokens } of billedCalls(event)) {
    const attributes = {
      ...common,
      [ATTRIBUTE.operation]: CALL_OPERATION,
      [ATTRIBUTE.requestModel]: modelLabel(model),
    };
    to.tokenUsage.record(tokens.input, { ...attributes, [ATTRIBUTE.tokenType]: "input" });
    to.tokenUsage.record(tokens.output, { ...attributes, [ATTRIBUTE.tokenType]: "output" });
  }
  const trigger = { [ATTRIBUTE.trigger]: event.trigger };
  const attributes = { ...trigger, ...outcomeAttributes(event) };
  to.compactions.add(1, attributes);
  to.compactionDuration.record(count(event.durationMs) / MS_PER_SECOND, attributes);
  if (event.type !== "compacted") return;
  const saved = count(event.tokensBefore - event.tokensAfter);
  to.tokensSaved.record(saved, { ...trigger, [ATTRIBUTE.tier]: event.tier });
}

function recordRecovery(event: EventOf<"recovered" | "recovery-failed">, to: Instruments): void {
  to.recoveries.add(1, {
    [ATTRIBUTE.recoveredFrom]: label(event.from),
    [ATTRIBUTE.outcome]: event.type === "recovered" ? "recovered" : "failed",
    ...(event.type === "recovered" ? {} : { [ATTRIBUTE.errorType]: label(event.code) }),
  });
}

/** Token bounds that the gen_ai conventions recommend: powers of four, up to 67 million. */
const TOKEN_BOUNDS: readonly number[] = Array.from({ length: 14 }, (_, power) => 4 ** power);
/**
 * Bounds in seconds. Each bound is twice the previous one, as in the conventions. The last bound is above
 * five minutes, because summaries take long.
 */
const SECOND_BOUNDS: readonly number[] = Array.from({ length: 16 }, (_, power) => 2 ** power / 100);
/** Fractions of the threshold. They are closer together around the point where the engine acts. */
const SHARE_BOUNDS: readonly number[] = [
  0.1, 0.25, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.25, 2,
];

type Instruments = ReturnType<typeof createInstruments>;

function createInstruments(meter: TelemetryMeter) {
  const histogram =
    (unit: string, bounds: readonly number[]) =>
    (name: string, description: string): TelemetryHistogram =>
      meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: [...bounds] } });
  const tokens = histogram("{token}", TOKEN_BOUNDS);
  const seconds = histogram("s", SECOND_BOUNDS);
  const shares = histogram("1", SHARE_BOUNDS);
  const counter = (name: string, unit: string, description: string): TelemetryCounter =>
    meter.createCounter(name, { unit, description });
  return {
    tokenUsage: tokens(METRIC.tokenUsage, "Tokens used by a summary call"),
    compactionDuration: seconds(METRIC.compactionDuration, "Duration of a compaction"),
    tokensSaved: tokens(METRIC.tokensSaved, "Tokens freed by a compaction"),
    contextTokens: tokens(METRIC.contextTokens, "Tokens in the context at each check"),
    contextUtilization: shares(METRIC.contextUtilization, "Context size as a fraction of the threshold"),
    hookDuration: seconds(METRIC.hookDuration, "Duration of a hook run"),
    compactions: counter(METRIC.compactions, "{compaction}", "Finished compactions, successful or not"),
    verdicts: counter(
      METRIC.verdicts,
      "{compaction}",
      "Compactions checked for effect against the next reported usage",
    ),
    resultsCleared: counter(METRIC.resultsCleared, "{result}", "Cleared tool results"),
    clearedTokens: counter(METRIC.clearedTokens, "{token}", "Tokens freed by clearing tool results"),
    cacheBreaks: counter(METRIC.cacheBreaks, "{break}", "Unexpected losses of the prompt cache"),
    cacheLostTokens: counter(
      METRIC.cacheLostTokens,
      "{token}",
      "Tokens expected from the cache but not read from it",
    ),
    breakerOpened: counter(METRIC.breakerOpened, "{opening}", "Times the circuit breaker opened"),
    breakerClosed: counter(METRIC.breakerClosed, "{closing}", "Times the circuit breaker closed"),
    recoveries: counter(METRIC.recoveries, "{recovery}", "Recovery attempts after failed calls"),
    restoredItems: counter(METRIC.restoredItems, "{item}", "Items restored or skipped after a compaction"),
    requestRepairs: counter(METRIC.requestRepairs, "{repair}", "Repairs of requests that broke an API rule"),
    events: counter(METRIC.events, "{event}", "Events by type"),
  };
}

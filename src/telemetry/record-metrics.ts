import type { CompactorEvent } from "../turn/events.ts";
import type { TelemetryAttributes } from "./api.ts";
import { billedCalls } from "./billed-tokens.ts";
import { type CompactionEnd, type EventOf, isError } from "./event-of.ts";
import type { Instruments } from "./instruments.ts";
import { ATTRIBUTE, CALL_OPERATION, count, label, modelLabel } from "./names.ts";
import { countByKind, hookAttributes } from "./span-attributes.ts";

const MS_PER_SECOND = 1_000;

/** No ids here: each would make a time series of its own. `common` is what every call for a summary has. */
export function recordMetrics(event: CompactorEvent, to: Instruments, common: TelemetryAttributes): void {
  to.events.add(1, { [ATTRIBUTE.eventType]: label(event.type) });
  switch (event.type) {
    case "window-checked":
      recordWindow(event, to);
      break;
    case "results-cleared":
      to.resultsCleared.add(count(event.results), { [ATTRIBUTE.clearingForm]: event.form });
      to.clearedTokens.add(count(event.tokensBefore - event.tokensAfter), {
        [ATTRIBUTE.clearingForm]: event.form,
      });
      break;
    case "compacted":
    case "compaction-failed":
      recordTokenUsage(event, to, common);
      recordCompaction(event, to);
      break;
    case "compaction-judged":
      to.verdicts.add(1, { [ATTRIBUTE.verdict]: event.verdict });
      break;
    case "hook-ended":
      to.hookDuration.record(count(event.durationMs) / MS_PER_SECOND, hookAttributes(event));
      break;
    case "restored":
      recordRestored(event, to);
      break;
    case "breaker-opened":
      to.breakerOpened.add(1, { [ATTRIBUTE.breakerWhy]: event.why });
      break;
    case "breaker-closed":
      to.breakerClosed.add(1, { [ATTRIBUTE.breakerWhy]: event.why });
      break;
    case "cache-break":
      to.cacheBreaks.add(1);
      to.cacheLostTokens.add(count(event.expected - event.after));
      break;
    case "recovered":
    case "recovery-failed":
      recordRecovery(event, to);
      break;
    case "request-repaired":
      recordRepairs(event, to);
  }
}

function recordWindow(event: EventOf<"window-checked">, to: Instruments): void {
  const attributes = { [ATTRIBUTE.decision]: event.decision, [ATTRIBUTE.tokenSource]: event.source };
  to.contextTokens.record(count(event.tokens), attributes);
  const share = count(event.tokens / event.threshold);
  if (share > 0) to.contextUtilisation.record(share);
}

function recordTokenUsage(event: CompactionEnd, to: Instruments, common: TelemetryAttributes): void {
  for (const { model, tokens } of billedCalls(
    event.attempts,
    event.type === "compacted" ? event.usage : undefined,
  )) {
    const attributes = {
      ...common,
      [ATTRIBUTE.operation]: CALL_OPERATION,
      [ATTRIBUTE.requestModel]: modelLabel(model),
    };
    to.tokenUsage.record(tokens.input, { ...attributes, [ATTRIBUTE.tokenType]: "input" });
    to.tokenUsage.record(tokens.output, { ...attributes, [ATTRIBUTE.tokenType]: "output" });
  }
}

function recordCompaction(event: CompactionEnd, to: Instruments): void {
  const trigger = { [ATTRIBUTE.trigger]: event.trigger };
  const attributes: TelemetryAttributes =
    event.type === "compacted"
      ? { ...trigger, [ATTRIBUTE.outcome]: "compacted", [ATTRIBUTE.tier]: event.tier }
      : {
          ...trigger,
          [ATTRIBUTE.outcome]: "failed",
          [ATTRIBUTE.reason]: event.reason,
          ...(isError(event) ? { [ATTRIBUTE.errorType]: label(event.code) } : {}),
        };
  to.compactions.add(1, attributes);
  to.compactionDuration.record(count(event.durationMs) / MS_PER_SECOND, attributes);
  if (event.type !== "compacted") return;
  const saved = count(event.tokensBefore - event.tokensAfter);
  to.tokensSaved.record(saved, { ...trigger, [ATTRIBUTE.tier]: event.tier });
}

function recordRestored({ items, skipped }: EventOf<"restored">, to: Instruments): void {
  for (const [kind, number] of countByKind(items)) {
    to.restoredItems.add(number, { [ATTRIBUTE.restoreKind]: kind, [ATTRIBUTE.outcome]: "restored" });
  }
  for (const [kind, number] of countByKind(skipped)) {
    to.restoredItems.add(number, { [ATTRIBUTE.restoreKind]: kind, [ATTRIBUTE.outcome]: "skipped" });
  }
}

function recordRecovery(event: EventOf<"recovered" | "recovery-failed">, to: Instruments): void {
  to.recoveries.add(1, {
    [ATTRIBUTE.recoveredFrom]: label(event.from),
    [ATTRIBUTE.outcome]: event.type === "recovered" ? "recovered" : "failed",
    ...(event.type === "recovered" ? {} : { [ATTRIBUTE.errorType]: label(event.code) }),
  });
}

function recordRepairs({ rules }: EventOf<"request-repaired">, to: Instruments): void {
  for (const [rule, times] of Object.entries(rules)) {
    to.requestRepairs.add(count(times), { [ATTRIBUTE.rule]: label(rule) });
  }
}

/** A compaction of which no end came. */
export function recordAbandoned({ trigger }: EventOf<"compaction-started">, to: Instruments): void {
  to.compactions.add(1, {
    [ATTRIBUTE.trigger]: trigger,
    [ATTRIBUTE.outcome]: "abandoned",
    [ATTRIBUTE.errorType]: "abandoned",
  });
}

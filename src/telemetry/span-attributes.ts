import type { SummaryAttempt } from "../summary/sources.ts";
import type { CompactorEvent } from "../turn/events.ts";
import type { TelemetryAttributes } from "./api.ts";
import { billedCalls, sumOf } from "./billed-tokens.ts";
import { type CompactionEnd, type EventOf, isError } from "./event-of.ts";
import { ATTRIBUTE, COMPACTION_OPERATION, label } from "./names.ts";

export function startAttributes(event: EventOf<"compaction-started"> | CompactionEnd): TelemetryAttributes {
  return {
    [ATTRIBUTE.operation]: COMPACTION_OPERATION,
    [ATTRIBUTE.agentId]: event.agentId,
    [ATTRIBUTE.turnId]: event.turnId,
    [ATTRIBUTE.trigger]: event.trigger,
    ...(event.type === "compaction-started" ? { [ATTRIBUTE.tokensBefore]: event.tokens } : {}),
  };
}

export function endAttributes(event: CompactionEnd): TelemetryAttributes {
  return {
    ...(event.type === "compacted" ? successAttributes(event) : failureAttributes(event)),
    ...usageAttributes(event),
    ...summaryAttributes(event.attempts),
  };
}

function successAttributes(event: EventOf<"compacted">): TelemetryAttributes {
  const { chain } = event;
  return {
    [ATTRIBUTE.outcome]: "compacted",
    [ATTRIBUTE.isCompacted]: true,
    [ATTRIBUTE.tier]: event.tier,
    [ATTRIBUTE.tokensBefore]: event.tokensBefore,
    [ATTRIBUTE.tokensAfter]: event.tokensAfter,
    [ATTRIBUTE.messagesSummarised]: event.messagesSummarised,
    [ATTRIBUTE.messagesKept]: event.messagesKept,
    [ATTRIBUTE.isAboveThreshold]: event.isAboveThreshold,
    [ATTRIBUTE.threshold]: chain.threshold,
    [ATTRIBUTE.caller]: label(chain.caller),
    [ATTRIBUTE.isInChain]: chain.isInChain,
    [ATTRIBUTE.turnsSincePrevious]: chain.turnsSincePrevious,
    [ATTRIBUTE.previousTurnId]: chain.previousTurnId,
  };
}

function failureAttributes(event: EventOf<"compaction-failed">): TelemetryAttributes {
  return {
    [ATTRIBUTE.outcome]: "failed",
    [ATTRIBUTE.reason]: event.reason,
    ...(isError(event) ? { [ATTRIBUTE.errorType]: label(event.code) } : {}),
  };
}

/** Nothing where no model was asked: 0 would say that the provider reported it. */
function usageAttributes(event: CompactionEnd): TelemetryAttributes {
  const calls = billedCalls(event.attempts, event.type === "compacted" ? event.usage : undefined);
  if (calls.length === 0) return {};
  const { input, output, cacheRead, cacheCreation } = sumOf(calls);
  return {
    [ATTRIBUTE.inputTokens]: input,
    [ATTRIBUTE.outputTokens]: output,
    [ATTRIBUTE.cacheReadTokens]: cacheRead,
    [ATTRIBUTE.cacheCreationTokens]: cacheCreation,
  };
}

function summaryAttributes(attempts: readonly SummaryAttempt[]): TelemetryAttributes {
  if (attempts.length === 0) return {};
  return {
    [ATTRIBUTE.summarySteps]: attempts.map(({ step, outcome }) => `${step}:${outcome}`),
    [ATTRIBUTE.summaryCuts]: attempts.reduce((sum, { cuts }) => sum + cuts, 0),
  };
}

/** What is worth a mark on the span of the compaction in which it happened. */
export function spanEvent(event: CompactorEvent): TelemetryAttributes | undefined {
  switch (event.type) {
    case "prompt-too-long-retried":
      return {
        [ATTRIBUTE.attempt]: event.attempt,
        [ATTRIBUTE.droppedRounds]: event.droppedRounds,
        [ATTRIBUTE.roundsLeft]: event.roundsLeft,
      };
    case "hook-ended":
      return { ...hookAttributes(event), [ATTRIBUTE.durationMs]: event.durationMs };
    case "restored":
      return {
        [ATTRIBUTE.restoredKinds]: kindsOf(event.items),
        [ATTRIBUTE.skippedKinds]: kindsOf(event.skipped),
        [ATTRIBUTE.restoredTokens]: event.items.reduce((sum, { tokens }) => sum + tokens, 0),
      };
    default:
      return undefined;
  }
}

export const hookAttributes = (event: EventOf<"hook-ended">): TelemetryAttributes => ({
  [ATTRIBUTE.hookEvent]: label(event.event),
  [ATTRIBUTE.hookKind]: label(event.kind),
  [ATTRIBUTE.hookState]: label(event.state),
});

/** `files=3`, …: names are paths, and stay here. */
const kindsOf = (items: readonly { readonly kind: string }[]): string[] =>
  [...countByKind(items)].map(([kind, number]) => `${kind}=${number}`);

export function countByKind<K extends string>(
  items: readonly { readonly kind: K }[],
): ReadonlyMap<K, number> {
  const counts = new Map<K, number>();
  for (const { kind } of items) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

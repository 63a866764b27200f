import type { SummaryAttempt } from "@longhaul/core/compaction";
import type { CompactorEvent } from "@longhaul/core/engine";
import type { TelemetryAttributes, TelemetrySpan, TelemetryTracer } from "./api.ts";
import {
  billedCalls,
  type CompactionEnd,
  type EventOf,
  isError,
  modelOf,
  outcomeAttributes,
  sumOf,
} from "./compaction-end.ts";
import { ATTRIBUTE, COMPACTION_OPERATION, label, modelLabel } from "./names.ts";

/**
 * Limit for open spans, about one megabyte. No process runs this many compactions at once. If there are more
 * open spans, they belong to compactions that never ended.
 */
export const MAX_OPEN_SPANS = 1_000;

/**
 * `ERROR` among OpenTelemetry's status codes. The enum of status codes is a runtime value, which this file
 * must not import.
 */
const STATUS_ERROR = 2;

interface SpanOptions {
  readonly tracer: TelemetryTracer;
  /** Attributes of every span. */
  readonly attributes: TelemetryAttributes;
  /** Called when the bridge gives up waiting for the end of a compaction. */
  readonly onAbandoned: (started: EventOf<"compaction-started">) => void;
}

interface OpenSpan {
  readonly span: TelemetrySpan;
  readonly started: EventOf<"compaction-started">;
}

/**
 * Opens one span per compaction. The agent and the turn together identify a compaction, because subagents
 * compact at the same time.
 */
export function trackCompactions(options: SpanOptions): (event: CompactorEvent) => void {
  const openSpans = new Map<string, OpenSpan>();

  const startSpan = (event: EventOf<"compaction-started"> | CompactionEnd): TelemetrySpan =>
    options.tracer.startSpan(COMPACTION_OPERATION, {
      attributes: { ...options.attributes, ...startAttributes(event) },
    });

  function start(key: string, started: EventOf<"compaction-started">): void {
    const unfinished = openSpans.get(key);
    if (unfinished !== undefined) abandon(key, unfinished);
    openSpans.set(key, { span: startSpan(started), started });
    if (openSpans.size <= MAX_OPEN_SPANS) return;
    const [oldest] = openSpans;
    if (oldest !== undefined) abandon(...oldest);
  }

  function abandon(key: string, { span, started }: OpenSpan): void {
    openSpans.delete(key);
    span.setAttributes({ [ATTRIBUTE.outcome]: "abandoned", [ATTRIBUTE.errorType]: "abandoned" });
    span.setStatus({ code: STATUS_ERROR });
    span.end();
    options.onAbandoned(started);
  }

  function finish(key: string, event: CompactionEnd): void {
    // There may be no start event, because the conversation had too few messages or the bridge was attached
    // late. In that case, the trace shows a span of zero length.
    const span = openSpans.get(key)?.span ?? startSpan(event);
    openSpans.delete(key);
    const model = modelLabel(modelOf(event.attempts));
    if (model !== undefined) {
      span.updateName(`${COMPACTION_OPERATION} ${model}`);
      span.setAttributes({ [ATTRIBUTE.requestModel]: model });
    }
    span.setAttributes(endAttributes(event));
    if (isError(event)) span.setStatus({ code: STATUS_ERROR });
    span.end();
  }

  return (event) => {
    const key = JSON.stringify([event.agentId, event.turnId]);
    if (event.type === "compaction-started") return start(key, event);
    if (event.type === "compacted" || event.type === "compaction-failed") return finish(key, event);
    const open = openSpans.get(key);
    const attributes = open && spanEvent(event);
    if (attributes !== undefined) open?.span.addEvent(`longhaul.${event.type}`, attributes);
  };
}

function startAttributes(event: EventOf<"compaction-started"> | CompactionEnd): TelemetryAttributes {
  return {
    [ATTRIBUTE.operation]: COMPACTION_OPERATION,
    [ATTRIBUTE.agentId]: event.agentId,
    [ATTRIBUTE.turnId]: event.turnId,
    [ATTRIBUTE.trigger]: event.trigger,
    ...(event.type === "compaction-started" ? { [ATTRIBUTE.tokensBefore]: event.tokens } : {}),
  };
}

function endAttributes(event: CompactionEnd): TelemetryAttributes {
  return {
    ...outcomeAttributes(event),
    ...(event.type === "compacted" ? successAttributes(event) : {}),
    ...usageAttributes(event),
    ...summaryAttributes(event.attempts),
  };
}

function successAttributes(event: EventOf<"compacted">): TelemetryAttributes {
  const { chain } = event;
  return {
    [ATTRIBUTE.isCompacted]: true,
    [ATTRIBUTE.tokensBefore]: event.tokensBefore,
    [ATTRIBUTE.tokensAfter]: event.tokensAfter,
    [ATTRIBUTE.messagesSummarized]: event.messagesSummarized,
    [ATTRIBUTE.messagesKept]: event.messagesKept,
    [ATTRIBUTE.isAboveThreshold]: event.isAboveThreshold,
    [ATTRIBUTE.threshold]: chain.threshold,
    [ATTRIBUTE.caller]: label(chain.caller),
    [ATTRIBUTE.isInChain]: chain.isInChain,
    [ATTRIBUTE.turnsSincePrevious]: chain.turnsSincePrevious,
    [ATTRIBUTE.previousTurnId]: chain.previousTurnId,
  };
}

/**
 * Returns the attributes for the usage of a compaction. If no model was called, returns none, because 0 would
 * mean that the provider reported 0 tokens.
 */
function usageAttributes(event: CompactionEnd): TelemetryAttributes {
  const calls = billedCalls(event);
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

/** Returns the attributes of an event that is added to the span of its compaction. */
function spanEvent(event: CompactorEvent): TelemetryAttributes | undefined {
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

/**
 * Lists counts such as `files=3`. Leaves out the names, because they are paths and must not leave the
 * process.
 */
const kindsOf = (items: readonly { readonly kind: string }[]): string[] =>
  [...countByKind(items)].map(([kind, number]) => `${kind}=${number}`);

export function countByKind<K extends string>(
  items: readonly { readonly kind: K }[],
): ReadonlyMap<K, number> {
  const counts = new Map<K, number>();
  for (const { kind } of items) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

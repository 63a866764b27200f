import type { CompactorEvent } from "../turn/events.ts";
import type { TelemetryAttributes, TelemetrySpan, TelemetryTracer } from "./api.ts";
import { modelOf } from "./billed-tokens.ts";
import { type CompactionEnd, type EventOf, isError } from "./event-of.ts";
import { ATTRIBUTE, COMPACTION_OPERATION, modelLabel } from "./names.ts";
import { endAttributes, spanEvent, startAttributes } from "./span-attributes.ts";

/**
 * How many spans may be open: about a megabyte of them. No process has as many compactions under way; what
 * is beyond was started and never ended.
 */
export const MAX_OPEN_SPANS = 1_000;

/** `ERROR` of OpenTelemetry's status codes. Its enumeration is a value, and nothing is imported here. */
const STATUS_ERROR = 2;

export interface SpanOptions {
  readonly tracer: TelemetryTracer;
  /** What every span has. */
  readonly attributes: TelemetryAttributes;
  /** No end came of this compaction, and none will be waited for any longer. */
  readonly onAbandoned: (started: EventOf<"compaction-started">) => void;
}

interface OpenSpan {
  readonly span: TelemetrySpan;
  readonly started: EventOf<"compaction-started">;
}

/** One span for each compaction, by agent and turn: those of subagents run beside each other. */
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
    // Without a start (too few messages, a bridge that came late) it still shows in the trace, as a moment.
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

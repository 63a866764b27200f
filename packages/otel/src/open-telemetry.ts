import type { CompactorEvent } from "@longhaul/core/engine";
import { isMissingPackage } from "@longhaul/core/internal/models";
import type { OpenTelemetryApi, TelemetryAttributes } from "./api.ts";
import { trackCompactions } from "./compaction-spans.ts";
import { ATTRIBUTE, SCOPE } from "./names.ts";
import { recordMetrics } from "./record-metrics.ts";

export interface TelemetryOptions {
  /** The company that runs the model, as the gen_ai conventions name it: `anthropic`, `openai`, `aws.bedrock`, … */
  readonly provider?: string | undefined;
  /** The id of the session, on every span. */
  readonly conversationId?: string | undefined;
}

export interface OpenTelemetryOptions extends TelemetryOptions {
  /** The module `@opentelemetry/api`. */
  readonly api: OpenTelemetryApi;
}

export interface LoadOptions extends TelemetryOptions {
  /** Loads the module; for tests, and for bundles that bring it under another name. */
  readonly loadApi?: (() => Promise<unknown>) | undefined;
}

const PACKAGE = "@opentelemetry/api";

/**
 * Turns events into spans and metrics, for `host.onEvent`. One bridge serves a conversation with all its
 * subagents. What it hands on is listed in docs/events.md: no content, and no names of files.
 */
export function openTelemetry(options: OpenTelemetryOptions): (event: CompactorEvent) => void {
  const { api } = options;
  const common: TelemetryAttributes = { [ATTRIBUTE.provider]: options.provider };
  let bridge: ((event: CompactorEvent) => void) | undefined;
  return (event) => {
    // Not before the first event: a meter that is asked for before an SDK is registered stays dead for ever.
    bridge ??= connect(api, common, { ...common, [ATTRIBUTE.conversationId]: options.conversationId });
    bridge(event);
  };
}

function connect(
  api: OpenTelemetryApi,
  common: TelemetryAttributes,
  ofSpans: TelemetryAttributes,
): (event: CompactorEvent) => void {
  const { record, recordAbandoned } = recordMetrics(api.metrics.getMeter(SCOPE), common);
  const track = trackCompactions({
    tracer: api.trace.getTracer(SCOPE),
    attributes: ofSpans,
    onAbandoned: recordAbandoned,
  });
  return (event) => {
    track(event);
    record(event);
  };
}

/**
 * The bridge, where `@opentelemetry/api` is installed; undefined where it is not. Nothing is loaded before
 * this is called.
 */
export async function loadOpenTelemetry(
  options: LoadOptions = {},
): Promise<((event: CompactorEvent) => void) | undefined> {
  const load = options.loadApi ?? (() => import("@opentelemetry/api"));
  try {
    return openTelemetry({ ...options, api: (await load()) as OpenTelemetryApi });
  } catch (cause) {
    if (isMissingPackage(cause, PACKAGE)) return undefined;
    throw cause;
  }
}

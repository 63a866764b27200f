import type { CompactorEvent } from "@longhaul/core/engine";
import { isMissingPackage } from "@longhaul/core/internal/models";
import type { OpenTelemetryApi, TelemetryAttributes } from "./api.ts";
import { trackCompactions } from "./compaction-spans.ts";
import { ATTRIBUTE, SCOPE } from "./names.ts";
import { recordMetrics } from "./record-metrics.ts";

export interface TelemetryOptions {
  /**
   * Company that runs the model, as named by the gen_ai conventions: `anthropic`, `openai`, `aws.bedrock`, …
   */
  readonly provider?: string | undefined;
  /** Session id, added to every span. */
  readonly conversationId?: string | undefined;
}

export interface OpenTelemetryOptions extends TelemetryOptions {
  /** The module `@opentelemetry/api`. */
  readonly api: OpenTelemetryApi;
}

export interface LoadOptions extends TelemetryOptions {
  /** Loads the module. For tests, and for bundles that contain it under another name. */
  readonly loadApi?: (() => Promise<unknown>) | undefined;
}

const PACKAGE = "@opentelemetry/api";

/**
 * Turns events into spans and metrics. Pass the result to `host.onEvent`. One bridge serves a conversation
 * with all its subagents. docs/events.md lists everything that the bridge exports. It exports no content and
 * no file names.
 */
export function openTelemetry(options: OpenTelemetryOptions): (event: CompactorEvent) => void {
  const { api } = options;
  const common: TelemetryAttributes = { [ATTRIBUTE.provider]: options.provider };
  let bridge: ((event: CompactorEvent) => void) | undefined;
  return (event) => {
    // Creates the bridge only at the first event. If a meter is created before an SDK is registered, it never
    // reports anything.
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
 * Imports a package that may be absent. The specifier is a parameter on purpose: a bundler resolves a literal
 * one at build time, and the build would fail in a project without the package. The comments ask webpack and
 * Vite not to report the unknown specifier.
 */
const importOptional = (specifier: string): Promise<unknown> =>
  import(/* webpackIgnore: true */ /* @vite-ignore */ specifier);

/**
 * Creates the bridge if `@opentelemetry/api` is installed. Otherwise returns undefined. Nothing is loaded
 * before you call this function.
 */
export async function loadOpenTelemetry(
  options: LoadOptions = {},
): Promise<((event: CompactorEvent) => void) | undefined> {
  const load = options.loadApi ?? (() => importOptional(PACKAGE));
  try {
    return openTelemetry({ ...options, api: (await load()) as OpenTelemetryApi });
  } catch (cause) {
    if (isMissingPackage(cause, PACKAGE)) return undefined;
    throw cause;
  }
}

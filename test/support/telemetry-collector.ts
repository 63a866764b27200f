import type { OpenTelemetryApi } from "@longhaul/otel";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";

export interface Collected {
  readonly spans: readonly ReadableSpan[];
  readonly metrics: readonly MetricData[];
}

export interface Collector {
  readonly api: OpenTelemetryApi;
  /** Stops collecting and returns everything that was collected. Call it once. */
  collect(): Promise<Collected>;
}

/** Creates the real SDK with a collector in memory. */
export function collector(): Collector {
  const exporter = new InMemorySpanExporter();
  const trace = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const reader = new PeriodicExportingMetricReader({
    exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
  });
  const metrics = new MeterProvider({ readers: [reader] });
  return {
    api: { trace, metrics },
    collect: async () => {
      const { resourceMetrics } = await reader.collect();
      const spans = exporter.getFinishedSpans();
      await Promise.all([trace.shutdown(), metrics.shutdown()]);
      return { spans, metrics: resourceMetrics.scopeMetrics.flatMap(({ metrics: found }) => found) };
    },
  };
}

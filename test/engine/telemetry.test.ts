import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { describe, expect, it } from "vitest";
import { ATTRIBUTE, METRIC } from "../../src/telemetry/names.ts";
import { openTelemetry } from "../../src/telemetry/open-telemetry.ts";
import { hasCompacted, openScene, workUntil } from "./scene.case.ts";

describe("the engine's own events as telemetry", () => {
  it("are a span for each compaction and the figures of the run, without a word of the conversation", async () => {
    const exporter = new InMemorySpanExporter();
    const trace = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const reader = new PeriodicExportingMetricReader({
      exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
    });
    const metrics = new MeterProvider({ readers: [reader] });
    const scene = await openScene();
    const loop = scene.loop({
      host: { onEvent: openTelemetry({ api: { trace, metrics }, provider: "anthropic" }) },
    });
    expect(await workUntil(loop, hasCompacted(loop, 2))).toBe(true);
    await scene.simulator.close();

    const { resourceMetrics } = await reader.collect();
    const spans = exporter.getFinishedSpans();
    const compacted = loop.eventsOf("compacted");
    expect(spans.map(({ attributes }) => attributes[ATTRIBUTE.tokensAfter])).toEqual(
      compacted.map(({ tokensAfter }) => tokensAfter),
    );
    const figures = resourceMetrics.scopeMetrics.flatMap(({ metrics: found }) => found);
    const counted = figures.find(({ descriptor }) => descriptor.name === METRIC.compactions);
    expect(counted?.dataPoints.reduce((sum, { value }) => sum + Number(value), 0)).toBe(compacted.length);
    const told = JSON.stringify([
      spans.map(({ name, attributes, events }) => [name, attributes, events]),
      figures,
    ]);
    for (const token of loop.said) expect(told).not.toContain(token);
    await Promise.all([trace.shutdown(), metrics.shutdown()]);
  });
});

import * as api from "@opentelemetry/api";
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
import { afterEach, describe, expect, it, vi } from "vitest";
import { compacted, started } from "./events.case.ts";
import { loadOpenTelemetry, openTelemetry } from "./open-telemetry.ts";

afterEach(() => {
  api.trace.disable();
  api.metrics.disable();
});

const missing = (name: string): Error =>
  Object.assign(new Error(`Cannot find package '${name}' imported from index.js`), {
    code: "ERR_MODULE_NOT_FOUND",
  });

describe("loadOpenTelemetry", () => {
  it("loadOpenTelemetry returns undefined when @opentelemetry/api is not installed", async () => {
    expect(
      await loadOpenTelemetry({ loadApi: () => Promise.reject(missing("@opentelemetry/api")) }),
    ).toBeUndefined();
  });

  it("loadOpenTelemetry fails when @opentelemetry/api is installed but cannot be loaded", async () => {
    const broken = missing("something-else");
    await expect(loadOpenTelemetry({ loadApi: () => Promise.reject(broken) })).rejects.toBe(broken);
  });

  it("loads the installed @opentelemetry/api and passes the options on", async () => {
    const exporter = new InMemorySpanExporter();
    api.trace.setGlobalTracerProvider(
      new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
    );
    const onEvent = await loadOpenTelemetry({ conversationId: "session-1" });
    onEvent?.(started());
    onEvent?.(compacted());
    expect(exporter.getFinishedSpans().map(({ attributes }) => attributes["gen_ai.conversation.id"])).toEqual(
      ["session-1"],
    );
  });
});

describe("openTelemetry", () => {
  it("openTelemetry accepts the API module and does nothing while no OpenTelemetry SDK is registered", () => {
    const onEvent = openTelemetry({ api });
    expect(() => [started(), compacted()].map(onEvent)).not.toThrow();
  });

  it("gets the tracer and the meter only at the first event, so that the host can register an SDK until then", async () => {
    const onEvent = openTelemetry({ api });
    const reader = new PeriodicExportingMetricReader({
      exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
    });
    const provider = new MeterProvider({ readers: [reader] });
    api.metrics.setGlobalMeterProvider(provider);
    onEvent(started());
    const { resourceMetrics } = await reader.collect();
    await provider.shutdown();
    expect(resourceMetrics.scopeMetrics.map(({ scope }) => scope.name)).toEqual(["longhaul"]);
  });

  it("creates the metric instruments once, at the first event", () => {
    const getMeter = vi.fn(api.createNoopMeter);
    const onEvent = openTelemetry({ api: { trace: api.trace, metrics: { getMeter } } });
    expect(getMeter).not.toHaveBeenCalled();
    for (const event of [started(), compacted(), started(), compacted()]) onEvent(event);
    expect(getMeter).toHaveBeenCalledOnce();
  });
});

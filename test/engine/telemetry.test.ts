import { openTelemetry } from "@longhaul/otel";
import { describe, expect, it } from "vitest";
import { ATTRIBUTE, METRIC } from "../../packages/otel/src/names.ts";
import { collector } from "../support/telemetry-collector.ts";
import { hasCompacted, openScene, workUntil } from "./scene.case.ts";

describe("the engine's events as OpenTelemetry data", () => {
  it("telemetry has a span for each compaction and the figures of the run, without any content", async () => {
    const { api, collect } = collector();
    const scene = await openScene();
    const loop = scene.loop({
      host: { onEvent: openTelemetry({ api, provider: "anthropic" }) },
    });
    expect(await workUntil(loop, hasCompacted(loop, 2))).toBe(true);
    await scene.simulator.close();

    const { spans, metrics } = await collect();
    const compacted = loop.eventsOf("compacted");
    expect(spans.map(({ attributes }) => attributes[ATTRIBUTE.tokensAfter])).toEqual(
      compacted.map(({ tokensAfter }) => tokensAfter),
    );
    const counted = metrics.find(({ descriptor }) => descriptor.name === METRIC.compactions);
    expect(counted?.dataPoints.reduce((sum, { value }) => sum + Number(value), 0)).toBe(compacted.length);
    const exported = JSON.stringify([
      spans.map(({ name, attributes, events }) => [name, attributes, events]),
      metrics,
    ]);
    for (const token of loop.said) expect(exported).not.toContain(token);
  });
});

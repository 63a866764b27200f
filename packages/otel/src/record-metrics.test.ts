import type { CompactorEvent } from "@longhaul/core/engine";
import type { MetricData } from "@opentelemetry/sdk-metrics";
import { describe, expect, it } from "vitest";
import { collector } from "../../../test/support/telemetry-collector.ts";
import { compacted, during, FORK_WRITTEN, failed, started } from "./events.case.ts";
import { openTelemetry } from "./open-telemetry.ts";

/**
 * Returns the data that a collector gets from these events. The key is the name of a metric, the value is its
 * points with attributes and sums.
 */
async function metricsOf(events: readonly CompactorEvent[]): Promise<ReadonlyMap<string, MetricData>> {
  const { api, collect } = collector();
  const onEvent = openTelemetry({ api, provider: "anthropic" });
  for (const event of events) onEvent(event);
  const { metrics } = await collect();
  return new Map(metrics.map((metric) => [metric.descriptor.name, metric]));
}

type Point = readonly [attributes: object, sum: number];

async function pointsOf(name: string, ...events: readonly CompactorEvent[]): Promise<readonly Point[]> {
  return points((await metricsOf(events)).get(name));
}

const points = (metric: MetricData | undefined): readonly Point[] =>
  (metric?.dataPoints ?? []).map(({ attributes, value }) => [
    attributes,
    typeof value === "number" ? value : (value.sum ?? Number.NaN),
  ]);

describe("token usage of summary calls", () => {
  const call = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.request.model": "claude-sonnet-5-5",
  };

  it("records the tokens of summary calls by type, and counts cached tokens as input", async () => {
    expect(await pointsOf("gen_ai.client.token.usage", started(), compacted())).toEqual([
      [{ ...call, "gen_ai.token.type": "input" }, 153_100],
      [{ ...call, "gen_ai.token.type": "output" }, 2_000],
    ]);
  });

  it("records the tokens of each summary call, even in a failed compaction", async () => {
    const attempts = [
      { ...FORK_WRITTEN, outcome: "failed" },
      { ...FORK_WRITTEN, step: "direct", outcome: "failed" },
    ] as const;
    const metric = (await metricsOf([started(), failed({ attempts })])).get("gen_ai.client.token.usage");
    expect(metric?.descriptor).toMatchObject({ unit: "{token}", type: "HISTOGRAM" });
    expect(points(metric).map(([, sum]) => sum)).toEqual([2 * 153_100, 4_000]);
    expect(metric?.dataPoints[0]?.value).toMatchObject({
      count: 2,
      buckets: {
        boundaries: [
          1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864,
        ],
      },
    });
  });

  it("records no summary tokens when no model was called", async () => {
    expect(await pointsOf("gen_ai.client.token.usage", started(), failed())).toEqual([]);
  });
});

describe("metrics of compactions", () => {
  const auto = { "longhaul.trigger": "auto" };
  const success = { ...auto, "longhaul.outcome": "compacted", "longhaul.tier": "full" };
  const overloaded = {
    ...auto,
    "longhaul.outcome": "failed",
    "longhaul.reason": "api_error",
    "error.type": "model-overloaded",
  };

  it("counts compactions by outcome, and compactions that never end as abandoned", async () => {
    const found = await pointsOf(
      "longhaul.compactions",
      ...[started(), compacted(), started(), compacted(), started(), failed()],
      ...[started({ trigger: "manual" }), started(), failed({ reason: "aborted", code: "model-aborted" })],
    );
    expect(found).toEqual([
      [success, 2],
      [overloaded, 1],
      [{ "longhaul.trigger": "manual", "longhaul.outcome": "abandoned", "error.type": "abandoned" }, 1],
      [{ ...auto, "longhaul.outcome": "failed", "longhaul.reason": "aborted" }, 1],
    ]);
  });

  it("records the duration of each compaction in seconds", async () => {
    expect(await pointsOf("longhaul.compaction.duration", compacted(), failed())).toEqual([
      [success, 12.5],
      [overloaded, 0.9],
    ]);
  });

  it("records the saved tokens of a compaction, never below zero", async () => {
    const attributes = { ...auto, "longhaul.tier": "full" };
    expect(await pointsOf("longhaul.compaction.tokens_saved", compacted())).toEqual([[attributes, 138_000]]);
    const larger = await metricsOf([compacted({ tokensAfter: 200_000 })]);
    expect(larger.get("longhaul.compaction.tokens_saved")?.dataPoints[0]?.value).toMatchObject({
      count: 1,
      sum: 0,
    });
  });

  it("counts verdicts on compactions, and how often and why the circuit breaker opens and closes", async () => {
    const metrics = await metricsOf([
      during({ type: "compaction-judged", verdict: "ineffective", reportedTokens: 1, threshold: 1 }),
      during({ type: "breaker-opened", why: "frequency", strikes: 3 }),
      during({ type: "breaker-closed", why: "progress" }),
    ]);
    expect(points(metrics.get("longhaul.compaction.verdicts"))).toEqual([
      [{ "longhaul.verdict": "ineffective" }, 1],
    ]);
    expect(points(metrics.get("longhaul.breaker.opened"))).toEqual([
      [{ "longhaul.breaker.why": "frequency" }, 1],
    ]);
    expect(points(metrics.get("longhaul.breaker.closed"))).toEqual([
      [{ "longhaul.breaker.why": "progress" }, 1],
    ]);
  });
});

describe("metrics of turns", () => {
  const check = {
    type: "window-checked",
    tokens: 150_000,
    source: "usage",
    threshold: 200_000,
    effective: 180_000,
    snipFreed: 0,
    decision: "below-threshold",
  } as const;

  it("records the context size and its share of the threshold at each check of the window", async () => {
    const metrics = await metricsOf([during(check)]);
    const attributes = { "longhaul.decision": "below-threshold", "longhaul.tokens.source": "usage" };
    expect(points(metrics.get("longhaul.context.tokens"))).toEqual([[attributes, 150_000]]);
    expect(points(metrics.get("longhaul.context.utilization"))).toEqual([[{}, 0.75]]);
  });

  it.each([0, -1, Number.NaN])(
    "records no share of the threshold if the threshold is invalid: %s",
    async (threshold) => {
      expect(await pointsOf("longhaul.context.utilization", during({ ...check, threshold }))).toEqual([]);
    },
  );

  it("counts cleared tool results and their tokens by form of clearing", async () => {
    const cleared = {
      type: "results-cleared",
      results: 7,
      tools: ["Read"],
      tokensBefore: 90,
      tokensAfter: 30,
      netSaving: undefined,
    } as const;
    const metrics = await metricsOf([
      during({ ...cleared, form: "size" }),
      during({ ...cleared, form: "cached" }),
    ]);
    const forms = [{ "longhaul.clearing.form": "size" }, { "longhaul.clearing.form": "cached" }];
    expect(points(metrics.get("longhaul.results.cleared"))).toEqual(forms.map((form) => [form, 7]));
    expect(points(metrics.get("longhaul.results.cleared_tokens"))).toEqual(forms.map((form) => [form, 60]));
  });

  it("counts cache breaks and the tokens that they lost", async () => {
    const event = during({ type: "cache-break", before: 90, after: 10, expected: 80, causes: ["tools"] });
    expect(await pointsOf("longhaul.cache.breaks", event)).toEqual([[{}, 1]]);
    expect(await pointsOf("longhaul.cache.lost_tokens", event)).toEqual([[{}, 70]]);
  });

  it("counts recoveries from failed calls by cause and outcome", async () => {
    const found = await pointsOf(
      "longhaul.recoveries",
      during({ type: "recovered", from: "too-long", tokensBefore: 2, tokensAfter: 1 }),
      during({ type: "recovery-failed", from: "too-large", code: "model-too-large" }),
    );
    expect(found).toEqual([
      [{ "longhaul.recovery.from": "too-long", "longhaul.outcome": "recovered" }, 1],
      [
        {
          "longhaul.recovery.from": "too-large",
          "longhaul.outcome": "failed",
          "error.type": "model-too-large",
        },
        1,
      ],
    ]);
  });

  it("records hook durations and counts restored items and request repairs", async () => {
    const metrics = await metricsOf([
      during({
        type: "hook-ended",
        event: "PreCompact",
        kind: "command",
        state: "completed",
        durationMs: 250,
      }),
      during({
        type: "restored",
        items: ["a", "b"].map((name) => ({ kind: "files", name, tokens: 1 })),
        skipped: [{ kind: "skills", name: "c", reason: "gone" }],
      }),
      during({ type: "request-repaired", rules: { "orphan-result": 2, "no user": 1 } }),
    ]);
    expect(points(metrics.get("longhaul.hook.duration"))).toEqual([
      [
        {
          "longhaul.hook.event": "PreCompact",
          "longhaul.hook.kind": "command",
          "longhaul.hook.state": "completed",
        },
        0.25,
      ],
    ]);
    expect(points(metrics.get("longhaul.restore.items"))).toEqual([
      [{ "longhaul.restore.kind": "files", "longhaul.outcome": "restored" }, 2],
      [{ "longhaul.restore.kind": "skills", "longhaul.outcome": "skipped" }, 1],
    ]);
    expect(points(metrics.get("longhaul.request.repairs"))).toEqual([
      [{ "longhaul.rule": "orphan-result" }, 2],
      [{ "longhaul.rule": "other" }, 1],
    ]);
  });

  it("counts every event by its type", async () => {
    const found = await pointsOf("longhaul.events", during(check), during(check), started(), failed());
    expect(found).toEqual([
      [{ "longhaul.event.type": "window-checked" }, 2],
      [{ "longhaul.event.type": "compaction-started" }, 1],
      [{ "longhaul.event.type": "compaction-failed" }, 1],
    ]);
  });
});

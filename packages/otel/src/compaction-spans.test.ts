import type { CompactorEvent } from "@longhaul/core/engine";
import { createNoopMeter, SpanStatusCode } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { describe, expect, it } from "vitest";
import { MAX_OPEN_SPANS } from "./compaction-spans.ts";
import { compacted, during, FORK_WRITTEN, failed, started } from "./events.case.ts";
import { openTelemetry, type TelemetryOptions } from "./open-telemetry.ts";

/** Returns the spans that these events have ended, in the order in which they ended. */
function spansOf(events: readonly CompactorEvent[], options: TelemetryOptions = {}): readonly ReadableSpan[] {
  const exporter = new InMemorySpanExporter();
  const trace = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const onEvent = openTelemetry({ api: { trace, metrics: { getMeter: createNoopMeter } }, ...options });
  for (const event of events) onEvent(event);
  return exporter.getFinishedSpans();
}

const onlySpan = (events: readonly CompactorEvent[], options?: TelemetryOptions): ReadableSpan => {
  const spans = spansOf(events, options);
  expect(spans).toHaveLength(1);
  return spans[0] as ReadableSpan;
};

describe("telemetry span of a compaction", () => {
  it("a telemetry span of a compaction has gen_ai attributes and longhaul attributes", () => {
    const span = onlySpan([started({ agentId: "agent-7" }), compacted({ agentId: "agent-7" })], {
      provider: "anthropic",
      conversationId: "session-1",
    });
    expect(span.name).toBe("compact_conversation claude-sonnet-5-5");
    expect(span.instrumentationScope.name).toBe("longhaul");
    expect(span.status.code).toBe(SpanStatusCode.UNSET);
    expect(span.attributes).toEqual({
      "gen_ai.operation.name": "compact_conversation",
      "gen_ai.provider.name": "anthropic",
      "gen_ai.conversation.id": "session-1",
      "gen_ai.conversation.compacted": true,
      "gen_ai.agent.id": "agent-7",
      "gen_ai.request.model": "claude-sonnet-5-5",
      "gen_ai.usage.input_tokens": 153_100,
      "gen_ai.usage.output_tokens": 2_000,
      "gen_ai.usage.cache_read.input_tokens": 150_000,
      "gen_ai.usage.cache_creation.input_tokens": 3_000,
      "longhaul.turn.id": "turn-1",
      "longhaul.trigger": "auto",
      "longhaul.outcome": "compacted",
      "longhaul.tier": "full",
      "longhaul.tokens.before": 168_000,
      "longhaul.tokens.after": 30_000,
      "longhaul.messages.summarized": 200,
      "longhaul.messages.kept": 12,
      "longhaul.above_threshold": false,
      "longhaul.threshold": 167_000,
      "longhaul.caller": "main",
      "longhaul.chain.in_chain": true,
      "longhaul.chain.turns_since_previous": 4,
      "longhaul.chain.previous_turn.id": "turn-0",
      "longhaul.summary.steps": ["fork:written"],
      "longhaul.summary.cuts": 0,
    });
  });

  it("a telemetry span of a compaction starts with the attributes that a sampler needs", () => {
    const exporter = new InMemorySpanExporter();
    const names: string[] = [];
    const trace = new BasicTracerProvider({
      spanProcessors: [
        {
          onStart: ({ name, attributes }) => names.push(name, ...Object.keys(attributes)),
          onEnd: () => undefined,
          forceFlush: async () => undefined,
          shutdown: async () => undefined,
        },
        new SimpleSpanProcessor(exporter),
      ],
    });
    const onEvent = openTelemetry({
      api: { trace, metrics: { getMeter: createNoopMeter } },
      provider: "openai",
    });
    onEvent(started());
    expect(exporter.getFinishedSpans()).toEqual([]);
    expect(names).toEqual([
      "compact_conversation",
      "gen_ai.provider.name",
      "gen_ai.operation.name",
      "longhaul.turn.id",
      "longhaul.trigger",
      "longhaul.tokens.before",
    ]);
  });

  it("a telemetry span of a compaction lists all summary steps, even failed ones, and their total token usage", () => {
    const span = onlySpan([
      started(),
      compacted({
        attempts: [
          { step: "provider", outcome: "unavailable", reason: "off", cuts: 0 },
          { ...FORK_WRITTEN, outcome: "failed", reason: "no-summary", cuts: 1 },
          { ...FORK_WRITTEN, step: "direct", model: "claude-haiku-5", cuts: 2 },
        ],
      }),
    ]);
    expect(span.name).toBe("compact_conversation claude-haiku-5");
    expect(span.attributes).toMatchObject({
      "longhaul.summary.steps": ["provider:unavailable", "fork:failed", "direct:written"],
      "longhaul.summary.cuts": 3,
      "gen_ai.request.model": "claude-haiku-5",
      "gen_ai.usage.input_tokens": 2 * 153_100,
      "gen_ai.usage.output_tokens": 4_000,
    });
  });

  it("a span has the usage of the event if no attempt has usage, and no usage if no model was called", () => {
    const builtIn = [{ step: "built-in", outcome: "written", cuts: 0 }] as const;
    const withUsage = onlySpan([started(), compacted({ attempts: builtIn })]);
    expect(withUsage.attributes).toMatchObject({ "gen_ai.usage.output_tokens": 2_000 });
    const without = onlySpan([started(), compacted({ attempts: builtIn, usage: undefined })]);
    expect(Object.keys(without.attributes).filter((name) => name.startsWith("gen_ai.usage"))).toEqual([]);
    expect(without.name).toBe("compact_conversation");
    expect(without.attributes).not.toHaveProperty(["gen_ai.request.model"]);
    const fromNotes = onlySpan([started(), compacted({ tier: "memory", attempts: [], usage: undefined })]);
    expect(Object.keys(fromNotes.attributes).filter((name) => name.startsWith("longhaul.summary"))).toEqual(
      [],
    );
  });

  it("a span records retries, hooks and the kinds of restored items, but no item names", () => {
    const span = onlySpan([
      started(),
      during({ type: "prompt-too-long-retried", attempt: 1, droppedRounds: 3, roundsLeft: 17 }),
      during({
        type: "hook-ended",
        event: "PreCompact",
        kind: "command",
        state: "timed-out",
        durationMs: 30_000,
      }),
      during({
        type: "restored",
        items: [
          { kind: "files", name: "/home/me/secret.ts", tokens: 400 },
          { kind: "files", name: "/home/me/other.ts", tokens: 60 },
          { kind: "todos", name: "todos", tokens: 7 },
        ],
        skipped: [{ kind: "files", name: "/home/me/gone.ts", reason: "gone" }],
      }),
      during({ type: "snipped", messages: 2, tokensFreed: 10 }),
      compacted(),
    ]);
    expect(span.events.map(({ name, attributes }) => [name, attributes])).toEqual([
      [
        "longhaul.prompt-too-long-retried",
        { "longhaul.attempt": 1, "longhaul.rounds.dropped": 3, "longhaul.rounds.left": 17 },
      ],
      [
        "longhaul.hook-ended",
        {
          "longhaul.hook.event": "PreCompact",
          "longhaul.hook.kind": "command",
          "longhaul.hook.state": "timed-out",
          "longhaul.duration_ms": 30_000,
        },
      ],
      [
        "longhaul.restored",
        {
          "longhaul.restore.kinds": ["files=2", "todos=1"],
          "longhaul.restore.skipped_kinds": ["files=1"],
          "longhaul.restore.tokens": 467,
        },
      ],
    ]);
  });
});

describe("a compaction that fails", () => {
  it("a failed compaction ends its telemetry span with the error code", () => {
    const span = onlySpan([started(), failed()]);
    expect(span.status.code).toBe(SpanStatusCode.ERROR);
    expect(span.attributes).toEqual({
      "gen_ai.operation.name": "compact_conversation",
      "error.type": "model-overloaded",
      "longhaul.turn.id": "turn-1",
      "longhaul.trigger": "auto",
      "longhaul.tokens.before": 168_000,
      "longhaul.outcome": "failed",
      "longhaul.reason": "api_error",
      "longhaul.summary.steps": ["direct:failed"],
      "longhaul.summary.cuts": 2,
    });
  });

  it.each(["aborted", "blocked_by_hook", "not_enough_messages"] as const)(
    "a compaction that fails with the reason %s does not mark its span as an error",
    (reason) => {
      const span = onlySpan([started(), failed({ reason, code: "whatever" })]);
      expect(span.status.code).toBe(SpanStatusCode.UNSET);
      expect(span.attributes).not.toHaveProperty(["error.type"]);
      expect(span.attributes["longhaul.reason"]).toBe(reason);
    },
  );

  it("exports a span for a compaction that fails before it starts", () => {
    expect(onlySpan([failed({ reason: "not_enough_messages" })]).attributes).toMatchObject({
      "longhaul.trigger": "auto",
      "longhaul.outcome": "failed",
    });
  });
});

describe("concurrent compactions", () => {
  it("keeps the telemetry spans of a parent and its subagents apart, in any order of events", () => {
    const agents = [undefined, "a", "b", "c"];
    const spans = spansOf([
      ...agents.map((agentId) => started({ agentId })),
      during(
        { type: "prompt-too-long-retried", attempt: 9, droppedRounds: 1, roundsLeft: 1 },
        { agentId: "b" },
      ),
      failed({ agentId: "b" }),
      compacted({ agentId: "c", tokensAfter: 3 }),
      compacted({ agentId: undefined, tokensAfter: 1 }),
      compacted({ agentId: "a", tokensAfter: 2 }),
    ]);
    const facts = spans.map(({ attributes, events }) => [
      attributes["gen_ai.agent.id"],
      attributes["longhaul.outcome"],
      attributes["longhaul.tokens.after"],
      events.length,
    ]);
    expect(facts).toEqual([
      ["b", "failed", undefined, 1],
      ["c", "compacted", 3, 0],
      [undefined, "compacted", 1, 0],
      ["a", "compacted", 2, 0],
    ]);
  });

  it("distinguishes compactions by agent id and turn id, even if the joined ids would be equal", () => {
    const ids = [
      { agentId: "a", turnId: "b,c" },
      { agentId: "a,b", turnId: "c" },
      { agentId: undefined, turnId: "a" },
      { agentId: "undefined", turnId: "a" },
    ];
    const spans = spansOf([...ids.map(started), ...ids.map((id) => compacted(id))]);
    expect(spans.map(({ attributes }) => attributes["longhaul.outcome"])).toEqual(ids.map(() => "compacted"));
    expect(spans).toHaveLength(ids.length);
  });
});

describe("a compaction that never ends", () => {
  it("ends an open span as abandoned when the same turn starts another compaction", () => {
    const spans = spansOf([started({ tokens: 1 }), started({ tokens: 2 }), compacted()]);
    expect(spans.map(({ attributes, status }) => [attributes["longhaul.outcome"], status.code])).toEqual([
      ["abandoned", SpanStatusCode.ERROR],
      ["compacted", SpanStatusCode.UNSET],
    ]);
    expect(spans[0]?.attributes).toMatchObject({ "error.type": "abandoned", "longhaul.tokens.before": 1 });
  });

  it("ends the oldest open spans as abandoned when too many are open", () => {
    const events = Array.from({ length: MAX_OPEN_SPANS + 3 }, (_, turn) =>
      started({ turnId: `turn-${turn}` }),
    );
    const abandoned = spansOf(events).map(({ attributes }) => attributes["longhaul.turn.id"]);
    expect(abandoned).toEqual(["turn-0", "turn-1", "turn-2"]);
  });

  it("does not count ended compactions toward the limit of open spans", () => {
    const events = Array.from({ length: MAX_OPEN_SPANS + 3 }, (_, turn) => [
      started({ turnId: `turn-${turn}` }),
      compacted({ turnId: `turn-${turn}` }),
    ]).flat();
    const outcomes = new Set(spansOf(events).map(({ attributes }) => attributes["longhaul.outcome"]));
    expect([...outcomes]).toEqual(["compacted"]);
  });
});

import type { CompactorEvent } from "@longhaul/core/engine";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Collected, collector } from "../../../test/support/telemetry-collector.ts";
import type { EventDetail } from "../../core/src/engine/events.ts";
import { ATTRIBUTE, METRIC } from "./names.ts";
import { openTelemetry } from "./open-telemetry.ts";

/** Value of a field that is never exported, not even if its value looks harmless. */
const hidden = fc.constantFrom("secret", "secret-name", "src/secret.ts", "/home/me/secret.txt");
/** Value of a field that is exported only if the value looks like a name. */
const named = fc.constantFrom(
  "model-other",
  "PreCompact",
  "the secret plan",
  "~/secret",
  "secret\n",
  "s".repeat(81),
);
const model = fc.constantFrom("claude-sonnet-5-5", "openai/gpt-5", "my secret model", undefined);
const id = fc.constantFrom("id-1", "id-2", "id-3");
const figure = fc.oneof(
  { weight: 5, arbitrary: fc.nat(300_000) },
  { weight: 1, arbitrary: fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1, 0.5) },
);
const kind = fc.constantFrom("files", "skills", "todos", "plan");
const trigger = fc.constantFrom("manual", "auto", "reactive");
const usage = fc.record({
  input_tokens: figure,
  output_tokens: figure,
  cache_creation_input_tokens: figure,
  cache_read_input_tokens: figure,
});
const attempts = fc.array(
  fc
    .record({
      step: fc.constantFrom("provider", "fork", "direct", "built-in"),
      outcome: fc.constantFrom("written", "failed", "unavailable"),
      reason: hidden,
      cuts: figure,
      model,
      usage: fc.option(usage, { nil: undefined }),
    })
    .map(({ model: name, usage: used, ...rest }) => ({
      ...rest,
      ...(name === undefined ? {} : { model: name }),
      ...(used === undefined ? {} : { usage: used }),
    })),
  { maxLength: 3 },
);

const netSaving = fc.option(
  fc.record({ dollars: figure, saved: figure, rewrite: figure, call: figure, turns: figure }),
  { nil: undefined },
);

type DetailOf<T> = Omit<Extract<EventDetail, { readonly type: T }>, "type">;

/** Generators for the fields of every event. A new event type must be added here. */
const DETAILS: { readonly [T in EventDetail["type"]]: fc.Arbitrary<DetailOf<T>> } = {
  "window-checked": fc.record({
    tokens: figure,
    source: fc.constantFrom("usage", "estimate"),
    threshold: figure,
    effective: figure,
    snipFreed: figure,
    decision: fc.constantFrom("compact", "breaker-open", "below-threshold"),
  }),
  "tokens-counted": fc.record({
    outcome: fc.constantFrom("counted", "failed", "timed-out"),
    estimatedTokens: figure,
    tokens: fc.option(figure, { nil: undefined }),
    durationMs: figure,
  }),
  "results-cleared": fc.record({
    form: fc.constantFrom("size", "time", "cached", "manual", "api"),
    results: figure,
    tools: fc.array(hidden),
    tokensBefore: figure,
    tokensAfter: figure,
    netSaving,
  }),
  weighed: fc.record({
    occasion: fc.constantFrom("early", "cold", "full"),
    growthPerTurn: figure,
    options: fc.array(
      fc.record({
        name: fc.constantFrom("nothing", "clear", "compact"),
        costNow: figure,
        costPerTurn: figure,
        total: figure,
        breakEvenTurns: fc.option(figure, { nil: undefined }),
        tokensSaved: figure,
      }),
      { maxLength: 3 },
    ),
    expectedTurns: figure,
    chosen: fc.constantFrom("nothing", "clear", "compact"),
    why: fc.constantFrom("cheapest", "cheapest-below-threshold", "only-way-below-threshold"),
  }),
  "pinned-edits-dropped": fc.record({ edits: figure, reason: hidden }),
  "compaction-started": fc.record({ trigger, tokens: figure }),
  compacted: fc.record({
    trigger,
    tier: fc.constantFrom("memory", "full", "partial"),
    tokensBefore: figure,
    tokensAfter: figure,
    messagesSummarized: figure,
    messagesKept: figure,
    attempts,
    usage: fc.option(usage, { nil: undefined }),
    accounting: fc.dictionary(hidden, figure),
    chain: fc.record({
      isInChain: fc.boolean(),
      turnsSincePrevious: fc.option(figure, { nil: undefined }),
      previousTurnId: fc.option(id, { nil: undefined }),
      threshold: figure,
      caller: named,
    }),
    durationMs: figure,
    isAboveThreshold: fc.boolean(),
    netSaving,
  }),
  "compaction-failed": fc.record({
    trigger,
    reason: fc.constantFrom("no_summary", "aborted", "other"),
    code: named,
    attempts,
    durationMs: figure,
  }),
  "prompt-too-long-retried": fc.record({ attempt: figure, droppedRounds: figure, roundsLeft: figure }),
  restored: fc.record({
    items: fc.array(fc.record({ kind, name: hidden, tokens: figure })),
    skipped: fc.array(fc.record({ kind, name: hidden, reason: hidden })),
  }),
  "hooks-started": fc.record({ event: named, hooks: figure }),
  "hook-ended": fc.record({ event: named, kind: named, state: named, durationMs: figure }),
  "compaction-judged": fc.record({
    verdict: fc.constantFrom("effective", "ineffective"),
    reportedTokens: figure,
    threshold: figure,
  }),
  "breaker-opened": fc.record({ why: fc.constantFrom("failures", "frequency"), strikes: figure }),
  "breaker-closed": fc.record({ why: fc.constantFrom("success", "manual") }),
  "floor-above-threshold": fc.record({ floorTokens: figure, threshold: figure }),
  "cache-break": fc.record({ before: figure, after: figure, expected: figure, causes: fc.array(hidden) }),
  "usage-distrusted": fc.record({
    reportedTokens: fc.option(figure, { nil: undefined }),
    expectedTokens: figure,
    why: fc.constantFrom("missing", "too-high"),
  }),
  "request-repaired": fc.record({ rules: fc.dictionary(named, figure) }),
  "thinking-left-out": fc.record({ blocks: figure, reason: fc.constantFrom("rewrite", "mismatch") }),
  "media-replaced": fc.record({ replaced: figure, left: figure }),
  "transcript-failed": fc.record({ waiting: figure }),
  snipped: fc.record({ messages: figure, tokensFreed: figure }),
  recovered: fc.record({ from: named, tokensBefore: figure, tokensAfter: figure }),
  "recovery-failed": fc.record({ from: named, code: named }),
  "notes-updated": fc.record({
    by: fc.constantFrom("fork", "direct", "built-in"),
    tokens: figure,
    edits: figure,
    refused: figure,
    calls: figure,
    usage: fc.option(usage, { nil: undefined }),
    isRemembered: fc.boolean(),
    durationMs: figure,
  }),
  "notes-failed": fc.record({ reason: named, durationMs: figure }),
  "notes-declined": fc.record({ trigger, reason: fc.constantFrom("no-file", "only-template") }),
  "memory-attached": fc.record({
    files: fc.array(fc.record({ path: hidden, tokens: figure })),
    skipped: fc.array(fc.record({ path: hidden, reason: hidden })),
  }),
  "span-staged": fc.record({
    by: fc.constantFrom("direct", "built-in"),
    messages: figure,
    tokensBefore: figure,
    tokensAfter: figure,
    usage: fc.option(usage, { nil: undefined }),
    durationMs: figure,
  }),
  "span-failed": fc.record({ reason: named, durationMs: figure }),
  "spans-committed": fc.record({
    spans: figure,
    messages: figure,
    tokensBefore: figure,
    tokensAfter: figure,
    waitedMs: figure,
  }),
  "spans-expanded": fc.record({ spans: figure, messages: figure }),
  undone: fc.record({
    direction: fc.constantFrom("undo", "redo"),
    step: fc.constantFrom("compaction", "collapse", "expansion", "snip"),
    tokensBefore: figure,
    tokensAfter: figure,
    messagesRestored: figure,
    messagesCarried: figure,
  }),
  "background-started": fc.record({ tokens: figure, isRefresh: fc.boolean() }),
  "background-ended": fc.record({
    outcome: fc.constantFrom("ready", "failed", "discarded"),
    reason: fc.option(hidden, { nil: undefined }),
    durationMs: figure,
  }),
  "settings-ignored": fc.record({ warning: hidden }),
  "setup-problem": fc.record({
    code: fc.constantFrom("window-assumed", "model-authentication", "model-sdk-missing"),
    model: hidden,
  }),
  "host-callback-failed": fc.record({ callback: hidden }),
};

const event: fc.Arbitrary<CompactorEvent> = fc.oneof(
  ...Object.entries(DETAILS).map(([type, detail]) =>
    fc
      .tuple(fc.option(id, { nil: undefined }), id, detail as fc.Arbitrary<object>)
      .map(([agentId, turnId, fields]) => ({ agentId, turnId, type, ...fields }) as CompactorEvent),
  ),
);

function exportedBy(events: readonly CompactorEvent[]): Promise<Collected> {
  const { api, collect } = collector();
  const onEvent = openTelemetry({ api, provider: "anthropic", conversationId: "id-0" });
  for (const one of events) onEvent(one);
  return collect();
}

const attributesOf = ({ spans, metrics }: Collected): readonly object[] => [
  ...spans.flatMap(({ attributes, events }) => [attributes, ...events.map((mark) => mark.attributes ?? {})]),
  ...metrics.flatMap(({ dataPoints }) => dataPoints.map(({ attributes }) => attributes)),
];

describe("openTelemetry with any events", () => {
  it("openTelemetry exports only documented attributes and metrics and no content, for any events", async () => {
    const attributeNames = new Set<string>(Object.values(ATTRIBUTE));
    const metricNames = new Set<string>(Object.values(METRIC));
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 30 }), async (events) => {
        const exported = await exportedBy(events);
        const attributes = attributesOf(exported);
        const texts = [
          ...exported.spans.flatMap((span) => [span.name, span.status, ...span.events]),
          ...attributes,
        ];
        expect(JSON.stringify(texts)).not.toMatch(/secret|sss/);
        const used = attributes.flatMap((one) => Object.keys(one));
        expect(used.filter((name) => !attributeNames.has(name))).toEqual([]);
        const recorded = exported.metrics.map(({ descriptor }) => descriptor.name);
        expect(recorded.filter((name) => !metricNames.has(name))).toEqual([]);
      }),
    );
  });

  it("metrics contain no ids and only finite, non-negative figures", async () => {
    const ids: readonly string[] = [ATTRIBUTE.agentId, ATTRIBUTE.turnId, ATTRIBUTE.conversationId];
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 30 }), async (events) => {
        const points = (await exportedBy(events)).metrics.flatMap(({ dataPoints }) => [...dataPoints]);
        for (const { attributes, value } of points) {
          expect(Object.keys(attributes).filter((name) => ids.includes(name))).toEqual([]);
          expect(typeof value === "number" ? value : value.sum).toSatisfy(
            (sum: number) => Number.isFinite(sum) && sum >= 0,
          );
        }
      }),
    );
  });

  it("exports a span for each compaction that ends", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 30 }), async (events) => {
        const { spans } = await exportedBy(events);
        const ended = events.filter(({ type }) => type === "compacted" || type === "compaction-failed");
        const finished = spans.filter(({ attributes }) => attributes[ATTRIBUTE.outcome] !== "abandoned");
        expect(finished.map(({ attributes }) => attributes[ATTRIBUTE.turnId])).toEqual(
          ended.map(({ turnId }) => turnId),
        );
      }),
    );
  });
});

import { isSpanCall, scriptedModel } from "@longhaul/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AgentLoop, FRAME } from "../../../../../test/engine/agent-loop.case.ts";
import { asCandidate, isSummaryCall, isWork } from "../../../../../test/engine/faults.case.ts";
import type { Form } from "../../../../../test/engine/host-conversation.case.ts";
import { isTooLong } from "../../../../../test/engine/long-run.case.ts";
import {
  cacheRead,
  hasCommitted,
  hasCompacted,
  hasHappened,
  openScene,
  type Scene,
  workUntil,
} from "../../../../../test/engine/scene.case.ts";
import { spanCollapse } from "./collapse.ts";
import { asCondensed, SPAN_SYSTEM_PROMPT } from "./summarize-span.ts";

let scene: Scene;
beforeEach(async () => {
  // A session in which no single message takes up a fifth of the window.
  scene = await openScene({ keepBodies: 2_000, play: { seed: 5 } });
});
afterEach(() => scene.simulator.close());

const collapsing = (more: object = {}): { readonly compactor: object } => ({
  compactor: { collapse: {}, ...more },
});
const hasStaged = hasHappened("span-staged");
const spanCalls = (): number =>
  scene.simulator.requests.all.filter((request) => isSpanCall(asCandidate(request))).length;
const workCalls = (): typeof scene.simulator.requests.all =>
  scene.simulator.requests.all.filter((request) => isWork(asCandidate(request)));

describe.each<readonly [string, Form]>([
  ["claude-haiku-4-5", "messages"],
  ["claude-haiku-4-5", "entries"],
  ["claude-opus-5-5", "messages"],
  ["claude-opus-5-5", "entries"],
])("span collapse with the model %s, for a host that passes %s", (modelName, form) => {
  it("at 90% of the effective window, collapses several spans at once instead of auto-compacting", async () => {
    const sizes: { readonly tokens: number; readonly committed: number }[] = [];
    const loop: AgentLoop = scene.loop({
      modelName,
      form,
      ...collapsing(),
      onTurn: ({ tokens }) => sizes.push({ tokens, committed: loop.eventsOf("spans-committed").length }),
    });
    expect(await workUntil(loop, hasCommitted(loop, 4))).toBe(true);
    const effective = loop.lastTurn?.thresholds.effective ?? 0;
    const committed = loop.eventsOf("spans-committed");
    for (const [nth, { tokensBefore, tokensAfter, spans, messages }] of committed.entries()) {
      const { tokens = 0 } = sizes.find((size) => size.committed === nth + 1) ?? {};
      // The reported figures exclude the safety margin of the estimate.
      expect(tokens + tokensBefore - tokensAfter).toBeGreaterThan(effective * 0.82);
      expect(tokens).toBeLessThan(effective * 0.8);
      expect(tokensAfter).toBeLessThan(tokensBefore / 3);
      expect(messages).toBeGreaterThan(spans);
    }
    expect(committed[0]?.spans).toBeGreaterThan(1);
    expect(committed.every(({ waitedMs }) => waitedMs === 0)).toBe(true);
    expect(loop.eventsOf("compacted")).toEqual([]);
    expect(loop.eventsOf("window-checked").every(({ decision }) => decision === "collapse-on")).toBe(true);
    expect(loop.lastTurn?.skipped).toBe("collapse-on");
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("each commit of spans breaks the prompt cache at most once, and the engine reports no cache break", async () => {
    const loop = scene.loop({ modelName, form, ...collapsing() });
    expect(await workUntil(loop, hasCommitted(loop, 4))).toBe(true);
    await loop.run(2);
    const reads = workCalls().map(cacheRead);
    const drops = reads.filter((read, at) => read < (reads[at - 1] ?? 0) * 0.95);
    // Two batches in a row may break the cache only once, so there can be fewer drops than batches.
    expect(drops.length).toBeLessThanOrEqual(loop.eventsOf("spans-committed").length);
    expect(drops.length).toBeGreaterThan(1);
    expect(loop.eventsOf("cache-break")).toEqual([]);
    expect(loop.eventsOf("usage-distrusted")).toEqual([]);
  });
});

describe("span collapse", () => {
  it("a summary model that never answers does not delay a turn", async () => {
    scene.simulator.fail({ kind: "silence" }, { when: isSpanCall });
    const loop = scene.loop(collapsing());
    expect(await workUntil(loop, () => spanCalls() > 0)).toBe(true);
    const { turns } = loop;
    await loop.run(4);
    expect(loop.turns).toBe(turns + 4);
    expect(spanCalls()).toBe(1);
    expect(loop.events.filter(({ type }) => type.startsWith("span"))).toEqual([]);
    await loop.compactor.close();
  });

  it("summarizes spans before room is needed, and saves less than half of the effective window at once", async () => {
    const loop = scene.loop(collapsing());
    expect(await workUntil(loop, hasStaged(loop))).toBe(true);
    const { tokens = 0, thresholds } = loop.lastTurn ?? {};
    const effective = thresholds?.effective ?? 0;
    expect(tokens).toBeGreaterThan(effective * 0.55);
    expect(tokens).toBeLessThan(effective * 0.75);
    await workUntil(loop, hasCommitted(loop));
    const [{ tokensBefore = 0, tokensAfter = 0 } = {}] = loop.eventsOf("spans-committed");
    expect(tokensBefore - tokensAfter).toBeLessThan(effective * 0.5);
  });

  it("with span collapse, 180 turns run without overflow or compaction, and spans mention omitted user messages", async () => {
    const loop = scene.loop(collapsing());
    await loop.run(180);
    expect(loop.recoveries).toBe(0);
    expect(loop.eventsOf("compacted")).toEqual([]);
    expect(scene.simulator.requests.all.filter(({ error }) => isTooLong(error?.message))).toEqual([]);
    expect(scene.simulator.requests.all.filter((request) => isSummaryCall(asCandidate(request)))).toEqual([]);
    expect(scene.simulator.requests.invalid).toEqual([]);
    expect(loop.eventsOf("span-failed")).toEqual([]);
    const text = JSON.stringify(loop.conversation.messages);
    const gone = loop.said.filter((words) => !text.includes(words));
    if (gone.length > 0) expect(text).toContain("more user messages left out: see the transcript");
    expect(gone.length).toBeLessThan(loop.said.length / 3);
    // Spans can contain spans. Without nesting, the conversation would have far more spans.
    expect(loop.lengths.at(-1)).toBeLessThan(60);
    expect(Math.max(...loop.eventsOf("spans-committed").map(({ messages }) => messages))).toBeGreaterThan(
      100,
    );
  });

  it("collapses no spans for calls that come from a compaction, a collapse, notes or a subagent", async () => {
    const loop = scene.loop(collapsing());
    expect(await workUntil(loop, hasStaged(loop, 2))).toBe(true);
    loop.conversation.addUser("const tide = ledger.total(berth);\n".repeat(700));
    const before = spanCalls();
    for (const caller of ["collapse", "compact", "session-memory", "subagent"] as const) {
      const turn = await loop.compactor.before(loop.conversation.messages, { caller });
      expect(turn.tokens).toBeGreaterThan(turn.thresholds.effective * 0.9);
      loop.compactor.after({ usage: { input_tokens: turn.tokens, output_tokens: 1 } });
    }
    expect(spanCalls()).toBe(before);
    expect(loop.eventsOf("spans-committed")).toEqual([]);
  });

  it("subagents compact instead of collapsing spans, and do not affect the spans of their parent", async () => {
    const parent = scene.loop(collapsing());
    const use = parent.compactor.child({
      agentId: "child",
      model: parent.model,
      window: { tokens: 16_000 },
      request: FRAME,
      modules: [spanCollapse({})],
      clearing: { form: "off" },
    });
    const child = scene.loop({ use, model: parent.model, turnMs: 0 });
    expect(await workUntil(parent, hasStaged(parent))).toBe(true);
    await workUntil(child, hasCompacted(parent));
    const ofChild = parent.events.filter(({ agentId }) => agentId === "child");
    expect(ofChild.filter(({ type }) => type.startsWith("span"))).toEqual([]);
    expect(await workUntil(parent, hasCommitted(parent))).toBe(true);
    expect(parent.eventsOf("compacted").every(({ agentId }) => agentId === "child")).toBe(true);
  });

  it.each([{ DISABLE_COMPACT: "1" }, { DISABLE_AUTO_COMPACT: "1" }])(
    "span collapse is off with the environment variable %o",
    async (environment) => {
      const loop = scene.loop(collapsing({ settings: { environment } }));
      await expect(loop.run(100)).rejects.toMatchObject({ code: "model-too-long" });
      expect(spanCalls()).toBe(0);
    },
  );

  it("summarizes spans without a model when the built-in summarizer is chosen", async () => {
    const loop = scene.loop(collapsing({ collapse: { summarizer: "built-in" } }));
    expect(await workUntil(loop, hasCommitted(loop, 3))).toBe(true);
    expect(spanCalls()).toBe(0);
    expect(loop.eventsOf("span-staged").every(({ by }) => by === "built-in")).toBe(true);
    const text = JSON.stringify(loop.conversation.messages);
    expect(loop.said.filter((words) => !text.includes(words))).toEqual([]);
  });
});

describe("a compaction with collapsed spans", () => {
  it("a manual compaction summarizes collapsed spans too, and later messages are collapsed again", async () => {
    const loop = scene.loop(collapsing());
    expect(await workUntil(loop, hasCommitted(loop))).toBe(true);
    await workUntil(loop, hasStaged(loop, loop.eventsOf("span-staged").length + 1));
    const turn = await loop.compactor.compact(loop.conversation.messages);
    expect(turn.compaction).toBeDefined();
    loop.conversation.resumeFrom(turn.messages);
    expect(await workUntil(loop, hasCommitted(loop, 2))).toBe(true);
    const text = JSON.stringify(loop.conversation.messages);
    expect(loop.said.filter((words) => !text.includes(words))).toEqual([]);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("a compaction discards a span that is being summarized at that time", async () => {
    const gate: { open: () => void; passed?: Promise<void> } = { open: () => undefined };
    gate.passed = new Promise((resolve) => {
      gate.open = resolve;
    });
    const summaryModel = scriptedModel(async ({ system }) => {
      if (system !== SPAN_SYSTEM_PROMPT) return "no";
      await gate.passed;
      return asCondensed("- Work was done.");
    });
    const loop = scene.loop(collapsing({ compaction: { model: summaryModel } }));
    expect(await workUntil(loop, () => summaryModel.requests.length > 0)).toBe(true);
    loop.conversation.resumeFrom((await loop.compactor.compact(loop.conversation.messages)).messages);
    gate.open();
    await loop.run(2);
    expect(loop.events.filter(({ type }) => type.startsWith("span"))).toEqual([]);
  });

  it("recovers from an overflow by compaction when no span can be collapsed, then collapses spans again", async () => {
    const loop = scene.loop(collapsing());
    await loop.run(1);
    // All of this text is in the newest message, which is never collapsed.
    loop.conversation.addUser("const tide = ledger.total(berth);\n".repeat(3_600));
    await loop.turn();
    expect(loop.recoveries).toBe(1);
    expect(loop.eventsOf("compacted")).toMatchObject([{ trigger: "reactive" }]);
    expect(loop.eventsOf("spans-committed")).toEqual([]);
    expect(await workUntil(loop, hasCommitted(loop))).toBe(true);
    expect(loop.recoveries).toBe(1);
  });
});

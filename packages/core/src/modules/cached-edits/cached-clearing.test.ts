import type { LoggedRequest } from "@longhaul/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AgentLoop, connect } from "../../../../../test/engine/agent-loop.case.ts";
import type { Form } from "../../../../../test/engine/host-conversation.case.ts";
import {
  cacheRead,
  cacheWritten,
  openScene,
  type Scene,
  workUntil,
} from "../../../../../test/engine/scene.case.ts";
import { listField } from "../../messages/untrusted.ts";

const WINDOW_TOKENS = 200_000;
const MINUTE_MS = 60_000;

let scene: Scene;
beforeEach(async () => {
  scene = await openScene({ windowTokens: WINDOW_TOKENS, switches: { cacheEdits: true }, keepBodies: 70 });
});
afterEach(() => scene.simulator.close());

const editingLoop = (
  form: Form = "messages",
  modelName = "claude-haiku-4-5",
  resultTokens = 1_000,
): AgentLoop =>
  new AgentLoop({
    simulator: scene.simulator,
    model: connect(scene.simulator, modelName, { cacheEdits: true }),
    form,
    resultTokens,
    compactor: { window: { tokens: WINDOW_TOKENS } },
  });

const deleted = ({ usage }: LoggedRequest): number => Number(usage?.cache_deleted_input_tokens ?? 0);
const editsOf = (request: LoggedRequest | undefined): number =>
  listField(request?.body, "cache_edits").length;
const clearings = (loop: AgentLoop, form: string): number =>
  loop.eventsOf("results-cleared").filter((event) => event.form === form).length;

describe.each<readonly [Form, string]>([
  ["messages", "claude-haiku-4-5"],
  ["entries", "claude-haiku-4-5"],
  ["messages", "claude-opus-5-5"],
])("clearing by cache edits, for a host that passes %s and the model %s", (form, modelName) => {
  it("cache edits keep the cache readable and the messages unchanged, and lower the token count", async () => {
    const loop = editingLoop(form, modelName);
    await loop.run(60);
    expect(clearings(loop, "cached")).toBeGreaterThan(4);
    const { messages } = scene.simulator.requests;
    for (const [at, request] of messages.entries()) {
      const before = messages[at - 1];
      if (before === undefined) continue;
      const deletedNow = deleted(request) - deleted(before);
      const cached = cacheRead(before) + cacheWritten(before);
      expect(cacheRead(request)).toBeGreaterThanOrEqual((cached - deletedNow) * 0.98);
      expect(editsOf(request)).toBeGreaterThanOrEqual(editsOf(before));
    }
    expect(deleted(messages.at(-1) as LoggedRequest)).toBeGreaterThan(20_000);
    const counted = loop.lastTurn?.tokens ?? 0;
    expect(counted / (messages.at(-1)?.inputTokens ?? 1)).toBeGreaterThan(0.9);
    expect(counted / (messages.at(-1)?.inputTokens ?? 1)).toBeLessThan(1.25);
    expect(JSON.stringify(loop.conversation.messages).includes("cleared")).toBe(false);
    expect(loop.eventsOf("cache-break")).toEqual([]);
    expect(loop.eventsOf("usage-distrusted")).toEqual([]);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("drops the cache edits when the cache expires, and clears results in the messages after a long pause", async () => {
    const loop = editingLoop(form, modelName);
    expect(await workUntil(loop, () => clearings(loop, "cached") >= 2)).toBe(true);
    await loop.run(2);
    const pinned = editsOf(scene.simulator.requests.last);
    expect(pinned).toBeGreaterThan(10);

    scene.simulator.clock.advance(6 * MINUTE_MS);
    await loop.turn();
    expect(loop.eventsOf("pinned-edits-dropped")).toMatchObject([{ edits: pinned, reason: "cache-lost" }]);
    await loop.run(5);
    expect(editsOf(scene.simulator.requests.last)).toBe(0);
    expect(clearings(loop, "time")).toBe(0);

    scene.simulator.clock.advance(61 * MINUTE_MS);
    await loop.turn();
    expect(clearings(loop, "time")).toBe(1);
    expect(JSON.stringify(loop.conversation.messages).includes("[Old tool result content cleared]")).toBe(
      true,
    );
    const before = clearings(loop, "cached");
    expect(await workUntil(loop, () => clearings(loop, "cached") > before)).toBe(true);
    await loop.run(5);
    expect(scene.simulator.requests.invalid).toEqual([]);
    expect(loop.eventsOf("usage-distrusted")).toEqual([]);
  });
});

describe("clearing by cache edits", () => {
  it("the engine trusts the reported usage, however much content the cache edits delete", async () => {
    const loop = editingLoop("messages", "claude-haiku-4-5", 5_000);
    await loop.run(150);
    expect(scene.simulator.requests.invalid).toEqual([]);
    expect(loop.eventsOf("usage-distrusted")).toEqual([]);
    expect(loop.eventsOf("cache-break")).toEqual([]);
    expect(clearings(loop, "size")).toBe(0);
    const reported = loop.eventsOf("window-checked").map(({ tokens }) => tokens);
    expect(Math.max(...reported)).toBeLessThan(WINDOW_TOKENS);
    const { totals } = scene.simulator.requests;
    expect(totals.cacheReadTokens / totals.inputTokens).toBeGreaterThan(0.9);
  });

  it("the request after a full compaction has no cache edits", async () => {
    const loop = editingLoop();
    await loop.run(40);
    expect(editsOf(scene.simulator.requests.last)).toBeGreaterThan(0);
    const turn = await loop.compactor.compact(loop.conversation.messages);
    loop.conversation.resumeFrom(turn.messages);
    await loop.turn();
    expect(editsOf(scene.simulator.requests.last)).toBe(0);
    expect(scene.simulator.requests.invalid).toEqual([]);
    expect(loop.eventsOf("cache-break")).toEqual([]);
  });

  it("the token count stays correct when spans are collapsed after cache edits", async () => {
    await scene.simulator.close();
    scene = await openScene({ windowTokens: 80_000, switches: { cacheEdits: true } });
    const loop = new AgentLoop({
      simulator: scene.simulator,
      model: connect(scene.simulator, "claude-haiku-4-5", { cacheEdits: true }),
      resultTokens: 2_000,
      compactor: { window: { tokens: 80_000 }, clearing: { form: "cached" }, collapse: {} },
    });
    expect(await workUntil(loop, () => loop.eventsOf("spans-committed").length > 0)).toBe(true);
    expect(clearings(loop, "cached")).toBeGreaterThan(8);
    expect(loop.recoveries).toBe(0);
    const sent = scene.simulator.requests.messages.at(-1)?.inputTokens ?? 0;
    expect(sent).toBeGreaterThan(0);
    expect(loop.lastTurn?.tokens).toBeGreaterThan(sent * 0.9);
    expect(loop.lastTurn?.tokens).toBeLessThan(sent * 1.25);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("a subagent never clears tool results by cache edits", async () => {
    const parent = editingLoop();
    const child = new AgentLoop({
      simulator: scene.simulator,
      model: parent.model,
      resultTokens: 1_000,
      seed: 9,
      use: parent.compactor.child({ model: parent.model, window: { tokens: WINDOW_TOKENS } }),
    });
    await child.run(30);
    expect(clearings(parent, "cached")).toBe(0);
    expect(scene.simulator.requests.all.some((request) => editsOf(request) > 0)).toBe(false);
  });
});

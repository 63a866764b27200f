import type { Model } from "@longhaul/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { type AgentLoop, connect, type EventOf, type LoopOptions } from "./agent-loop.case.ts";
import { openScene, type Scene, workUntil } from "./scene.case.ts";

const HAIKU = "claude-haiku-4-5";
const WINDOW_TOKENS = 100_000;
const MINUTE_MS = 60_000;

async function open(): Promise<Scene> {
  const scene = await openScene({ windowTokens: WINDOW_TOKENS });
  onTestFinished(() => scene.simulator.close());
  return scene;
}

const work = ({ loop }: Scene, more: Partial<LoopOptions> = {}): AgentLoop =>
  loop({ resultTokens: 700, ...more, compactor: { clearing: {}, ...more.compactor } });

/** Creates a model with unknown prices, so that there is no cost arithmetic. */
function unpriced({ simulator }: Scene): Model {
  const model = connect(simulator, HAIKU);
  return { ...model, name: "house-model", stream: (...call) => model.stream(...call) };
}

const weighed = (loop: AgentLoop, occasion: EventOf<"weighed">["occasion"]): readonly EventOf<"weighed">[] =>
  loop.eventsOf("weighed").filter((event) => event.occasion === occasion);

const optionOf = ({ options }: EventOf<"weighed">, name: string): EventOf<"weighed">["options"][number] => {
  const found = options.find((option) => option.name === name);
  if (found === undefined) throw new Error(`no option ${name}`);
  return found;
};

describe("clearing of tool results before the threshold", () => {
  it("the engine clears results early when sending them costs more than a cache rewrite, and reports why", async () => {
    const prices = { [HAIKU]: { input: 1, output: 5, cacheRead: 0.4, cacheWrite5m: 1.25 } };
    const loop = work(await open(), { compactor: { cost: { prices } } });
    expect(await workUntil(loop, () => weighed(loop, "early").length > 0)).toBe(true);
    const [event] = weighed(loop, "early");
    if (event === undefined) throw new Error("nothing was weighed");
    expect(event).toMatchObject({ chosen: "clear", why: "cheapest" });
    const { total, breakEvenTurns = Number.POSITIVE_INFINITY } = optionOf(event, "clear");
    expect(total).toBeLessThan(optionOf(event, "nothing").total);
    expect(breakEvenTurns).toBeLessThanOrEqual(event.expectedTurns / 2);
    const [cleared] = loop.eventsOf("results-cleared");
    const { autoCompact = 0 } = loop.lastTurn?.thresholds ?? {};
    expect(cleared?.turnId).toBe(event.turnId);
    expect(cleared?.tokensBefore).toBeLessThan(autoCompact);
    expect(cleared?.tokensBefore).toBeGreaterThan(autoCompact / 2);
    const { dollars = 0, saved = 0, rewrite = 0, call } = cleared?.netSaving ?? {};
    expect(dollars).toBeGreaterThan(0);
    expect(dollars).toBeCloseTo(saved - rewrite, 10);
    expect(rewrite).toBeGreaterThan(0);
    expect(call).toBe(0);
  });

  it("the engine does not clear results early when cache reads cost almost nothing", async () => {
    const prices = { [HAIKU]: { input: 1, output: 5, cacheRead: 0.001, cacheWrite5m: 1.25 } };
    const loop = work(await open(), { compactor: { cost: { prices } } });
    expect(await workUntil(loop, () => weighed(loop, "full").length > 0)).toBe(true);
    expect(weighed(loop, "early")).toEqual([]);
  });

  it("the engine clears results as late as possible when the prices are unknown", async () => {
    const scene = await open();
    const loop = work(scene, { model: unpriced(scene) });
    expect(await workUntil(loop, () => loop.eventsOf("results-cleared").length > 0)).toBe(true);
    const [cleared] = loop.eventsOf("results-cleared");
    expect(cleared?.tokensBefore).toBeGreaterThan((loop.lastTurn?.thresholds.autoCompact ?? 0) * 0.9);
    expect(cleared?.netSaving).toBeUndefined();
    expect(loop.eventsOf("weighed")).toEqual([]);
  });

  it("the engine clears results after a pause that outlasts the cache, because a rewrite is then free", async () => {
    const scene = await open();
    const loop = work(scene);
    const hasResults = (): boolean => (loop.lastTurn?.tokens ?? 0) > 45_000;
    expect(await workUntil(loop, hasResults)).toBe(true);
    expect(loop.eventsOf("results-cleared")).toEqual([]);
    scene.simulator.clock.advance(6 * MINUTE_MS);
    await loop.turn();
    expect(weighed(loop, "cold")).toMatchObject([{ chosen: "clear" }]);
    const [cleared] = loop.eventsOf("results-cleared");
    expect(cleared?.netSaving?.rewrite).toBe(0);
    expect(cleared?.netSaving?.dollars).toBeGreaterThan(0);
  });
});

describe("decisions at the threshold", () => {
  it("the engine compacts at the threshold when clearing would free too little to pay for the cache rewrite", async () => {
    const loop = work(await open());
    expect(await workUntil(loop, () => loop.eventsOf("compacted").length > 0)).toBe(true);
    const event = weighed(loop, "full").at(-1);
    expect(event?.chosen).toBe("compact");
    const [compacted] = loop.eventsOf("compacted");
    const { dollars = 0, saved = 0, rewrite = 0, call = 0 } = compacted?.netSaving ?? {};
    expect(dollars).toBeCloseTo(saved - rewrite - call, 10);
    expect(call).toBeGreaterThan(0);
  });

  it("the engine clears results at the threshold when compaction is disabled", async () => {
    const loop = work(await open(), { compactor: { settings: { values: { autoCompactEnabled: false } } } });
    const isFull = (): boolean =>
      loop.eventsOf("results-cleared").some(({ tokensBefore }) => tokensBefore > 60_000);
    expect(await workUntil(loop, isFull)).toBe(true);
    expect(weighed(loop, "full")).toEqual([]);
  });
});

describe("cost of a long run", () => {
  it("a long run costs less when the engine compares prices than when it clears as late as possible", {
    timeout: 120_000,
  }, async () => {
    const dollars = async (isPriced: boolean): Promise<number> => {
      const scene = await open();
      const loop = work(scene, isPriced ? {} : { model: unpriced(scene) });
      await loop.run(160);
      return scene.simulator.requests.totals.costDollars;
    };
    const asLateAsPossible = await dollars(false);
    expect(await dollars(true)).toBeLessThan(asLateAsPossible * 0.95);
  });
});

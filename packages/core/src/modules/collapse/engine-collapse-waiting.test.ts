import { isSpanCall, scriptedModel } from "@longhaul/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentLoop, LoopOptions } from "../../../../../test/engine/agent-loop.case.ts";
import { asCandidate } from "../../../../../test/engine/faults.case.ts";
import { openScene, type Scene, workUntil } from "../../../../../test/engine/scene.case.ts";
import type { CompactorOptions } from "../../../../../test/support/full-compactor.ts";
import { asCondensed } from "./summarize-span.ts";

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene.simulator.close());

/**
 * Makes the model never answer and returns options with this timeout. The timeout is either very short or too
 * long for the test.
 */
const silent = (timeoutMs: number): Partial<CompactorOptions> => {
  scene.simulator.fail({ kind: "silence" }, { when: isSpanCall, times: Number.POSITIVE_INFINITY });
  return { collapse: { timeoutMs } };
};

/** Works for a while, then adds user text until the window is nearly full. */
async function nearlyFull(
  compactor: Partial<CompactorOptions>,
  more: Partial<LoopOptions> = {},
): Promise<AgentLoop> {
  const loop = scene.loop({ compactor, ...more });
  const isHalfFull = (): boolean => {
    const { tokens = 0, thresholds } = loop.lastTurn ?? {};
    return thresholds !== undefined && tokens > thresholds.effective * 0.5;
  };
  expect(await workUntil(loop, isHalfFull)).toBe(true);
  await fillUp(loop);
  return loop;
}

async function fillUp(loop: AgentLoop): Promise<void> {
  for (;;) {
    // Uses a caller for which the engine never collapses.
    const turn = await loop.compactor.before(loop.conversation.messages, { caller: "compact" });
    if (turn.tokens > turn.thresholds.effective * 0.96) return;
    loop.conversation.addUser("const tide = ledger.total(berth);\n".repeat(50));
  }
}

describe("span collapse in a window that is nearly full", () => {
  it("in a nearly full window, the next call waits for collapsed spans and reports the status", async () => {
    const shown: unknown[] = [];
    const loop = await nearlyFull({ collapse: {} }, { host: { onStatus: (status) => shown.push(status) } });
    expect(loop.eventsOf("span-staged")).toEqual([]);
    await loop.turn();
    const { tokens = 0, thresholds } = loop.lastTurn ?? {};
    expect(tokens).toBeLessThan((thresholds?.effective ?? 0) * 0.95);
    expect(loop.eventsOf("span-staged").length).toBeGreaterThan(0);
    expect(loop.eventsOf("spans-committed")).toHaveLength(1);
    expect(loop.recoveries).toBe(0);
    expect(shown).toEqual(["compacting", undefined]);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("uses the built-in summarizer for spans when the model never answers", async () => {
    const loop = await nearlyFull(silent(20));
    await loop.turn();
    const failures = loop.eventsOf("span-failed");
    expect(failures.length).toBeGreaterThan(0);
    expect(failures.every(({ reason }) => reason === "model-aborted")).toBe(true);
    expect(loop.eventsOf("span-staged").every(({ by }) => by === "built-in")).toBe(true);
    expect(loop.eventsOf("spans-committed")).toHaveLength(1);
    expect(loop.recoveries).toBe(0);
  });

  it("waits for the span summary in progress instead of starting another one", async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const summaryModel = scriptedModel(async () => {
      await gate;
      return asCondensed("- Work was done.");
    });
    const loop = scene.loop({ compactor: { collapse: {}, compaction: { model: summaryModel } } });
    expect(await workUntil(loop, () => summaryModel.requests.length > 0)).toBe(true);
    await fillUp(loop);
    const turn = loop.turn();
    await new Promise((resolve) => setImmediate(resolve));
    expect(summaryModel.requests).toHaveLength(1);
    release();
    await turn;
    expect(loop.eventsOf("span-staged")[0]?.by).toBe("direct");
    expect(loop.eventsOf("spans-committed")).toHaveLength(1);
  });

  it.each(["empty", "no-tags", "endless", "tool-call", "refuses"] as const)(
    "uses the built-in summarizer when the model's answer for a span is unusable: %s",
    async (spans) => {
      await scene.simulator.close();
      scene = await openScene({ spans });
      const loop = await nearlyFull({ collapse: {} });
      await loop.turn();
      expect(loop.eventsOf("span-failed").length).toBeGreaterThan(0);
      expect(loop.eventsOf("span-staged").every(({ by }) => by === "built-in")).toBe(true);
      expect(loop.eventsOf("spans-committed")).toHaveLength(1);
      expect(loop.recoveries).toBe(0);
    },
  );
});

describe("an abort while the call waits for a span", () => {
  it("an abort during the wait for a span ends the turn at once and changes nothing", async () => {
    const shown: unknown[] = [];
    const loop = await nearlyFull(silent(3_600_000), { host: { onStatus: (status) => shown.push(status) } });
    const { messages } = loop.conversation;
    const untouched = async (): Promise<string> =>
      JSON.stringify((await loop.compactor.before(messages, { caller: "compact" })).request);
    const before = await untouched();
    const asked = new Promise<void>((resolve) => {
      const look = setInterval(() => {
        if (!scene.simulator.requests.all.some((request) => isSpanCall(asCandidate(request)))) return;
        clearInterval(look);
        resolve();
      }, 1);
    });
    const controller = new AbortController();
    const turn = loop.compactor.before(messages, { signal: controller.signal });
    const ended = expect(turn).rejects.toMatchObject({ code: "model-aborted" });
    await asked;
    controller.abort();
    await ended;

    expect(loop.events.filter(({ type }) => type.startsWith("span"))).toEqual([]);
    expect(shown).toEqual(["compacting", undefined]);
    expect(await untouched()).toBe(before);
    expect(loop.conversation.messages).toBe(messages);
    await loop.compactor.close();
  });
});

import type { ContentBlock } from "@longhaul/core";
import { ModelError } from "@longhaul/core";
import { afterEach, describe, expect, it } from "vitest";
import { pngOfSize } from "../support/builders.ts";
import type { AgentLoop } from "./agent-loop.case.ts";
import { connect } from "./agent-loop.case.ts";
import { asCandidate, isWork, status, tooLong } from "./faults.case.ts";
import type { Form } from "./host-conversation.case.ts";
import { isTooLong } from "./long-run.case.ts";
import { openScene, type Scene, type SceneOptions, WINDOW_TOKENS, workUntil } from "./scene.case.ts";

let scene: Scene;
const open = async (options: SceneOptions = {}): Promise<void> => {
  scene = await openScene({ keepBodies: 1_000, ...options });
};
afterEach(() => scene.simulator.close());

/**
 * Counts the agent's own calls that the simulator refused as too long. Excludes summary calls, which can be
 * too long too.
 */
const overflows = (): number =>
  scene.simulator.requests.all.filter(
    (request) =>
      request.fault === undefined && isTooLong(request.error?.message) && isWork(asCandidate(request)),
  ).length;

const bigImage = (bytes: number): ContentBlock => ({
  type: "image",
  source: { type: "base64", media_type: "image/png", data: pngOfSize(bytes) },
});

describe.each<readonly [string, Form]>([
  ["claude-haiku-4-5", "messages"],
  ["claude-haiku-4-5", "entries"],
  ["claude-opus-5-5", "messages"],
  ["claude-opus-5-5", "entries"],
])("an unexpected overflow, with %s, for a host that keeps %s", (modelName, form) => {
  it("the engine recovers from an overflow with one more call, and then knows the true window", async () => {
    await open();
    const loop = scene.loop({ modelName, form, compactor: { window: { tokens: 200_000 } } });
    expect(await workUntil(loop, () => loop.recoveries === 1)).toBe(true);
    expect(overflows()).toBe(1);
    expect(loop.lastTurn?.thresholds.size).toBe(WINDOW_TOKENS);
    const [recovered] = loop.eventsOf("recovered");
    expect(recovered).toMatchObject({ from: "model-too-long" });
    expect(recovered?.tokensAfter).toBeLessThan(loop.lastTurn?.thresholds.autoCompact ?? 0);
    const [event] = loop.eventsOf("compacted");
    expect(event).toMatchObject({ trigger: "reactive" });
    expect(event?.messagesKept).toBeGreaterThan(0);

    await loop.run(60);
    expect(overflows()).toBe(1);
    expect(loop.recoveries).toBe(1);
    expect(loop.eventsOf("compacted").length).toBeGreaterThan(1);
    expect(loop.eventsOf("compaction-judged").every(({ verdict }) => verdict === "effective")).toBe(true);
  });
});

describe("recovery of the engine from an overflow", () => {
  it("the engine recovers from an overflow error without figures", async () => {
    await open();
    const loop = scene.loop();
    await loop.run(12);
    scene.simulator.fail(
      { ...status(400), message: "Input is too long for requested model." },
      { when: isWork },
    );
    await loop.turn();
    expect(loop.recoveries).toBe(1);
    const [recovered] = loop.eventsOf("recovered");
    expect(recovered?.tokensAfter).toBeLessThan((recovered?.tokensBefore ?? 0) * 0.8);
    await loop.run(3);
  });

  it("the engine replaces old images with markers after a 413 error, and keeps the newest image", async () => {
    await open({ windowTokens: 200_000 });
    const loop = scene.loop({ compactor: { window: { tokens: 200_000 } } });
    await loop.run(2);
    for (let picture = 0; picture < 4; picture++) {
      loop.conversation.addUser([{ type: "text", text: `picture ${picture}` }, bigImage(2_000_000)]);
      await loop.turn();
    }
    const bytesBefore = scene.simulator.requests.last?.bytes ?? 0;
    scene.simulator.fail(status(413), { when: isWork });
    await loop.turn();
    expect(loop.recoveries).toBe(1);
    expect(loop.eventsOf("recovered")[0]).toMatchObject({ from: "model-too-large" });
    expect(scene.simulator.requests.last?.bytes).toBeLessThan(bytesBefore * 0.7);
    await loop.run(3);
  });

  it("the engine recovers once per turn, lets the user see a second error, and may recover in the next turn", async () => {
    await open();
    const loop = scene.loop();
    await loop.run(12);
    scene.simulator.fail(tooLong(40_000, WINDOW_TOKENS), { times: 2, when: isWork });
    await expect(loop.turn()).rejects.toMatchObject({ code: "model-too-long" });
    const again = new ModelError({ kind: "too-long" }, "too long");
    expect(await loop.compactor.recover(again)).toBeUndefined();
    expect(loop.eventsOf("compacted")).toHaveLength(1);
    await loop.run(3);
    scene.simulator.fail(tooLong(40_000, WINDOW_TOKENS), { when: isWork });
    await loop.turn();
    expect(loop.recoveries).toBe(2);
  });

  it("the engine recovers from repeated overflows, but requests no summary after the third one", async () => {
    await open();
    const loop = scene.loop();
    await loop.run(12);
    for (let times = 0; times < 4; times++) {
      scene.simulator.fail(tooLong(40_000, WINDOW_TOKENS), { when: isWork });
      await loop.turn();
    }
    expect(loop.recoveries).toBe(4);
    const steps = loop.eventsOf("compacted").map(({ attempts }) => attempts.at(-1)?.step);
    expect(steps).toEqual(["direct", "direct", "direct", "built-in"]);
    expect(loop.eventsOf("compacted").at(-1)?.attempts).toHaveLength(1);
  });

  it.each([{ DISABLE_AUTO_COMPACT: "1" }, { DISABLE_COMPACT: "1" }])(
    "the engine does not recover from an overflow with the setting %o",
    async (environment) => {
      await open();
      const loop = scene.loop({ compactor: { settings: { environment } } });
      await expect(loop.run(100)).rejects.toMatchObject({ code: "model-too-long" });
      expect(loop.events.filter(({ type }) => type === "compaction-started")).toEqual([]);
      expect(overflows()).toBe(1);
    },
  );

  it("the engine compacts only after overflows in reactive-only mode", async () => {
    await open();
    const loop = scene.loop({ compactor: { compaction: { reactiveOnly: true } } });
    await workUntil(loop, () => loop.recoveries >= 3);
    expect(overflows()).toBe(3);
    const triggers = loop.eventsOf("compacted").map(({ trigger }) => trigger);
    expect(triggers).toEqual(["reactive", "reactive", "reactive"]);
    expect(loop.eventsOf("breaker-opened")).toEqual([]);
  });

  it("the engine does not try to recover from other failures than overflows", async () => {
    await open();
    const loop = scene.loop();
    await loop.run(3);
    for (const error of [new Error("oh"), "no", undefined, new ModelError({ kind: "overloaded" }, "busy")]) {
      expect(await loop.compactor.recover(error)).toBeUndefined();
    }
    await loop.run(2);
  });
});

describe("thinking that is valid only after unchanged messages", () => {
  const thinkingLoop = async (): Promise<AgentLoop> => {
    await open();
    const loop = scene.loop({
      model: connect(scene.simulator, "claude-opus-5-5", { onThinkingMismatch: "fail" }),
    });
    await loop.run(6);
    expect(JSON.stringify(loop.conversation.messages).includes('"thinking"')).toBe(true);
    return loop;
  };

  it("the engine omits thinking after messages that the host changed, and the provider accepts the request", async () => {
    const loop = await thinkingLoop();
    const [, ...rest] = loop.conversation.messages;
    loop.conversation.resumeFrom([{ role: "user", content: "Something else was said." }, ...rest]);
    await loop.turn();
    expect(loop.eventsOf("thinking-left-out")).toMatchObject([{ reason: "rewrite" }]);
    await loop.run(5);
    expect(loop.recoveries).toBe(0);
    expect(JSON.stringify(loop.conversation.messages).includes('"thinking"')).toBe(true);
  });

  it("the engine omits thinking once per turn when the provider refuses it for an unknown reason", async () => {
    const loop = await thinkingLoop();
    const mismatch = new ModelError({ kind: "thinking-mismatch" }, "refused");
    const again = await loop.compactor.recover(mismatch);
    expect(JSON.stringify(again?.messages)).toContain('"role":"assistant"');
    expect(JSON.stringify(again?.messages)).not.toContain('"thinking"');
    expect(loop.eventsOf("thinking-left-out")).toMatchObject([{ reason: "mismatch" }]);
    expect(await loop.compactor.recover(mismatch)).toBeUndefined();
  });
});

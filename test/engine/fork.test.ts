import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { asCandidate, isFork } from "./faults.case.ts";
import type { Form } from "./host-conversation.case.ts";
import { cacheRead, cacheWritten, hasCompacted, openScene, type Scene, workUntil } from "./scene.case.ts";

let scene: Scene;
beforeEach(async () => {
  scene = await openScene({ play: { uses: (name) => name !== "Write" } });
});
afterEach(() => scene.simulator.close());

const COURSES: readonly (readonly [string, Form])[] = [
  ["claude-haiku-4-5", "messages"],
  ["claude-haiku-4-5", "entries"],
  ["claude-opus-5-5", "messages"],
  ["claude-opus-5-5", "entries"],
];

describe.each(COURSES)(
  "the summary fork of a conversation with %s, for a host that keeps %s",
  (modelName, form) => {
    it("a summary fork reads at least 95% of the prefix from the cache and writes nothing to it", async () => {
      const loop = scene.loop({ modelName, form });
      for (const times of [1, 2, 3]) {
        expect(await workUntil(loop, hasCompacted(loop, times))).toBe(true);
        const { all } = scene.simulator.requests;
        const at = all.findLastIndex((request) => isFork(asCandidate(request)));
        const [work, fork] = [all[at - 1], all[at]];
        expect(work?.status).toBe(200);
        expect(cacheRead(fork)).toBeGreaterThanOrEqual((work?.inputTokens ?? Infinity) * 0.95);
        expect(cacheWritten(fork)).toBe(0);
        const hasThinking = JSON.stringify(fork?.body).includes('"type":"thinking"');
        expect(hasThinking).toBe(modelName === "claude-opus-5-5");
      }
      const attempts = loop.eventsOf("compacted").flatMap((event) => event.attempts);
      expect(attempts.map(({ step, outcome }) => `${step} ${outcome}`)).toEqual(
        Array(3).fill("fork written"),
      );
      expect(scene.simulator.requests.invalid).toEqual([]);
    });

    it("the engine makes no summary fork when the prompt cache is cold, because a direct call is smaller", async () => {
      const loop = scene.loop({ modelName, form, turnMs: 6 * 60_000 });
      expect(await workUntil(loop, hasCompacted(loop))).toBe(true);
      const [event] = loop.eventsOf("compacted");
      expect(event?.attempts.map(({ step, outcome, reason }) => [step, outcome, reason])).toEqual([
        ["fork", "unavailable", "no-shared-prefix"],
        ["direct", "written", undefined],
      ]);
    });

    it("the engine makes a summary fork within an hour, and reads from the cache, when the cache lives that long", async () => {
      const loop = scene.loop({
        modelName,
        form,
        turnMs: 20 * 60_000,
        compactor: { cost: { cacheTtl: "1h" } },
      });
      expect(await workUntil(loop, hasCompacted(loop))).toBe(true);
      expect(loop.eventsOf("compacted")[0]?.attempts).toMatchObject([{ step: "fork", outcome: "written" }]);
      const fork = scene.simulator.requests.all.findLast((request) => isFork(asCandidate(request)));
      expect(cacheRead(fork)).toBeGreaterThanOrEqual((fork?.inputTokens ?? Infinity) * 0.9);
      expect(cacheWritten(fork)).toBe(0);
      expect(loop.eventsOf("cache-break")).toEqual([]);
    });
  },
);

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FRAME } from "./agent-loop.case.ts";
import type { Form } from "./host-conversation.case.ts";
import { hasCompacted, openScene, type Scene, workUntil } from "./scene.case.ts";

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene.simulator.close());

const FORMS: readonly (readonly [string, Form])[] = [
  ["claude-opus-5-5", "messages"],
  ["claude-opus-5-5", "entries"],
];

describe.each(FORMS)(
  "the provider's own compaction, with %s, for a host that keeps %s",
  (modelName, form) => {
    it("the provider returns a signed summary block that starts every later request, over several compactions", async () => {
      const loop = scene.loop({ modelName, form, compactor: { compaction: { summarizer: "provider" } } });
      for (const times of [1, 2, 3]) {
        expect(await workUntil(loop, hasCompacted(loop, times))).toBe(true);
        await loop.run(3);
        const sent = scene.simulator.requests.all.at(-1)?.body;
        expect(JSON.stringify(sent?.messages).slice(0, 400)).toContain('"type":"compaction"');
      }
      const attempts = loop.eventsOf("compacted").flatMap((event) => event.attempts);
      expect(attempts.map(({ step, outcome }) => `${step} ${outcome}`)).toEqual(
        Array(3).fill("provider written"),
      );
      expect(loop.eventsOf("compaction-judged").map(({ verdict }) => verdict)).toEqual(
        Array(3).fill("effective"),
      );
      expect(scene.simulator.requests.invalid).toEqual([]);
      expect(loop.problems).toEqual([]);
    });
  },
);

describe.each(FORMS)(
  "the provider's compaction after an overflow, with %s, for a host that keeps %s",
  (modelName, form) => {
    it("the provider's own compaction after an overflow keeps no thinking that the API rejects", async () => {
      const compactor = { window: { tokens: 200_000 }, compaction: { summarizer: "provider" } } as const;
      const loop = scene.loop({ modelName, form, compactor });
      expect(await workUntil(loop, () => loop.recoveries === 1)).toBe(true);
      const [compacted] = loop.eventsOf("compacted");
      expect(compacted).toMatchObject({ trigger: "reactive", attempts: [{ step: "provider" }] });
      expect(compacted?.messagesKept).toBeGreaterThan(0);
      const rules = scene.simulator.requests.invalid.map(({ error }) => error?.rule);
      expect(rules).not.toContain("thinkingBoundElsewhere");
    });
  },
);

describe("the provider's own clearing of tool results", () => {
  it.each(["adaptive", "between_tools", "disabled"])(
    "the provider clears tool results itself and accepts the request, with thinking of type %s",
    async (type) => {
      const frame = { ...FRAME, thinking: { type } } as typeof FRAME;
      const loop = scene.loop({
        modelName: "claude-sonnet-5-5",
        frame,
        compactor: { clearing: { form: "api" } },
      });
      await loop.run(2);
      expect(scene.simulator.requests.invalid).toEqual([]);
      expect(JSON.stringify(scene.simulator.requests.last?.body)).toContain("context_management");
    },
  );
});

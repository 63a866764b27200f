import type { Message } from "@longhaul/core";
import { createHooks } from "@longhaul/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRandom } from "../../packages/simulator/src/demo/random.ts";
import { toolResult, toolUse } from "../support/builders.ts";
import { AgentLoop } from "./agent-loop.case.ts";
import type { Form } from "./host-conversation.case.ts";
import { hasCompacted, openScene, type Scene, WINDOW_TOKENS, workUntil } from "./scene.case.ts";

const DAY_MS = 86_400_000;

let scene: Scene;
beforeEach(async () => {
  scene = await openScene({ keepBodies: 10 });
});
afterEach(() => scene.simulator.close());

/** Damaged conversations. Each breaks a different rule of the API. */
const DAMAGED: readonly (readonly [string, readonly unknown[]])[] = [
  ["a result without a call", [{ role: "user", content: [toolResult("gone", "orphan")] }]],
  [
    "a call without a result",
    [
      { role: "user", content: "Go." },
      { role: "assistant", content: [toolUse("lost", "Read", { file_path: "/a" })] },
      { role: "user", content: "Go on." },
    ],
  ],
  ["an assistant message at the start", [{ role: "assistant", content: "Hello." }]],
  [
    "empty texts",
    [
      { role: "user", content: "" },
      { role: "user", content: [{ type: "text", text: " " }] },
    ],
  ],
  [
    "a duplicate id",
    [
      { role: "user", content: "Go." },
      { role: "assistant", content: [toolUse("twice", "Read", {})] },
      { role: "user", content: [toolResult("twice", "one"), toolResult("twice", "two")] },
    ],
  ],
  [
    "text before results",
    [
      { role: "user", content: "Go." },
      { role: "assistant", content: [toolUse("late", "Read", {})] },
      { role: "user", content: [{ type: "text", text: "first" }, toolResult("late", "then")] },
    ],
  ],
  ["a hole in the list", [null, { role: "user", content: "Go." }]],
];

describe("a conversation that breaks API rules", () => {
  it.each(DAMAGED)(
    "the engine repairs a conversation with %s, reports the repair once, and continues",
    async (_name, damaged) => {
      const loop = scene.loop();
      const said = loop.conversation.messages;
      loop.conversation.resumeFrom([...(damaged as readonly Message[]), ...said]);
      await loop.turn();
      expect(loop.lastTurn?.findings.length).toBeGreaterThan(0);
      expect(loop.eventsOf("request-repaired").length).toBeGreaterThan(0);
      const repaired = loop.eventsOf("request-repaired").length;
      expect(await workUntil(loop, hasCompacted(loop))).toBe(true);
      await loop.run(3);
      expect(loop.eventsOf("request-repaired")).toHaveLength(repaired);
      expect(scene.simulator.requests.invalid).toEqual([]);
    },
  );

  it("the engine repairs damage that appears in the middle of a conversation", async () => {
    const loop = scene.loop();
    for (const [, damaged] of DAMAGED) {
      await loop.run(2);
      loop.conversation.resumeFrom([...loop.conversation.messages, ...(damaged as readonly Message[])]);
    }
    await loop.run(40);
    expect(loop.eventsOf("compacted").length).toBeGreaterThan(0);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });
});

describe.each<Form>(["messages", "entries"])("a clock that jumps, with %s", (form) => {
  it("a jumping clock neither repeats nor prevents compactions and clearing", async () => {
    const random = createRandom(5);
    const loop: AgentLoop = new AgentLoop({
      simulator: scene.simulator,
      form,
      resultTokens: 800,
      compactor: {
        window: { tokens: WINDOW_TOKENS },
        ports: { now: () => new Date(Date.UTC(2026, 0, 1) + random.between(-400, 400) * DAY_MS) },
      },
    });
    await loop.run(120);
    expect(loop.eventsOf("compacted").length).toBeGreaterThan(1);
    expect(loop.eventsOf("compacted").length).toBeLessThan(20);
    expect(loop.eventsOf("compaction-judged").every(({ verdict }) => verdict === "effective")).toBe(true);
    expect(loop.recoveries).toBe(0);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });
});

describe("hooks that misbehave", () => {
  it("hooks that hang, throw or return an invalid answer do not stop a compaction", async () => {
    const fail = (): never => {
      throw new Error("broken");
    };
    const hooks = createHooks({
      callbacks: {
        PreCompact: [{ hooks: [() => new Promise(() => undefined)], timeout: 0.05 }, fail],
        PostCompact: [async () => 42],
      },
    });
    const shown: string[] = [];
    const loop = scene.loop({ compactor: { hooks }, host: { onHookMessage: (text) => shown.push(text) } });
    expect(await workUntil(loop, hasCompacted(loop))).toBe(true);
    const states = loop.eventsOf("hook-ended").map(({ event, state }) => `${event} ${state}`);
    expect(states).toContain("PreCompact timed-out");
    expect(states).toContain("PreCompact failed");
    expect(shown.length).toBe(states.length);
    expect(loop.eventsOf("hooks-started").slice(0, 2)).toMatchObject([
      { event: "PreCompact", hooks: 2 },
      { event: "PostCompact", hooks: 1 },
    ]);
    await loop.run(2);
  });

  it("a hook that blocks stops the compaction, and the turn continues and reports the block", async () => {
    const hooks = {
      run: async () => ({ outcomes: [], output: "", blocked: { by: "guard", reason: "not now" } }),
    };
    const loop = scene.loop({ compactor: { hooks } });
    expect(await workUntil(loop, () => loop.eventsOf("breaker-opened").length > 0)).toBe(true);
    const failures = loop.eventsOf("compaction-failed");
    expect(failures.map(({ reason }) => reason)).toEqual(Array(3).fill("blocked_by_hook"));
    expect(loop.problems).toEqual(Array(3).fill("compaction-blocked"));
    expect(loop.eventsOf("compacted")).toEqual([]);
  });
});

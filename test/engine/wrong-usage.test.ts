import type { ModelUsage } from "@longhaul/core";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { AgentLoop } from "./agent-loop.case.ts";
import type { Form } from "./host-conversation.case.ts";
import { openScene, type Scene, WINDOW_TOKENS } from "./scene.case.ts";

const TURNS = 70;

let scene: Scene;
let honestCompactions = 0;

type Distort = (usage: ModelUsage) => ModelUsage | undefined;

async function run(
  distort: Distort | undefined,
  form: Form = "messages",
  resultTokens = 800,
): Promise<AgentLoop> {
  // Uses a fixed seed. The bounds below fit only this session, because the number of compactions differs by
  // session.
  scene = await openScene({ keepBodies: 3, play: { seed: 6 } });
  const loop = scene.loop({
    modelName: "claude-opus-5-5",
    form,
    resultTokens,
    ...(distort === undefined ? {} : { distort }),
  });
  await loop.run(TURNS);
  return loop;
}

const times =
  (factor: number): Distort =>
  (usage) => ({
    ...usage,
    input_tokens: Math.round(usage.input_tokens * factor),
    cache_read_input_tokens: Math.round(usage.cache_read_input_tokens * factor),
    cache_creation_input_tokens: Math.round(usage.cache_creation_input_tokens * factor),
  });

const everySeventh = (distort: Distort): Distort => {
  let calls = 0;
  return (usage) => (++calls % 7 === 0 ? distort(usage) : usage);
};

beforeAll(async () => {
  honestCompactions = (await run(undefined)).eventsOf("compacted").length;
  await scene.simulator.close();
});
afterEach(() => scene.simulator.close());

const PERSISTENT: readonly (readonly [string, Distort])[] = [
  ["is missing", () => undefined],
  ["is zero", times(0)],
  ["is negative", times(-1)],
  ["is a tenth of the true value", times(0.1)],
  ["is a third of the true value", times(0.33)],
  ["is not a number", (usage) => ({ ...usage, input_tokens: Number.NaN })],
  [
    "omits the cached tokens",
    ({ input_tokens, output_tokens }) => ({ input_tokens, output_tokens }) as ModelUsage,
  ],
];

describe("wrong usage reports of a provider", () => {
  const COURSES: readonly (readonly [string, Form, Distort])[] = [
    ...PERSISTENT.map(([name, distort]) => [name, "messages", distort] as const),
    ["is missing", "entries", () => undefined],
    ["is a tenth of the true value", "entries", times(0.1)],
  ];

  it.each(COURSES)(
    "the engine soon stops trusting replies whose usage %s, for a host that keeps %s",
    async (_, form, distort) => {
      const loop = await run(distort, form);
      expect(loop.eventsOf("usage-distrusted").length).toBeGreaterThan(TURNS / 2);
      // The engine compacts neither constantly nor too rarely.
      expect(loop.eventsOf("compacted").length).toBeGreaterThan(2);
      expect(loop.eventsOf("compacted").length).toBeLessThan(honestCompactions * 1.5 + 2);
      expect(loop.recoveries).toBe(0);
      expect(loop.problems).toEqual([]);
      expect(scene.simulator.requests.invalid).toEqual([]);
    },
  );

  const FORMS: readonly Form[] = ["messages", "entries"];

  it.each(FORMS)(
    "the engine believes a doubled usage when the provider repeats it, for a host that keeps %s",
    async (form) => {
      const loop = await run(times(2), form);
      expect(loop.eventsOf("usage-distrusted").length).toBeLessThan(TURNS / 5);
      expect(loop.eventsOf("compacted").length).toBeGreaterThan(0);
      // A trusted usage report does not change the size of the window.
      expect(loop.lastTurn?.thresholds.size).toBe(WINDOW_TOKENS);
      expect(loop.recoveries).toBe(0);
      expect(scene.simulator.requests.invalid).toEqual([]);
      // By the provider's figures the window is full, so the host gets this problem.
      expect(loop.problems).toContain("window-full");
    },
  );

  it("the engine believes a usage that is six times too high until an overflow error states the true size", async () => {
    const loop = await run(times(6));
    // No compaction gets below the threshold, so the circuit breaker opens. Then a request overflows.
    expect(loop.problems).toContain("window-full");
    expect(loop.recoveries).toBe(1);
    expect(scene.simulator.requests.invalid).toHaveLength(1);
    expect(loop.eventsOf("usage-distrusted").length).toBeGreaterThan(TURNS / 2);
    expect(loop.lastTurn?.thresholds.size).toBe(WINDOW_TOKENS);
  });

  it("a compaction without reported usage leaves more of the window free, because the estimate is padded", async () => {
    const loop = await run(() => undefined, "messages", 400);
    const shares = loop.eventsOf("compacted").map(({ tokensAfter, chain }) => tokensAfter / chain.threshold);
    expect(Math.max(...shares)).toBeLessThan(0.5);
  });

  it("the engine believes correct usage reports between wrong ones", async () => {
    const loop = await run(everySeventh(times(6)));
    expect(loop.eventsOf("usage-distrusted").length).toBeGreaterThan(TURNS / 10);
    expect(loop.eventsOf("usage-distrusted").length).toBeLessThan(TURNS / 5);
    expect(Math.abs(loop.eventsOf("compacted").length - honestCompactions)).toBeLessThan(3);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it("a halved usage does not hide a full window: the engine still compacts, and nothing overflows", async () => {
    const loop = await run(times(0.5));
    expect(loop.recoveries).toBe(0);
    expect(loop.problems).toEqual([]);
    expect(scene.simulator.requests.invalid).toEqual([]);
    // Estimates are padded by a third, so compactions come early. After three of them, the circuit breaker
    // may open.
    const heldBack = loop
      .eventsOf("window-checked")
      .filter(
        ({ decision, tokens, threshold }) => decision === "breaker-open" && tokens * (4 / 3) >= threshold,
      );
    expect(heldBack).toEqual([]);
  });
});

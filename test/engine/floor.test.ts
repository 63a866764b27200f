import type { RequestFrame } from "@longhaul/core/compaction";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FRAME } from "./agent-loop.case.ts";
import { openScene, type Scene, workUntil } from "./scene.case.ts";

let scene: Scene;
beforeEach(async () => {
  scene = await openScene({ keepBodies: 3, play: { seed: 5 } });
});
afterEach(() => scene.simulator.close());

/**
 * Creates a system prompt of about 17 tokens per line. The window has 32,000 tokens, and the threshold is at
 * 21,440.
 */
const frameOf = (lines: number): RequestFrame => ({
  ...FRAME,
  system: "You are a careful engineer. Working directory: /home/dev/harbour\n".repeat(lines),
  max_tokens: 2_000,
});

describe("a conversation whose system prompt and tools alone exceed the threshold", () => {
  it("the engine reports once that no compaction can help, and then compacts only after an overflow", async () => {
    const loop = scene.loop({ frame: frameOf(1_300) });
    await loop.run(40);
    expect(loop.eventsOf("floor-above-threshold")).toHaveLength(1);
    expect(loop.problems.filter((code) => code === "window-full").length).toBeGreaterThan(0);
    const checks = loop.eventsOf("window-checked").filter(({ decision }) => decision === "compact");
    expect(checks.length).toBeGreaterThan(5);
    expect(loop.eventsOf("compacted").filter(({ trigger }) => trigger === "auto")).toEqual([]);
  });

  it("the engine keeps recovering from overflows, because each recovered call succeeds", async () => {
    const loop = scene.loop({ frame: frameOf(1_300) });
    expect(await workUntil(loop, () => loop.recoveries >= 6)).toBe(true);
    const judged = loop.eventsOf("compaction-judged");
    expect(judged.every(({ verdict }) => verdict === "effective")).toBe(true);
    expect(loop.eventsOf("compacted").every(({ messagesKept }) => messagesKept > 0)).toBe(true);
  });

  it("the engine throws the provider's error after a few tries when the window itself is too small", async () => {
    const loop = scene.loop({ frame: frameOf(1_760) });
    await expect(loop.run(60)).rejects.toMatchObject({ code: "model-too-long" });
    const before = loop.eventsOf("compacted").length;
    expect(before).toBeLessThan(12);
    for (let again = 0; again < 12; again++) await loop.turn().catch(() => undefined);
    expect(loop.eventsOf("compacted").length - before).toBeLessThan(8);
  });
});

describe("a system prompt and tools whose size is only estimated", () => {
  it("the engine does not report that compaction cannot help before the provider has reported usage", async () => {
    const loop = scene.loop({ frame: frameOf(900) });
    await loop.run(3);
    expect(loop.eventsOf("floor-above-threshold")).toEqual([]);
    expect(loop.problems).toEqual([]);
  });
});

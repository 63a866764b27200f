import type { RequestFrame } from "@longhaul/core/compaction";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FRAME } from "./agent-loop.case.ts";
import { openScene, type Scene, workUntil } from "./scene.case.ts";

let scene: Scene;
beforeEach(async () => {
  scene = await openScene({ keepBodies: 3, play: { seed: 5 } });
});
afterEach(() => scene.simulator.close());

/** Creates a frame of about 17 tokens per line. The window has 32,000, and the threshold is at 21,440. */
const frameOf = (lines: number): RequestFrame => ({
  ...FRAME,
  system: "You are a careful engineer. Working directory: /home/dev/harbour\n".repeat(lines),
  max_tokens: 2_000,
});

describe("a conversation that no compaction can get below its threshold", () => {
  it("reports once that no compaction can help, and does not compact before an overflow", async () => {
    const loop = scene.loop({ frame: frameOf(1_300) });
    await loop.run(40);
    expect(loop.eventsOf("floor-above-threshold")).toHaveLength(1);
    expect(loop.problems.filter((code) => code === "window-full").length).toBeGreaterThan(0);
    const checks = loop.eventsOf("window-checked").filter(({ decision }) => decision === "compact");
    expect(checks.length).toBeGreaterThan(5);
    expect(loop.eventsOf("compacted").filter(({ trigger }) => trigger === "auto")).toEqual([]);
  });

  it("continues while overflows can be recovered, because a successful call is not a strike", async () => {
    const loop = scene.loop({ frame: frameOf(1_300) });
    expect(await workUntil(loop, () => loop.recoveries >= 6)).toBe(true);
    const judged = loop.eventsOf("compaction-judged");
    expect(judged.every(({ verdict }) => verdict === "effective")).toBe(true);
    expect(loop.eventsOf("compacted").every(({ messagesKept }) => messagesKept > 0)).toBe(true);
  });

  it("throws the provider's error after a few tries when the window itself is too small", async () => {
    const loop = scene.loop({ frame: frameOf(1_760) });
    await expect(loop.run(60)).rejects.toMatchObject({ code: "model-too-long" });
    const before = loop.eventsOf("compacted").length;
    expect(before).toBeLessThan(12);
    for (let again = 0; again < 12; again++) await loop.turn().catch(() => undefined);
    expect(loop.eventsOf("compacted").length - before).toBeLessThan(8);
  });
});

describe("an estimated floor", () => {
  it("does not report that compaction cannot help before the provider has reported usage", async () => {
    const loop = scene.loop({ frame: frameOf(900) });
    await loop.run(3);
    expect(loop.eventsOf("floor-above-threshold")).toEqual([]);
    expect(loop.problems).toEqual([]);
  });
});

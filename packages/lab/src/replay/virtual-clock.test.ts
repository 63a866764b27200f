import { describe, expect, it } from "vitest";
import { VirtualClock } from "./virtual-clock.ts";

describe("VirtualClock", () => {
  it("VirtualClock ends each sleep at its own time, the earliest first", async () => {
    const clock = new VirtualClock(1_000);
    const seen: string[] = [];
    const wait = async (name: string, milliseconds: number): Promise<void> => {
      await clock.sleep(milliseconds);
      seen.push(`${name} at ${clock.now()}`);
    };
    void wait("late", 500);
    void wait("early", 100);
    void wait("after the end", 5_000);
    await clock.advanceTo(2_000);
    expect(seen).toEqual(["early at 1100", "late at 1500"]);
    expect(clock.now()).toBe(2_000);
  });

  it("advances the clock only as far as the awaited work needs", async () => {
    const clock = new VirtualClock(0);
    void clock.sleep(60_000);
    expect(await clock.advanceUntilDone(Promise.resolve("at once"))).toBe("at once");
    expect(clock.now()).toBe(0);
    await clock.advanceUntilDone(clock.sleep(250).then(() => clock.sleep(250)));
    expect(clock.now()).toBe(500);
  });

  it("never moves the clock backward", async () => {
    const clock = new VirtualClock(1_000);
    await clock.advanceTo(500);
    expect(clock.now()).toBe(1_000);
  });
});

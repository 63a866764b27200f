import { describe, expect, it } from "vitest";
import type { Entry } from "../messages/entry.ts";
import { ModelError } from "../models/model-error.ts";
import type { CompactorEvent } from "./events.ts";
import type { HostCallbacks } from "./options.ts";
import { callIgnoringErrors, createSafeHost, withHostStatus } from "./reporter.ts";

const identity = () => ({ agentId: undefined, turnId: "turn-1" });
const entry = { type: "progress" } as unknown as Entry;

class Screen {
  readonly seen: string[] = [];
  readonly callbacks: HostCallbacks = {
    onStatus: (status) => void this.seen.push(`status ${status}`),
    onStreamMode: (mode) => void this.seen.push(`mode ${mode}`),
    onLength: (characters) => void this.seen.push(`length ${characters}`),
    onProgress: ({ phase }) => void this.seen.push(`progress ${phase}`),
  };
}

/** A timer that moves only manually. */
class Timer {
  ticks: (() => void)[] = [];
  intervalMs = 0;
  readonly every = (intervalMs: number, tick: () => void): (() => void) => {
    this.intervalMs = intervalMs;
    this.ticks.push(tick);
    return () => {
      this.ticks = this.ticks.filter((other) => other !== tick);
    };
  };
  tick(): void {
    for (const tick of this.ticks) tick();
  }
}

const RESET = ["mode undefined", "length 0", "status undefined"];

describe("while a compaction runs", () => {
  it("the host shows it at once, every 30 seconds again, and nothing after the end", async () => {
    const screen = new Screen();
    const timer = new Timer();
    await withHostStatus(createSafeHost(screen.callbacks, identity), timer, async () => {
      expect(screen.seen).toEqual(["status compacting", "mode requesting"]);
      timer.tick();
      timer.tick();
    });
    expect(timer.intervalMs).toBe(30_000);
    expect(timer.ticks).toEqual([]);
    expect(screen.seen.slice(2)).toEqual(["status compacting", "status compacting", ...RESET]);
  });

  it("stream mode and length follow the progress", async () => {
    const screen = new Screen();
    await withHostStatus(createSafeHost(screen.callbacks, identity), new Timer(), async (onProgress) => {
      screen.seen.length = 0;
      onProgress({ phase: "sent", messages: 4 });
      onProgress({ phase: "thinking" });
      onProgress({ phase: "thinking" });
      onProgress({ phase: "writing", characters: 7 });
      onProgress({ phase: "writing", characters: 9 });
      onProgress({ phase: "retrying", attempt: 1, delayMs: 5, code: "model-overloaded" });
    });
    expect(screen.seen).toEqual([
      ...["progress sent", "length 0"],
      ...["progress thinking", "mode thinking", "progress thinking"],
      ...["progress writing", "mode responding", "length 7", "progress writing", "length 9"],
      ...["progress retrying", "mode requesting", "length 0"],
      ...RESET,
    ]);
  });

  it("stays as it is while hooks run", async () => {
    const screen = new Screen();
    await withHostStatus(createSafeHost(screen.callbacks, identity), new Timer(), async (onProgress) => {
      onProgress({ phase: "writing", characters: 7 });
      screen.seen.length = 0;
      onProgress({ phase: "hooks", event: "PostCompact", hooks: 1 });
    });
    expect(screen.seen).toEqual(["progress hooks", ...RESET]);
  });

  it.each([
    ["a failure", () => Promise.reject(new Error("no"))],
    ["an abort", () => Promise.reject(new ModelError({ kind: "aborted" }, "over"))],
    [
      "a throw before anything was awaited",
      () => {
        throw new Error("at once");
      },
    ],
  ])("%s resets status, mode and length exactly once", async (_, run) => {
    const screen = new Screen();
    const timer = new Timer();
    await expect(withHostStatus(createSafeHost(screen.callbacks, identity), timer, run)).rejects.toThrow();
    expect(screen.seen).toEqual(["status compacting", "mode requesting", ...RESET]);
    expect(timer.ticks).toEqual([]);
  });

  it("what an aborted call still says after the end is not shown", async () => {
    const screen = new Screen();
    let late: (() => void) | undefined;
    await withHostStatus(createSafeHost(screen.callbacks, identity), new Timer(), async (onProgress) => {
      late = () => onProgress({ phase: "writing", characters: 5 });
    });
    const before = screen.seen.length;
    late?.();
    expect(screen.seen).toHaveLength(before);
  });

  it("gives back what came out, and works with the system's timer and no callbacks at all", async () => {
    expect(await withHostStatus(createSafeHost({}, identity), {}, async () => 7)).toBe(7);
  });
});

describe("callbacks that throw", () => {
  const boom = (): never => {
    throw new Error("host");
  };

  it("stop nothing, and each is reported by its name", async () => {
    const events: CompactorEvent[] = [];
    const host = createSafeHost(
      {
        onEvent: (event) => void events.push(event),
        onProgress: boom,
        onStatus: boom,
        onStreamMode: boom,
        onLength: boom,
        onHookMessage: boom,
        onMessage: boom,
        caches: [boom],
      },
      () => ({ agentId: "agent-1", turnId: "turn-9" }),
    );
    const outcome = await withHostStatus(host, new Timer(), async (onProgress) => {
      onProgress({ phase: "writing", characters: 3 });
      host.hookMessage("done");
      host.message(entry);
      host.clearCaches();
      return "whole";
    });
    expect(outcome).toBe("whole");
    const names = events.map((event) =>
      event.type === "host-callback-failed" ? event.callback : event.type,
    );
    expect(names).toEqual([
      ...["onStatus", "onStreamMode", "onProgress", "onStreamMode", "onLength"],
      ...["onHookMessage", "onMessage", "caches"],
      ...["onStreamMode", "onLength", "onStatus"],
    ]);
    expect(events[0]).toEqual({
      agentId: "agent-1",
      turnId: "turn-9",
      type: "host-callback-failed",
      callback: "onStatus",
    });
  });

  it("one cache that fails does not keep the others from being emptied", () => {
    let emptied = 0;
    const clean = (): void => {
      emptied += 1;
    };
    createSafeHost({ caches: [clean, boom, clean] }, identity).clearCaches();
    expect(emptied).toBe(2);
  });

  it("an onEvent that throws is told of that once, and may throw again", () => {
    const told: string[] = [];
    const host = createSafeHost(
      {
        onEvent: (event) => {
          told.push(event.type);
          boom();
        },
      },
      identity,
    );
    host.event({ type: "snipped", messages: 1, tokensFreed: 2 });
    expect(told).toEqual(["snipped", "host-callback-failed"]);
  });

  it("async callbacks that reject are reported too", async () => {
    const events: CompactorEvent[] = [];
    const rejecting = (() => Promise.reject(new Error("later"))) as () => void;
    const host = createSafeHost(
      { onEvent: (event) => void events.push(event), onStatus: rejecting },
      identity,
    );
    host.status("compacting");
    await Promise.resolve();
    expect(events).toMatchObject([{ type: "host-callback-failed", callback: "onStatus" }]);
    expect(() =>
      createSafeHost({ onEvent: rejecting }, identity).event({
        type: "snipped",
        messages: 0,
        tokensFreed: 0,
      }),
    ).not.toThrow();
    await Promise.resolve();
  });

  it("are called as they are when they do not", () => {
    const seen: unknown[] = [];
    const host = createSafeHost(
      { onHookMessage: (text) => void seen.push(text), onMessage: (message) => void seen.push(message) },
      identity,
    );
    host.hookMessage("PreCompact completed");
    host.message(entry);
    expect(seen).toEqual(["PreCompact completed", entry]);
    expect(() => callIgnoringErrors(boom)).not.toThrow();
  });
});

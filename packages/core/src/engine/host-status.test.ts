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

/** A timer that ticks only when a test calls `tick`. */
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

describe("host status during a compaction", () => {
  it("sends the status at the start and every 30 seconds during a compaction, and resets it at the end", async () => {
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

  it("updates stream mode and response length with the progress of a compaction", async () => {
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

  it("keeps stream mode and response length while hooks run", async () => {
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
      "a synchronous throw",
      () => {
        throw new Error("at once");
      },
    ],
  ])("resets status, stream mode and response length exactly once after %s", async (_, run) => {
    const screen = new Screen();
    const timer = new Timer();
    await expect(withHostStatus(createSafeHost(screen.callbacks, identity), timer, run)).rejects.toThrow();
    expect(screen.seen).toEqual(["status compacting", "mode requesting", ...RESET]);
    expect(timer.ticks).toEqual([]);
  });

  it("ignores the progress of an aborted call after the compaction ended", async () => {
    const screen = new Screen();
    let late: (() => void) | undefined;
    await withHostStatus(createSafeHost(screen.callbacks, identity), new Timer(), async (onProgress) => {
      late = () => onProgress({ phase: "writing", characters: 5 });
    });
    const before = screen.seen.length;
    late?.();
    expect(screen.seen).toHaveLength(before);
  });

  it("withHostStatus returns the result of the work, even without a timer or callbacks", async () => {
    expect(await withHostStatus(createSafeHost({}, identity), {}, async () => 7)).toBe(7);
  });
});

describe("host callbacks that throw", () => {
  const boom = (): never => {
    throw new Error("host");
  };

  it("a host callback that throws does not stop the compaction, and an event names the callback", async () => {
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

  it("clears the other caches of the host when clearing one of them fails", () => {
    let emptied = 0;
    const clean = (): void => {
      emptied += 1;
    };
    createSafeHost({ caches: [clean, boom, clean] }, identity).clearCaches();
    expect(emptied).toBe(2);
  });

  it("an onEvent callback that throws receives one event about its exception, and may throw again", () => {
    const received: string[] = [];
    const host = createSafeHost(
      {
        onEvent: (event) => {
          received.push(event.type);
          boom();
        },
      },
      identity,
    );
    host.event({ type: "snipped", messages: 1, tokensFreed: 2 });
    expect(received).toEqual(["snipped", "host-callback-failed"]);
  });

  it("reports a host callback that returns a rejected promise", async () => {
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

  it("passes hook messages and entries to host callbacks unchanged", () => {
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

import { describe, expect, it, vi } from "vitest";
import type { HookCallback } from "./handlers.ts";
import type { CommandRequest, CommandResult, HookInput } from "./hook.ts";
import { createHooks } from "./runner.ts";

const base = { session_id: "s1", transcript_path: "/t.jsonl", cwd: "/project" };
const preCompact: HookInput = { ...base, hook_event_name: "PreCompact", trigger: "auto" };
const postCompact: HookInput = { ...base, hook_event_name: "PostCompact", trigger: "manual" };
const sessionStart: HookInput = { ...base, hook_event_name: "SessionStart", source: "compact" };

const command = (text: string, more: object = {}) => ({ type: "command", command: text, ...more });
const settingsOf = (...hooks: object[]) => ({ hooks: { PreCompact: [{ hooks }] } });
const exited: CommandResult = { state: "exited", exitCode: 0, stdout: "", stderr: "" };
const never = (): Promise<never> => new Promise(() => undefined);

describe("hooks that fail or hang", () => {
  it.each([
    [
      "an error",
      () => {
        throw new Error("boom");
      },
      "boom",
    ],
    ["a rejection", () => Promise.reject(new Error("boom")), "boom"],
    [
      "a text",
      () => {
        throw "boom";
      },
      "boom",
    ],
    [
      "a value without text",
      () => {
        throw Object.create(null);
      },
      "cannot be converted to text",
    ],
    [
      "an error without a text message",
      () => {
        throw Object.assign(new Error(), { message: 7 });
      },
      "7",
    ],
  ])("a callback that throws %s fails without affecting other hooks", async (_, callback, words) => {
    const { outcomes, output } = await createHooks({
      callbacks: { PreCompact: [callback, () => "said"] },
    }).run(preCompact);
    expect(outcomes[0]).toMatchObject({ state: "failed", text: expect.stringMatching(`failed: .*${words}`) });
    expect(output).toBe("said");
  });

  it("the outcome of a hook explains why its command could not run", async () => {
    const settings = settingsOf(command("a"));
    const states: CommandResult[] = [{ state: "not-started", reason: "no shell" }, { state: "ended" }];
    for (const result of states) {
      const { outcomes } = await createHooks({ settings, runCommand: async () => result }).run(preCompact);
      expect(outcomes[0]).toMatchObject({ state: "failed", text: expect.stringMatching(/no shell|stopped/) });
    }
    expect((await createHooks({ settings }).run(preCompact)).outcomes[0]?.text).toBe(
      "PreCompact [a] failed: this host cannot run commands",
    );
  });

  it("a hook fails, but nothing is thrown, if its input cannot be written as JSON", async () => {
    const circular: Record<string, unknown> = { ...preCompact };
    circular.self = circular;
    const hooks = createHooks({ settings: settingsOf(command("a")), runCommand: async () => exited });
    expect((await hooks.run(circular as never)).outcomes[0]?.state).toBe("failed");
  });

  it("a hook that hangs ends after its own timeout, and its signal is aborted", async () => {
    let own: AbortSignal | undefined;
    const hang: HookCallback = (_, __, { signal }) => {
      own = signal;
      return never();
    };
    const hooks = createHooks({
      callbacks: { PreCompact: [{ hooks: [hang], timeout: 0.02 }, () => "said"] },
    });
    const { outcomes, output } = await hooks.run(preCompact);
    expect(outcomes[0]).toMatchObject({
      state: "timed-out",
      text: "PreCompact [hang] failed: timed out after 0.02 seconds",
    });
    expect(own?.aborted).toBe(true);
    expect(output).toBe("said");
  });

  it("a hook without its own timeout may run for 30 seconds", async () => {
    vi.useFakeTimers();
    try {
      for (const input of [preCompact, postCompact, sessionStart]) {
        const hooks = createHooks({ callbacks: { [input.hook_event_name]: [never] } });
        const state = hooks.run(input).then(({ outcomes }) => outcomes[0]?.state);
        await vi.advanceTimersByTimeAsync(29_999);
        expect(await Promise.race([state, "runs"])).toBe("runs");
        await vi.advanceTimersByTimeAsync(1);
        expect(await state).toBe("timed-out");
        expect(vi.getTimerCount()).toBe(0);
      }
    } finally {
      vi.useRealTimers();
    }
  });

  it("a custom command runner that never returns does not delay the hooks beyond the timeout", async () => {
    vi.useFakeTimers();
    try {
      const hooks = createHooks({ settings: settingsOf(command("a", { timeout: 1 })), runCommand: never });
      const run = hooks.run(preCompact);
      await vi.advanceTimersByTimeAsync(4_000);
      expect((await run).outcomes[0]?.state).toBe("timed-out");
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("waits until the processes of a timed-out command have ended", async () => {
    let isGone = false;
    const runCommand = ({ signal }: CommandRequest) =>
      new Promise<CommandResult>((resolve) => {
        const end = () => {
          isGone = true;
          resolve({ state: "ended" });
        };
        signal.addEventListener("abort", () => setTimeout(end, 20));
      });
    const hooks = createHooks({ settings: settingsOf(command("a", { timeout: 0.01 })), runCommand });
    expect((await hooks.run(preCompact)).outcomes[0]?.state).toBe("timed-out");
    expect(isGone).toBe(true);
  });
});

describe("abort of running hooks", () => {
  it("an abort ends all running hooks at once and leaves no abort listener", async () => {
    const abort = new AbortController();
    const added = vi.spyOn(abort.signal, "addEventListener");
    const removed = vi.spyOn(abort.signal, "removeEventListener");
    const signals: AbortSignal[] = [];
    const hang = (_: HookInput, { signal }: { signal: AbortSignal }) => {
      signals.push(signal);
      if (signals.length === 20) queueMicrotask(() => abort.abort());
      return never();
    };
    const callbacks = { PreCompact: Array.from({ length: 20 }, () => hang.bind(null)) };
    const { outcomes, output, blocked } = await createHooks({ callbacks }).run(preCompact, {
      signal: abort.signal,
    });
    expect(new Set(outcomes.map(({ state }) => state))).toEqual(new Set(["aborted"]));
    expect(signals.every((signal) => signal.aborted)).toBe(true);
    expect({ output, blocked }).toEqual({ output: "", blocked: undefined });
    // Node warns of a leak above ten listeners.
    expect(added).toHaveBeenCalledTimes(1);
    expect(removed).toHaveBeenCalledTimes(1);
  });

  it("runs no hook if the signal is already aborted", async () => {
    const callback = vi.fn();
    const hooks = createHooks({ callbacks: { PreCompact: [callback] } });
    const { outcomes } = await hooks.run(preCompact, { signal: AbortSignal.abort() });
    expect(outcomes).toMatchObject([{ state: "aborted", text: expect.stringContaining("failed: aborted") }]);
    expect(callback).not.toHaveBeenCalled();
  });

  it("an abort does not change the outcome of a hook that has ended", async () => {
    const abort = new AbortController();
    let own: AbortSignal | undefined;
    const ended = (_: HookInput, { signal }: { signal: AbortSignal }) => {
      own = signal;
      return "said";
    };
    const abortLater = () => new Promise<void>((resolve) => setTimeout(resolve, 5)).then(() => abort.abort());
    const hooks = createHooks({ callbacks: { PreCompact: [ended, abortLater, never] } });
    const { outcomes, output } = await hooks.run(preCompact, { signal: abort.signal });
    expect(outcomes.map(({ state }) => state)).toEqual(["completed", "aborted", "aborted"]);
    expect(output).toBe("said");
    expect(own?.aborted).toBe(false);
  });
});

import { describe, expect, it, vi } from "vitest";
import type { HookCallback } from "./handlers.ts";
import type { CommandRequest, CommandResult, HookInput } from "./hook.ts";
import { createHooks } from "./runner.ts";

const base = { session_id: "s1", transcript_path: "/t.jsonl", cwd: "/project" };
const preCompact: HookInput = {
  ...base,
  hook_event_name: "PreCompact",
  trigger: "auto",
  custom_instructions: null,
};
const postCompact: HookInput = { ...base, hook_event_name: "PostCompact", trigger: "manual" };
const sessionStart: HookInput = { ...base, hook_event_name: "SessionStart", source: "compact" };

const command = (text: string) => ({ type: "command", command: text });
const settingsOf = (...hooks: object[]) => ({ hooks: { PreCompact: [{ hooks }] } });
const exited = (stdout: string, exitCode = 0, stderr = ""): CommandResult => ({
  state: "exited",
  exitCode,
  stdout,
  stderr,
});

describe("createHooks().run", () => {
  it("runs hooks of the settings and of the host, and joins their output with an empty line", async () => {
    const hooks = createHooks({
      settings: settingsOf(command("a"), command("b"), command("quiet")),
      runCommand: async ({ command: name }) => exited(name === "quiet" ? " \n" : ` says ${name}\n`),
      callbacks: { PreCompact: [{ hooks: [async () => "says c"] }, () => "says d"] },
    });
    const { output, outcomes, blocked } = await hooks.run(preCompact);
    expect(output).toBe("says a\n\nsays b\n\nsays c\n\nsays d");
    expect(outcomes.map(({ kind }) => kind)).toEqual([
      "command",
      "command",
      "command",
      "callback",
      "function",
    ]);
    expect(outcomes[0]?.text).toBe("PreCompact [a] completed: says a");
    expect(blocked).toBeUndefined();
  });

  it("returns no outcomes and no output if there are no hooks", async () => {
    expect(await createHooks().run(preCompact)).toEqual({ outcomes: [], output: "" });
  });

  it("passes the input as JSON, the working directory and environment variables to a hook command", async () => {
    const requests: CommandRequest[] = [];
    const runCommand = async (request: CommandRequest) => {
      requests.push(request);
      return exited("");
    };
    await createHooks({ settings: settingsOf(command("a")), runCommand }).run(preCompact);
    expect(JSON.parse(requests[0]?.input ?? "")).toEqual(preCompact);
    expect(requests[0]).toMatchObject({
      cwd: "/project",
      environment: { CLAUDE_PROJECT_DIR: "/project", LONGHAUL_PROJECT_DIR: "/project" },
    });
  });

  it("matches PreCompact and PostCompact hooks by trigger, and SessionStart hooks by source", async () => {
    const groups = [
      { matcher: "auto", hooks: [() => "auto"] },
      { matcher: "manual", hooks: [() => "manual"] },
      { matcher: "compact", hooks: [() => "compact"] },
      { matcher: "startup|resume", hooks: [() => "other"] },
    ];
    const hooks = createHooks({
      callbacks: { PreCompact: groups, PostCompact: groups, SessionStart: groups },
    });
    expect((await hooks.run(preCompact)).output).toBe("auto");
    expect((await hooks.run(postCompact)).output).toBe("manual");
    expect((await hooks.run({ ...sessionStart, trigger: "auto" })).output).toBe("compact");
  });

  it("runs a hook once, even if it is in two files or under two matchers", async () => {
    const ran: string[] = [];
    const callback: HookCallback = () => void ran.push("callback");
    const file = { hooks: { PreCompact: [{ hooks: [command("a"), command("b")] }] } };
    const other = { hooks: { PreCompact: [{ matcher: "auto", hooks: [command("a")] }] } };
    const hooks = createHooks({
      settings: [file, other],
      runCommand: async ({ command: name }) => {
        ran.push(name);
        return exited("");
      },
      callbacks: { PreCompact: [{ hooks: [callback] }, { matcher: "auto", hooks: [callback, callback] }] },
    });
    expect((await hooks.run(preCompact)).outcomes).toHaveLength(3);
    expect(ran).toEqual(["a", "b", "callback"]);
  });

  it("uses the first timeout if two settings files define the same hook", async () => {
    const file = (timeout: number) => settingsOf({ ...command("a"), timeout });
    const ends = async ({ signal }: CommandRequest): Promise<CommandResult> => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return { state: "ended" };
    };
    const { outcomes } = await createHooks({ settings: [file(0.01), file(0.02)], runCommand: ends }).run(
      preCompact,
    );
    expect(outcomes.map(({ text }) => text)).toEqual(["PreCompact [a] failed: timed out after 0.01 seconds"]);
  });

  it("leaves no timer after all hooks have ended", async () => {
    vi.useFakeTimers();
    try {
      await createHooks({ callbacks: { PreCompact: [() => "said"] } }).run(preCompact);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("runs all hooks of an event at the same time", async () => {
    let meet = (): void => undefined;
    const met = new Promise<void>((resolve) => {
      meet = resolve;
    });
    const hooks = createHooks({
      callbacks: { PreCompact: [async () => void (await met), { hooks: [() => meet()] }] },
    });
    const { outcomes } = await hooks.run(preCompact);
    expect(outcomes.map(({ state }) => state)).toEqual(["completed", "completed"]);
  });

  it("calls a callback with the arguments of the Agent SDK, and a plain function with input and signal", async () => {
    const callback = vi.fn();
    const plain = vi.fn();
    await createHooks({ callbacks: { PreCompact: [{ hooks: [callback] }, plain] } }).run(preCompact);
    const options = { signal: expect.any(AbortSignal) };
    expect(callback.mock.calls).toEqual([[preCompact, undefined, options]]);
    expect(plain.mock.calls).toEqual([[preCompact, options]]);
  });

  it("a callback that changes its input does not affect other hooks", async () => {
    const spoil = (input: HookInput) => void Object.assign(input, { session_id: "spoilt" });
    const input = { ...preCompact };
    const read = (own: HookInput) => own.session_id;
    expect((await createHooks({ callbacks: { PreCompact: [spoil, read] } }).run(input)).output).toBe("s1");
  });

  it("warns about invalid hooks and runs the others", async () => {
    const hooks = createHooks({
      settings: [{ hooks: { Stop: [], PreCompact: 7 } }, "text"],
      callbacks: {
        PreCompact: [
          { matcher: "(", hooks: [() => "never"] },
          { hooks: [() => "once"], timeout: -1 },
          null as never,
          { hooks: ["text" as never] },
        ],
      },
    });
    expect(hooks.warnings).toHaveLength(5);
    expect((await hooks.run(preCompact)).output).toBe("once");
  });

  it("runs no hooks for an unknown event", async () => {
    const hooks = createHooks({ callbacks: { PreCompact: [() => "said"] } });
    for (const name of ["constructor", "__proto__", "Stop"]) {
      expect((await hooks.run({ ...preCompact, hook_event_name: name as never })).outcomes).toEqual([]);
    }
  });
});

describe("a hook that blocks", () => {
  it("a PreCompact hook can block the compaction, and the output of other hooks is kept", async () => {
    const hooks = createHooks({
      settings: settingsOf(command("stop it")),
      runCommand: async () => exited("", 2, "tests are running"),
      callbacks: { PreCompact: [() => "said"] },
    });
    const run = await hooks.run(preCompact);
    expect(run.blocked).toEqual({ by: "stop it", reason: "tests are running" });
    expect(run.outcomes[0]).toMatchObject({
      state: "blocked",
      text: "PreCompact [stop it] blocked the compaction: tests are running",
    });
    expect(run.output).toBe("said");
  });

  it("a PostCompact or SessionStart hook that tries to block fails", async () => {
    const block = () => ({ decision: "block", reason: "no" });
    const hooks = createHooks({ callbacks: { PostCompact: [block], SessionStart: [block] } });
    for (const input of [postCompact, sessionStart]) {
      const run = await hooks.run(input);
      expect(run.blocked).toBeUndefined();
      expect(run.outcomes[0]).toMatchObject({ state: "failed", text: expect.stringContaining("failed: no") });
    }
  });
});

describe("duration of a hook", () => {
  it("measures the duration of a hook with the given clock, but never returns a negative duration", async () => {
    const times = [1_000, 1_250, 5_000, 4_000];
    const hooks = createHooks({ callbacks: { PreCompact: [() => "said"] }, now: () => times.shift() ?? 0 });
    expect((await hooks.run(preCompact)).outcomes[0]?.durationMs).toBe(250);
    expect((await hooks.run(preCompact)).outcomes[0]?.durationMs).toBe(0);
  });
});

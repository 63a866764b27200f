import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import type { HookInput, HookRun, HookRunner } from "../hooks/hook.ts";
import type { Entry } from "../messages/entry.ts";
import { type HookOptions, HookSteps } from "./hook-steps.ts";

const TITLE = { type: "summary", cwd: "/nowhere" } as unknown as Entry;

interface RecordedSteps {
  readonly inputs: HookInput[];
  readonly signals: unknown[];
  readonly steps: HookSteps;
}

function recordedSteps(
  answer: Partial<HookRun> = {},
  options: HookOptions = {},
  entries: readonly Entry[] = [],
): RecordedSteps {
  const inputs: HookInput[] = [];
  const signals: unknown[] = [];
  const hooks: HookRunner = {
    run: async (input, { signal } = {}) => {
      inputs.push(input);
      signals.push(signal);
      return { outcomes: [], output: "", ...answer };
    },
  };
  const steps = new HookSteps({ entries, trigger: "manual" }, { hooks, ...options });
  return { inputs, signals, steps };
}

describe("hook input", () => {
  it("passes empty session fields to a hook when the session is unknown", async () => {
    const { inputs, steps } = recordedSteps();
    await steps.sessionStart();
    expect(inputs).toStrictEqual([
      { session_id: "", transcript_path: "", cwd: "", hook_event_name: "SessionStart", source: "compact" },
    ]);
  });

  it("passes a hook the session id from the newest entry, but the folder only from the host", async () => {
    const c = new ConversationBuilder();
    c.user("older", { cwd: "/before" });
    c.user("newest");
    const entries = [...c.entries, TITLE];
    const { inputs, steps } = recordedSteps({}, {}, entries);
    await steps.postCompact("so far");
    expect(inputs[0]).toStrictEqual({
      session_id: "session-1",
      transcript_path: "",
      cwd: "",
      hook_event_name: "PostCompact",
      trigger: "manual",
      compact_summary: "so far",
    });
    const hookContext = { sessionId: "s", cwd: "/host", transcriptPath: "/t" };
    const better = recordedSteps({}, { hookContext }, entries);
    await better.steps.sessionStart();
    expect(better.inputs[0]).toMatchObject({ session_id: "s", cwd: "/host", transcript_path: "/t" });
  });

  it("passes the abort signal to a hook", async () => {
    const { signal } = new AbortController();
    const { signals, steps } = recordedSteps({}, { signal });
    await steps.sessionStart();
    expect(signals).toEqual([signal]);
  });
});

describe("hook output", () => {
  it("trims hook output and ignores blank output", async () => {
    expect(await recordedSteps({ output: " \n the branch is main \n" }).steps.sessionStart()).toBe(
      "the branch is main",
    );
    const { inputs, steps } = recordedSteps({ output: "\n" });
    expect(await steps.preCompact(undefined)).toBeUndefined();
    expect(await steps.preCompact(" ")).toBeUndefined();
    expect(await steps.preCompact(" be brief\n")).toBe("be brief");
    expect(inputs[0]?.custom_instructions).toBeNull();
  });

  it("runs no hooks without a hook runner, and returns the user's instructions unchanged", async () => {
    const { steps } = recordedSteps({}, { hooks: undefined });
    expect(await steps.preCompact("be brief")).toBe("be brief");
    expect(await steps.sessionStart()).toBe("");
    expect(steps.outcomes).toEqual([]);
  });

  it("the error of a blocked compaction names the hook, its reason if any, and what to do", async () => {
    const refusal = (reason: string): Promise<unknown> =>
      recordedSteps({ blocked: { by: "guard.sh", reason } })
        .steps.preCompact(undefined)
        .catch((error: unknown) => error);
    expect(await refusal("")).toMatchObject({
      message: "The hook guard.sh blocked the compaction.",
      remedy: expect.stringContaining("Nothing was changed"),
    });
    expect(await refusal("red")).toMatchObject({ message: "The hook guard.sh blocked the compaction: red" });
  });

  it("records a failed hook when the hook runner throws, whatever value it throws", async () => {
    const failing = (error: unknown): HookSteps =>
      recordedSteps({}, { hooks: { run: () => Promise.reject(error) } }).steps;
    for (const [error, text] of [
      [new Error("no shell"), "no shell"],
      ["just words", "just words"],
    ]) {
      const steps = failing(error);
      expect(await steps.sessionStart()).toBe("");
      expect(steps.outcomes).toEqual([
        { event: "SessionStart", name: "hooks", kind: "function", state: "failed", text, durationMs: 0 },
      ]);
    }
  });
});

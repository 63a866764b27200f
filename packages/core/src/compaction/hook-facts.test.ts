import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import type { HookInput, HookRun, HookRunner } from "../hooks/hook.ts";
import type { Entry } from "../messages/entry.ts";
import { type HookOptions, HookSteps } from "./hook-steps.ts";

const TITLE = { type: "summary", cwd: "/nowhere" } as unknown as Entry;

interface Asked {
  readonly inputs: HookInput[];
  readonly signals: unknown[];
  readonly steps: HookSteps;
}

function asked(
  answer: Partial<HookRun> = {},
  options: HookOptions = {},
  entries: readonly Entry[] = [],
): Asked {
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

describe("what a hook is told of the session", () => {
  it("is empty where nobody knows it, and nothing more", async () => {
    const { inputs, steps } = asked();
    await steps.sessionStart();
    expect(inputs).toStrictEqual([
      { session_id: "", transcript_path: "", cwd: "", hook_event_name: "SessionStart", source: "compact" },
    ]);
  });

  it("takes the session id from the newest entry with an id, but never the folder", async () => {
    const c = new ConversationBuilder();
    c.user("older", { cwd: "/before" });
    c.user("newest");
    const entries = [...c.entries, TITLE];
    const { inputs, steps } = asked({}, {}, entries);
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
    const better = asked({}, { hookContext }, entries);
    await better.steps.sessionStart();
    expect(better.inputs[0]).toMatchObject({ session_id: "s", cwd: "/host", transcript_path: "/t" });
  });

  it("comes with the signal that ends it", async () => {
    const { signal } = new AbortController();
    const { signals, steps } = asked({}, { signal });
    await steps.sessionStart();
    expect(signals).toEqual([signal]);
  });
});

describe("what hooks say", () => {
  it("is taken without the space around it, and nothing is nothing", async () => {
    expect(await asked({ output: " \n the branch is main \n" }).steps.sessionStart()).toBe(
      "the branch is main",
    );
    const { inputs, steps } = asked({ output: "\n" });
    expect(await steps.preCompact(undefined)).toBeUndefined();
    expect(await steps.preCompact(" ")).toBeUndefined();
    expect(await steps.preCompact(" be brief\n")).toBe("be brief");
    expect(inputs[0]?.custom_instructions).toBeNull();
  });

  it("is nothing, and nothing has run, where there is no runner", async () => {
    const { steps } = asked({}, { hooks: undefined });
    expect(await steps.preCompact("be brief")).toBe("be brief");
    expect(await steps.sessionStart()).toBe("");
    expect(steps.outcomes).toEqual([]);
  });

  it("stops a compaction with or without a reason, and says what to do", async () => {
    const refusal = (reason: string): Promise<unknown> =>
      asked({ blocked: { by: "guard.sh", reason } })
        .steps.preCompact(undefined)
        .catch((error: unknown) => error);
    expect(await refusal("")).toMatchObject({
      message: "The hook guard.sh stopped the compaction.",
      remedy: expect.stringContaining("Nothing was changed"),
    });
    expect(await refusal("red")).toMatchObject({ message: "The hook guard.sh stopped the compaction: red" });
  });

  it("of a runner that throws is that it failed, whatever it throws", async () => {
    const failing = (error: unknown): HookSteps =>
      asked({}, { hooks: { run: () => Promise.reject(error) } }).steps;
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

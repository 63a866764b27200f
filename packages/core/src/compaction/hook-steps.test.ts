import { describe, expect, it } from "vitest";
import { codeOf, countingPorts, longSession } from "../../../../test/support/long-session.ts";
import type { HookEvent, HookInput, HookOutcome, HookRun, HookRunner } from "../hooks/hook.ts";
import { createHooks } from "../hooks/runner.ts";
import { type Compaction, type CompactOptions, compact, rebuild } from "./compact.ts";
import { HookSteps } from "./hook-steps.ts";
import { planCompaction } from "./plan/compaction-plan.ts";
import { restoredTokens } from "./restore/restored.ts";

type Answers = Partial<Record<HookEvent, Partial<HookRun>>>;

class RecordingRunner implements HookRunner {
  readonly inputs: HookInput[] = [];
  readonly #answers: Answers;

  constructor(answers: Answers = {}) {
    this.#answers = answers;
  }

  async run(input: HookInput): Promise<HookRun> {
    this.inputs.push(input);
    return { outcomes: [], output: "", ...this.#answers[input.hook_event_name] };
  }
}

const { entries } = longSession(30);

const compacted = (options: CompactOptions, trigger: "manual" | "auto" = "auto"): Promise<Compaction> =>
  compact(planCompaction({ entries }, { trigger, keepRecentTokens: 2_000 }), countingPorts(), options);

const outcome = (event: HookEvent): HookOutcome => ({
  event,
  name: "script.sh",
  kind: "command",
  state: "completed",
  text: `${event} [script.sh] completed`,
  durationMs: 3,
});

describe("hooks around a compaction", () => {
  it("runs PreCompact, SessionStart and PostCompact hooks in this order, each with its input", async () => {
    const hooks = new RecordingRunner();
    const hookContext = { cwd: "/project", permissionMode: "plan", agentId: "a-1" };
    const { written, quotation } = await compacted({
      hooks,
      hookContext,
      transcriptPath: "/t.jsonl",
      instructions: "be brief",
    });
    const common = {
      session_id: "session-1",
      transcript_path: "/t.jsonl",
      cwd: "/project",
      permission_mode: "plan",
      agent_id: "a-1",
    };
    const compact_summary = `${written.text}\n\n${quotation}`;
    expect(hooks.inputs).toEqual([
      { ...common, hook_event_name: "PreCompact", trigger: "auto", custom_instructions: "be brief" },
      { ...common, hook_event_name: "SessionStart", source: "compact" },
      { ...common, hook_event_name: "PostCompact", trigger: "auto", compact_summary },
    ]);
    expect(quotation).not.toBe("");
  });

  it("reports the start of hooks as progress, and only for events with configured hooks", async () => {
    const progress: unknown[] = [];
    const order: string[] = [];
    const hook = (name: string) => async (): Promise<void> => void order.push(name);
    const hooks = createHooks({
      callbacks: { PreCompact: [hook("pre 1"), hook("pre 2")], PostCompact: [hook("post")] },
    });
    const onProgress: CompactOptions["onProgress"] = (step) => {
      progress.push(step);
      order.push(step.phase === "hooks" ? `start ${step.event}` : step.phase);
    };
    await compacted({ hooks, onProgress });
    expect(progress).toEqual([
      { phase: "hooks", event: "PreCompact", hooks: 2 },
      { phase: "step", step: "built-in" },
      { phase: "hooks", event: "PostCompact", hooks: 1 },
    ]);
    expect(order).toEqual(["start PreCompact", "pre 1", "pre 2", "step", "start PostCompact", "post"]);
  });

  it("runs hooks even when the progress callback throws", async () => {
    const hooks = createHooks({ callbacks: { PreCompact: [async () => "look after the ports"] } });
    const onProgress: CompactOptions["onProgress"] = ({ phase }) => {
      if (phase === "hooks") throw new Error("no screen");
    };
    const { written } = await compacted({ hooks, onProgress });
    expect(written.text).toContain("look after the ports");
  });

  it("adds a line for each hook result to the message for the user, after the line about the compaction", async () => {
    const quiet = await compacted({});
    expect(quiet.userDisplayMessage).toMatch(/^Compacted from [\d,]+ to [\d,]+ tokens: .*\.$/);
    const hooks = new RecordingRunner({
      PreCompact: { outcomes: [outcome("PreCompact")] },
      PostCompact: { outcomes: [outcome("PostCompact")] },
    });
    const { userDisplayMessage } = await compacted({ hooks });
    expect(userDisplayMessage.split("\n")).toEqual([
      quiet.userDisplayMessage,
      "PreCompact [script.sh] completed",
      "PostCompact [script.sh] completed",
    ]);
  });

  it("appends the output of a PreCompact hook to the user's instructions after an empty line", async () => {
    const hooks = new RecordingRunner({ PreCompact: { output: "look after the ports\n" } });
    const steps = new HookSteps({ entries, trigger: "manual" }, { hooks });
    expect(await steps.preCompact("be brief")).toBe("be brief\n\nlook after the ports");
    expect(await steps.preCompact(undefined)).toBe("look after the ports");
    const alone = await compacted({ hooks });
    expect(alone.written.text).toContain("look after the ports");
  });

  it("a PreCompact hook can block a compaction, and the error names the hook and the reason", async () => {
    const blocked = { by: "guard.sh", reason: "tests are red" };
    const hooks = new RecordingRunner({ PreCompact: { blocked } });
    const failure = await compacted({ hooks }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "compaction-blocked", facts: { hook: "guard.sh" } });
    expect(String(failure)).toMatch(/guard\.sh.*tests are red/);
    expect(hooks.inputs).toHaveLength(1);
  });

  it("puts the output of SessionStart hooks last in the new conversation and counts its tokens", async () => {
    const hooks = new RecordingRunner({ SessionStart: { output: "the branch is main" } });
    const files = {
      read: async (path: string) => ({ state: "read" as const, text: "now", displayPath: path }),
    };
    const quiet = await compacted({ state: { files } });
    const compaction = await compacted({ hooks, state: { files } });
    const rebuilt = rebuild(compaction);
    expect(rebuilt.at(-1)).toBe(compaction.hookResults[0]);
    expect(rebuilt.at(-1)).toMatchObject({
      type: "attachment",
      attachment: { type: "hook_additional_context", content: ["the branch is main"] },
      parentUuid: compaction.attachments.at(-1)?.uuid,
    });
    expect(compaction.tokensAfter).toBeGreaterThan(quiet.tokensAfter);
    expect(quiet.hookResults).toEqual([]);
  });

  it("reserves tokens for SessionStart output before it restores content, so that the token target is met", async () => {
    const plan = planCompaction({ entries }, { trigger: "auto", keepRecentTokens: 2_000 });
    const text = "a line of a file\n".repeat(2_000);
    const files = { read: async (path: string) => ({ state: "read" as const, text, displayPath: path }) };
    const { tokensAfter: least } = await compact(plan, countingPorts(), {});
    const targetTokens = least + 9_000;
    const output = "the branch is main ".repeat(500).trim();
    const hooks = new RecordingRunner({ SessionStart: { output } });
    const options = { state: { files }, targetTokens };
    const quiet = await compact(plan, countingPorts(), options);
    const compaction = await compact(plan, countingPorts(), { ...options, hooks });
    expect(compaction.tokensAfter).toBeLessThan(targetTokens);
    expect(compaction.hookResults[0]?.attachment.content).toEqual([output]);
    expect(compaction.restored.items).not.toEqual([]);
    expect(restoredTokens(compaction.restored)).toBeLessThan(restoredTokens(quiet.restored));
    expect(compaction.restored.skipped.map(({ kind }) => kind)).not.toContain("hook-output");
  });

  it("cuts the output of SessionStart hooks that exceeds the token target, and reports the cut", async () => {
    const plan = planCompaction({ entries }, { trigger: "auto", keepRecentTokens: 2_000 });
    const facts = "off";
    const { tokensAfter: least } = await compact(plan, countingPorts(), { facts });
    const hooks = new RecordingRunner({ SessionStart: { output: "the branch is main\n".repeat(9_000) } });
    const cut = await compact(plan, countingPorts(), { facts, hooks, targetTokens: least + 1_000 });
    expect(cut.tokensAfter).toBeLessThan(least + 1_000);
    expect(cut.tokensAfter).toBeGreaterThan(least + 500);
    expect(String(cut.hookResults[0]?.attachment.content)).toMatch(/^the branch is main\n.*left out/s);
    const skipped = [{ kind: "hook-output", name: "SessionStart", reason: "over-budget" }];
    expect(cut.restored.skipped).toEqual(skipped);
    const none = await compact(plan, countingPorts(), { facts, hooks, targetTokens: 1 });
    expect(none.tokensAfter).toBe(least);
    expect(none.hookResults).toEqual([]);
    expect(none.restored.skipped).toEqual(skipped);
  });

  it("reports the outcome of every hook, even when the callback for outcomes throws", async () => {
    const events: HookEvent[] = ["PreCompact", "SessionStart", "PostCompact"];
    const hooks = new RecordingRunner(
      Object.fromEntries(events.map((event) => [event, { outcomes: [outcome(event)] }])),
    );
    const reported: HookEvent[] = [];
    const onHook = ({ event }: HookOutcome): void => {
      reported.push(event);
      throw new Error("the screen is broken");
    };
    const compaction = await compacted({ hooks, onHook });
    expect(reported).toEqual(events);
    expect(compaction.hookOutcomes.map(({ event }) => event)).toEqual(events);
  });

  it("records a failing hook runner as failed hooks, never as a failed compaction", async () => {
    const hooks: HookRunner = {
      run: async () => {
        throw new Error("no shell");
      },
    };
    const { hookOutcomes } = await compacted({ hooks });
    expect(hookOutcomes.map(({ state, text }) => `${state}: ${text}`)).toEqual(
      Array(3).fill("failed: no shell"),
    );
  });

  it("stops waiting for a hook runner at its time limit and continues the compaction", async () => {
    const hooks: HookRunner = { timeoutMs: 20, run: () => new Promise(() => undefined) };
    const { hookOutcomes } = await compacted({ hooks });
    expect(hookOutcomes.map(({ state }) => state)).toEqual(Array(3).fill("timed-out"));
  });
});

describe("aborting a compaction", () => {
  const abortedDuring = (event: HookEvent): Promise<string | undefined> => {
    const abort = new AbortController();
    const hooks: HookRunner = {
      run: (input) => {
        if (input.hook_event_name !== event) return Promise.resolve({ outcomes: [], output: "" });
        abort.abort();
        return new Promise(() => undefined);
      },
    };
    return codeOf(() => compacted({ hooks, signal: abort.signal }));
  };

  it("aborts a compaction at once during any hook, even a hook that hangs", async () => {
    for (const event of ["PreCompact", "SessionStart", "PostCompact"] as const) {
      expect(await abortedDuring(event)).toBe("model-aborted");
    }
  });

  it("runs no hook when the compaction was aborted before it started", async () => {
    const hooks = new RecordingRunner();
    expect(await codeOf(() => compacted({ hooks, signal: AbortSignal.abort() }))).toBe("model-aborted");
    expect(hooks.inputs).toEqual([]);
  });

  it("aborts a compaction at once while the restoration of content waits for the host", async () => {
    const abort = new AbortController();
    const todos = (): Promise<never> => {
      abort.abort();
      return new Promise(() => undefined);
    };
    expect(await codeOf(() => compacted({ state: { todos }, signal: abort.signal }))).toBe("model-aborted");
  });
});

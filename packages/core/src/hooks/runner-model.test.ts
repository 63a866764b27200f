import { scriptedModel } from "@longhaul/simulator";
import { describe, expect, it, vi } from "vitest";
import { ModelError } from "../models/model-error.ts";
import type { HookInput } from "./hook.ts";
import { createHooks } from "./runner.ts";

const input: HookInput = {
  hook_event_name: "PreCompact",
  session_id: "s1",
  transcript_path: "/t.jsonl",
  cwd: "/project",
  trigger: "manual",
  // `String.replace` expands these patterns in a replacement text.
  custom_instructions: "keep $& and $1",
};
const settingsOf = (type: string, prompt: string, more: object = {}) => ({
  hooks: { PreCompact: [{ hooks: [{ type, prompt, ...more }] }] },
});

describe("prompt hooks", () => {
  it("a prompt hook replaces $ARGUMENTS with the input and returns the model's text", async () => {
    const model = scriptedModel(["Keep the plan."]);
    const settings = settingsOf("prompt", "First: $ARGUMENTS Again: $ARGUMENTS");
    const { output, outcomes } = await createHooks({ settings, model }).run(input);
    expect(output).toBe("Keep the plan.");
    expect(outcomes[0]).toMatchObject({ kind: "prompt", state: "completed" });
    const json = JSON.stringify(input);
    expect(model.requests).toMatchObject([
      { messages: [{ role: "user", content: `First: ${json} Again: ${json}` }] },
    ]);
    expect(model.requests[0]?.system).toMatch(/PreCompact.*instructions/);
  });

  it("appends the input to the prompt of a hook if the prompt does not contain $ARGUMENTS", async () => {
    const model = scriptedModel(["ok"]);
    await createHooks({ settings: settingsOf("prompt", "What matters?"), model }).run(input);
    expect(model.requests[0]?.messages[0]?.content).toBe(`What matters?\n\n${JSON.stringify(input)}`);
  });

  it('a prompt hook blocks the compaction if the model answers {"ok": false}', async () => {
    const model = scriptedModel(['{"ok": false, "reason": "not yet"}']);
    const { blocked } = await createHooks({ settings: settingsOf("prompt", "May it?"), model }).run(input);
    expect(blocked).toEqual({ by: "May it?", reason: "not yet" });
  });

  it("a prompt hook fails with a clear message if its model call fails or there is no model", async () => {
    const model = scriptedModel([new ModelError({ kind: "overloaded" }, "The provider is busy.")]);
    const settings = settingsOf("prompt", "What?");
    const text = async (options: object) =>
      (await createHooks({ settings, ...options }).run(input)).outcomes[0]?.text;
    expect(await text({ model })).toBe("PreCompact [What?] failed: The provider is busy.");
    expect(await text({})).toBe("PreCompact [What?] failed: no model is configured");
  });

  it("a timeout and an abort end the model call of a prompt hook", async () => {
    const model = scriptedModel(() => ({ content: "…", hangs: true }));
    const settings = settingsOf("prompt", "What?", { timeout: 0.02 });
    expect((await createHooks({ settings, model }).run(input)).outcomes[0]?.state).toBe("timed-out");
    const abort = new AbortController();
    const run = createHooks({ settings: settingsOf("prompt", "What?"), model }).run(input, abort);
    setImmediate(() => abort.abort());
    expect((await run).outcomes[0]?.state).toBe("aborted");
  });

  it("a prompt hook requests no more output tokens than the model supports", async () => {
    const model = scriptedModel(["ok"], { name: "claude-3-haiku-20240307" });
    await createHooks({ settings: settingsOf("prompt", "What?"), model }).run(input);
    expect(model.requests[0]?.max_tokens).toBe(4_096);
  });
});

describe("agent hooks", () => {
  it("an agent hook passes the event, the prompt and the input to the host's agent", async () => {
    const agent = vi.fn(async () => "Keep what the tests say.");
    const settings = settingsOf("agent", "Look at the tests: $ARGUMENTS");
    const { output, outcomes } = await createHooks({ settings, agent }).run(input);
    expect(output).toBe("Keep what the tests say.");
    expect(outcomes[0]?.kind).toBe("agent");
    expect(agent).toHaveBeenCalledWith(
      expect.stringMatching(/PreCompact[\s\S]*Look at the tests: \{"hook_event_name"/),
      { signal: expect.any(AbortSignal) },
    );
  });

  it("an agent hook fails if the host has no agent, and has no output if the agent's answer is not a text", async () => {
    const settings = settingsOf("agent", "Look.");
    expect((await createHooks({ settings }).run(input)).outcomes[0]?.text).toBe(
      "PreCompact [Look.] failed: this host has no agent for hooks",
    );
    const { output, outcomes } = await createHooks({ settings, agent: async () => 7 as never }).run(input);
    expect({ output, state: outcomes[0]?.state }).toEqual({ output: "", state: "completed" });
  });

  it("an agent hook and a prompt hook with the same text are different hooks", async () => {
    const settings = [
      settingsOf("agent", "Look."),
      settingsOf("prompt", "Look."),
      settingsOf("prompt", "Look."),
    ];
    const { output } = await createHooks({
      settings,
      agent: async () => "agent",
      model: scriptedModel(["model"]),
    }).run(input);
    expect(output).toBe("agent\n\nmodel");
  });
});

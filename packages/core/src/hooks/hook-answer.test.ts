import { describe, expect, it } from "vitest";
import type { HookEvent } from "./hook.ts";
import {
  isAsyncAnnouncement,
  readCommandAnswer,
  readFunctionAnswer,
  readModelAnswer,
  type Verdict,
} from "./hook-answer.ts";

const exited = (exitCode: number | null, stdout: unknown = "", stderr = ""): Verdict =>
  readCommandAnswer(
    {
      state: "exited",
      exitCode,
      stdout: typeof stdout === "string" ? stdout : JSON.stringify(stdout),
      stderr,
    },
    "PreCompact",
  );
const context = (text: string, hookEventName: HookEvent = "PreCompact") => ({
  hookSpecificOutput: { hookEventName, additionalContext: text },
});
const completed = (output: string, shown: string = output): Verdict => ({
  state: "completed",
  output,
  shown,
});

describe("readCommandAnswer", () => {
  it("if a hook command exits with code 0, its printed text is the output of the hook", () => {
    expect(exited(0, "  keep the plan \n", "noise")).toEqual(completed("keep the plan"));
    expect(exited(0)).toEqual(completed(""));
  });

  it("a hook command that exits with code 2 blocks, with its standard error as the reason", () => {
    expect(exited(2, { decision: "approve" }, " not now\n")).toEqual({ state: "blocked", reason: "not now" });
    expect(exited(2, "text")).toEqual({ state: "blocked", reason: "no reason given" });
  });

  it("a hook command fails with any exit code except 0 and 2", () => {
    expect(exited(1, "out", "err")).toEqual({ state: "failed", reason: "exit code 1: err" });
    expect(exited(127, "out")).toEqual({ state: "failed", reason: "exit code 127: out" });
    expect(exited(null)).toEqual({ state: "failed", reason: "a signal ended the command" });
  });

  it("a decision in the JSON output of a hook command overrides an exit code such as 1", () => {
    expect(exited(1, { decision: "block", reason: "no" })).toEqual({ state: "blocked", reason: "no" });
    expect(exited(1, { continue: false, stopReason: "no" })).toEqual({ state: "blocked", reason: "no" });
    expect(exited(1, { decision: "approve" })).toEqual(completed(""));
    expect(exited(1, context("said"))).toEqual(completed("said"));
    expect(exited(1, { systemMessage: "hm" })).toMatchObject({ state: "failed" });
    expect(exited(1, '{"decision": "block"')).toMatchObject({ state: "failed" });
  });

  it("the JSON output of a hook can block the compaction with a reason", () => {
    expect(exited(0, { decision: "block", reason: "tests run" })).toEqual({
      state: "blocked",
      reason: "tests run",
    });
    expect(exited(0, { continue: false, stopReason: "stop" })).toEqual({ state: "blocked", reason: "stop" });
    expect(exited(0, { decision: "block" })).toEqual({ state: "blocked", reason: "no reason given" });
    expect(exited(0, { continue: true, reason: "x" })).toEqual(completed(""));
  });

  it("the JSON output of a hook can add context to the conversation and a message for the user", () => {
    expect(exited(0, context("said"))).toEqual(completed("said"));
    expect(exited(0, { ...context("said"), systemMessage: "for you" })).toEqual(
      completed("said", "for you\n\nsaid"),
    );
    expect(exited(0, { ...context("said"), suppressOutput: true })).toEqual(completed("said", ""));
    expect(exited(0, { hookSpecificOutput: { additionalContext: "said" } })).toEqual(completed("said"));
  });

  it("a hook fails if its JSON output names another event", () => {
    expect(exited(0, context("said", "SessionStart"))).toEqual({
      state: "failed",
      reason: "its answer names another event: SessionStart",
    });
  });

  it("treats JSON without known fields as plain output of a hook", () => {
    expect(exited(0, { files: 3 })).toEqual(completed('{"files":3}'));
    expect(exited(0, '{"broken')).toEqual(completed('{"broken'));
    expect(exited(0, "[1]")).toEqual(completed("[1]"));
    expect(exited(0, { ok: false })).toEqual(completed('{"ok":false}'));
    expect(exited(0, {})).toEqual(completed(""));
  });

  it('a hook that prints {"async": true} completes without output', () => {
    expect(exited(0, { async: true })).toEqual(completed(""));
    expect(isAsyncAnnouncement('{"async": true, "asyncTimeout": 5}')).toBe(true);
    for (const line of ["", "{}", '{"async": 1}', "async", '[{"async":true}]']) {
      expect(isAsyncAnnouncement(line)).toBe(false);
    }
  });
});

describe("readModelAnswer", () => {
  it("the plain text answer of a model hook is the output of the hook", () => {
    expect(readModelAnswer(" Keep the plan. ", "PreCompact")).toEqual(completed("Keep the plan."));
  });

  it('reads "ok" and "reason" from the JSON answer of a model hook, also in a code block', () => {
    expect(readModelAnswer('{"ok": false, "reason": "no"}', "PreCompact")).toEqual({
      state: "blocked",
      reason: "no",
    });
    expect(readModelAnswer('```json\n{"ok": false}\n```\n', "PreCompact")).toMatchObject({
      state: "blocked",
    });
    expect(readModelAnswer('{"ok": true, "reason": "fine"}', "PreCompact")).toEqual(completed("", "fine"));
  });

  it("accepts the same JSON answers from a model hook as from a command hook", () => {
    expect(readModelAnswer(JSON.stringify({ decision: "block", reason: "no" }), "PreCompact")).toMatchObject({
      state: "blocked",
    });
    expect(readModelAnswer(JSON.stringify({ ok: true, ...context("said") }), "PreCompact")).toEqual(
      completed("said"),
    );
  });
});

describe("readFunctionAnswer", () => {
  it("a function hook may return text, an answer object or nothing", () => {
    expect(readFunctionAnswer("{words}", "PreCompact")).toEqual(completed("{words}"));
    expect(readFunctionAnswer(context("said"), "PreCompact")).toEqual(completed("said"));
    expect(readFunctionAnswer({ decision: "block", reason: "no" }, "PreCompact")).toEqual({
      state: "blocked",
      reason: "no",
    });
    for (const value of [undefined, null, {}, { some: "data" }, 7, true, [], Symbol("x")]) {
      expect(readFunctionAnswer(value, "PreCompact")).toEqual(completed(""));
    }
  });
});

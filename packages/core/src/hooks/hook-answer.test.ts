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

describe("what the end of a command means", () => {
  it("exit code 0: what it printed is its output", () => {
    expect(exited(0, "  keep the plan \n", "noise")).toEqual(completed("keep the plan"));
    expect(exited(0)).toEqual(completed(""));
  });

  it("exit code 2 blocks with what it printed on standard error, and no JSON changes that", () => {
    expect(exited(2, { decision: "approve" }, " not now\n")).toEqual({ state: "blocked", reason: "not now" });
    expect(exited(2, "text")).toEqual({ state: "blocked", reason: "it gave no reason" });
  });

  it("any other exit code is a failure", () => {
    expect(exited(1, "out", "err")).toEqual({ state: "failed", reason: "exit code 1: err" });
    expect(exited(127, "out")).toEqual({ state: "failed", reason: "exit code 127: out" });
    expect(exited(null)).toEqual({ state: "failed", reason: "it was ended by a signal" });
  });

  it("any other exit code with JSON that decides is what the JSON says", () => {
    expect(exited(1, { decision: "block", reason: "no" })).toEqual({ state: "blocked", reason: "no" });
    expect(exited(1, { continue: false, stopReason: "no" })).toEqual({ state: "blocked", reason: "no" });
    expect(exited(1, { decision: "approve" })).toEqual(completed(""));
    expect(exited(1, context("said"))).toEqual(completed("said"));
    expect(exited(1, { systemMessage: "hm" })).toMatchObject({ state: "failed" });
    expect(exited(1, '{"decision": "block"')).toMatchObject({ state: "failed" });
  });

  it("JSON decides: block with a reason, or not to go on", () => {
    expect(exited(0, { decision: "block", reason: "tests run" })).toEqual({
      state: "blocked",
      reason: "tests run",
    });
    expect(exited(0, { continue: false, stopReason: "stop" })).toEqual({ state: "blocked", reason: "stop" });
    expect(exited(0, { decision: "block" })).toEqual({ state: "blocked", reason: "it gave no reason" });
    expect(exited(0, { continue: true, reason: "x" })).toEqual(completed(""));
  });

  it("JSON gives context to the conversation and a message to the user", () => {
    expect(exited(0, context("said"))).toEqual(completed("said"));
    expect(exited(0, { ...context("said"), systemMessage: "for you" })).toEqual(
      completed("said", "for you\n\nsaid"),
    );
    expect(exited(0, { ...context("said"), suppressOutput: true })).toEqual(completed("said", ""));
    expect(exited(0, { hookSpecificOutput: { additionalContext: "said" } })).toEqual(completed("said"));
  });

  it("an answer to another event is a failure, not context", () => {
    expect(exited(0, context("said", "SessionStart"))).toEqual({
      state: "failed",
      reason: "its answer is for SessionStart",
    });
  });

  it("JSON that is nobody's answer is output like any other", () => {
    expect(exited(0, { files: 3 })).toEqual(completed('{"files":3}'));
    expect(exited(0, '{"broken')).toEqual(completed('{"broken'));
    expect(exited(0, "[1]")).toEqual(completed("[1]"));
    expect(exited(0, { ok: false })).toEqual(completed('{"ok":false}'));
    expect(exited(0, {})).toEqual(completed(""));
  });

  it("an answer that comes later has no output now", () => {
    expect(exited(0, { async: true })).toEqual(completed(""));
    expect(isAsyncAnnouncement('{"async": true, "asyncTimeout": 5}')).toBe(true);
    for (const line of ["", "{}", '{"async": 1}', "async", '[{"async":true}]']) {
      expect(isAsyncAnnouncement(line)).toBe(false);
    }
  });
});

describe("what the answer of a model means", () => {
  it("words are its output", () => {
    expect(readModelAnswer(" Keep the plan. ", "PreCompact")).toEqual(completed("Keep the plan."));
  });

  it("ok or not, with a reason, also in a code block", () => {
    expect(readModelAnswer('{"ok": false, "reason": "no"}', "PreCompact")).toEqual({
      state: "blocked",
      reason: "no",
    });
    expect(readModelAnswer('```json\n{"ok": false}\n```\n', "PreCompact")).toMatchObject({
      state: "blocked",
    });
    expect(readModelAnswer('{"ok": true, "reason": "fine"}', "PreCompact")).toEqual(completed("", "fine"));
  });

  it("everything that a command may answer, it may answer too", () => {
    expect(readModelAnswer(JSON.stringify({ decision: "block", reason: "no" }), "PreCompact")).toMatchObject({
      state: "blocked",
    });
    expect(readModelAnswer(JSON.stringify({ ok: true, ...context("said") }), "PreCompact")).toEqual(
      completed("said"),
    );
  });
});

describe("what a function gives back", () => {
  it("words, an answer, or nothing", () => {
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

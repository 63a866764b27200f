import {
  field,
  firstString,
  isRecord,
  type JsonRecord,
  parseJson,
  stringField,
} from "../messages/untrusted.ts";
import { cleanOutput } from "./display-text.ts";
import type { CommandResult, HookEvent } from "./hook.ts";

/**
 * The meaning of a hook's answer. A hook of any event may return `blocked`, but only a PreCompact hook can
 * block.
 */
export type Verdict = Completed | { readonly state: "failed" | "blocked"; readonly reason: string };

interface Completed {
  readonly state: "completed";
  /** Output for the conversation. */
  readonly output: string;
  /** Output for the user. */
  readonly shown: string;
  /** Set if the hook still runs in the background. */
  readonly runsInBackground?: true;
}

const NO_REASON = "no reason given";
/** Exit code with which a command blocks, whatever it printed. */
const BLOCKING_EXIT_CODE = 2;

const completedWith = (text: string): Verdict => {
  const output = cleanOutput(text);
  return { state: "completed", output, shown: output };
};

export const NO_OUTPUT: Completed = { state: "completed", output: "", shown: "" };

export const failed = (reason: string): Verdict => ({ state: "failed", reason: cleanOutput(reason) });

const blocked = (reason: string | undefined): Verdict => ({
  state: "blocked",
  reason: cleanOutput(reason ?? "") || NO_REASON,
});

/** Reads the exit code and output of a shell command. */
export function readCommandAnswer(
  result: Extract<CommandResult, { state: "exited" }>,
  event: HookEvent,
): Verdict {
  const { exitCode, stdout, stderr } = result;
  if (exitCode === BLOCKING_EXIT_CODE) return blocked(stderr);
  const answer = jsonIn(stdout);
  if (exitCode === 0) return readJsonAnswer(answer, event) ?? completedWith(stdout);
  if (answer !== undefined && isDecision(answer)) return readJsonAnswer(answer, event) ?? NO_OUTPUT;
  const how = exitCode === null ? "a signal ended the command" : `exit code ${exitCode}`;
  return failed([how, cleanOutput(stderr) || cleanOutput(stdout)].filter((part) => part !== "").join(": "));
}

/**
 * Reads the answer of a model or an agent: plain text, `{"ok": …, "reason": …}`, or any answer that a command
 * may print.
 */
export function readModelAnswer(text: string, event: HookEvent): Verdict {
  const answer = jsonIn(text.replace(/^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/, "$1"));
  if (answer?.ok === false) return blocked(stringField(answer, "reason"));
  const isApproval = answer?.ok === true && !isDecision(answer);
  if (isApproval) return { ...NO_OUTPUT, shown: cleanOutput(stringField(answer, "reason") ?? "") };
  return readJsonAnswer(answer, event) ?? completedWith(text);
}

/** Reads the return value of a function: plain text, an answer as the Agent SDK types it, or nothing. */
export function readFunctionAnswer(value: unknown, event: HookEvent): Verdict {
  if (typeof value === "string") return completedWith(value);
  return readJsonAnswer(isRecord(value) ? value : undefined, event) ?? NO_OUTPUT;
}

/** Parses output as JSON if it starts like an object, as Claude Code does. */
function jsonIn(text: string): JsonRecord | undefined {
  const start = text.trimStart();
  const value = start.startsWith("{") ? parseJson(start) : undefined;
  return isRecord(value) ? value : undefined;
}

/** Returns true if the answer contains a decision, which counts even if the command failed. */
function isDecision(answer: JsonRecord): boolean {
  return (
    answer.decision === "block" ||
    answer.decision === "approve" ||
    answer.continue === false ||
    stringField(answer.hookSpecificOutput, "additionalContext") !== undefined
  );
}

const ANSWER_FIELDS = [
  "async",
  "continue",
  "decision",
  "hookSpecificOutput",
  "suppressOutput",
  "systemMessage",
] as const;

/** Reads the JSON answer of a hook. Returns undefined if the object has no known field. */
function readJsonAnswer(answer: JsonRecord | undefined, event: HookEvent): Verdict | undefined {
  if (answer === undefined) return undefined;
  if (Object.keys(answer).length > 0 && !ANSWER_FIELDS.some((name) => name in answer)) return undefined;
  if (answer.decision === "block") return blocked(firstString(answer, "reason", "stopReason"));
  if (answer.continue === false) return blocked(firstString(answer, "stopReason", "reason"));
  const meant = stringField(answer.hookSpecificOutput, "hookEventName") ?? event;
  if (meant !== event) return failed(`its answer names another event: ${meant}`);
  const output = cleanOutput(stringField(field(answer, "hookSpecificOutput"), "additionalContext") ?? "");
  const shown = [stringField(answer, "systemMessage") ?? "", answer.suppressOutput === true ? "" : output];
  return { state: "completed", output, shown: cleanOutput(shown.filter((part) => part !== "").join("\n\n")) };
}

/** Returns true if the first output line is `{"async": true}`. The runner then does not wait for the hook. */
export function isAsyncAnnouncement(firstLine: string): boolean {
  return jsonIn(firstLine)?.async === true;
}

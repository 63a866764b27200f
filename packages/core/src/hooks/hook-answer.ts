import {
  field,
  firstString,
  isRecord,
  type JsonRecord,
  parseJson,
  stringField,
} from "../messages/untrusted.ts";
import type { CommandResult, HookEvent } from "./hook.ts";
import { fitOutput } from "./shown-text.ts";

/** The meaning of a hook's answer. `blocked` is what the hook wants; only PreCompact grants it. */
export type Verdict = Completed | { readonly state: "failed" | "blocked"; readonly reason: string };

interface Completed {
  readonly state: "completed";
  /** For the conversation. */
  readonly output: string;
  /** For the person at the screen. */
  readonly shown: string;
  /** It was let go before its end. */
  readonly goesOn?: true;
}

const NO_REASON = "it gave no reason";
/** By this exit code a command blocks, whatever else it says. */
const BLOCKING_EXIT_CODE = 2;

const said = (text: string): Verdict => {
  const output = fitOutput(text);
  return { state: "completed", output, shown: output };
};

export const SAID_NOTHING: Completed = { state: "completed", output: "", shown: "" };

export const failed = (reason: string): Verdict => ({ state: "failed", reason: fitOutput(reason) });

const blocked = (reason: string | undefined): Verdict => ({
  state: "blocked",
  reason: fitOutput(reason ?? "") || NO_REASON,
});

/** Reads the end of a shell command. */
export function answerOfCommand(
  result: Extract<CommandResult, { state: "exited" }>,
  event: HookEvent,
): Verdict {
  const { exitCode, stdout, stderr } = result;
  if (exitCode === BLOCKING_EXIT_CODE) return blocked(stderr);
  const answer = jsonIn(stdout);
  if (exitCode === 0) return answerOfJson(answer, event) ?? said(stdout);
  if (answer !== undefined && isDecision(answer)) return answerOfJson(answer, event) ?? SAID_NOTHING;
  const how = exitCode === null ? "it was ended by a signal" : `exit code ${exitCode}`;
  return failed([how, fitOutput(stderr) || fitOutput(stdout)].filter((part) => part !== "").join(": "));
}

/** Reads the answer of a model or an agent: words, or `{"ok": …, "reason": …}`, or any answer of a command. */
export function answerOfModel(text: string, event: HookEvent): Verdict {
  const answer = jsonIn(text.replace(/^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/, "$1"));
  if (answer?.ok === false) return blocked(stringField(answer, "reason"));
  const isApproval = answer?.ok === true && !isDecision(answer);
  if (isApproval) return { ...SAID_NOTHING, shown: fitOutput(stringField(answer, "reason") ?? "") };
  return answerOfJson(answer, event) ?? said(text);
}

/** Reads the result of a function: words, an answer as the Agent SDK types it, or nothing. */
export function answerOfFunction(value: unknown, event: HookEvent): Verdict {
  if (typeof value === "string") return said(value);
  return answerOfJson(isRecord(value) ? value : undefined, event) ?? SAID_NOTHING;
}

/** Claude Code reads output as JSON when it begins like an object. */
function jsonIn(text: string): JsonRecord | undefined {
  const start = text.trimStart();
  const value = start.startsWith("{") ? parseJson(start) : undefined;
  return isRecord(value) ? value : undefined;
}

/** True if a command that failed has nevertheless said what is to be done. */
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

/** Undefined for an object that is no answer but somebody's data. */
function answerOfJson(answer: JsonRecord | undefined, event: HookEvent): Verdict | undefined {
  if (answer === undefined) return undefined;
  if (Object.keys(answer).length > 0 && !ANSWER_FIELDS.some((name) => name in answer)) return undefined;
  if (answer.decision === "block") return blocked(firstString(answer, "reason", "stopReason"));
  if (answer.continue === false) return blocked(firstString(answer, "stopReason", "reason"));
  const meant = stringField(answer.hookSpecificOutput, "hookEventName") ?? event;
  if (meant !== event) return failed(`its answer is for ${meant}`);
  const output = fitOutput(stringField(field(answer, "hookSpecificOutput"), "additionalContext") ?? "");
  const shown = [stringField(answer, "systemMessage") ?? "", answer.suppressOutput === true ? "" : output];
  return { state: "completed", output, shown: fitOutput(shown.filter((part) => part !== "").join("\n\n")) };
}

/** True if the first line of output says that nobody needs to wait for the rest: `{"async": true}`. */
export function announcesAsync(firstLine: string): boolean {
  return jsonIn(firstLine)?.async === true;
}

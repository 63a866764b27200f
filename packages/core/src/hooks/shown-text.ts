import { headOf, withoutControls } from "../messages/text.ts";
import { fitToShow } from "../models/fit-to-show.ts";
import type { HookEvent, HookOutcome } from "./hook.ts";

/** Of one hook. More than that is a report, not an instruction, and would fill the window just made free. */
export const MAX_OUTPUT_CHARACTERS = 10_000;

/** Enough to recognise a command by; the rest of the line is for what the hook said. */
const LONGEST_NAME = 60;

/** Characters that make a line read otherwise than it is. */
const DIRECTION_MARKS = /\p{Bidi_Control}/gu;

/** A command, a prompt or a function as it is called in one short line: no control characters, and no keys. */
export function shownName(text: string): string {
  const line = fitToShow(withoutControls(text).replace(DIRECTION_MARKS, ""));
  return cut(line, LONGEST_NAME);
}

/** Output of a hook, fit for a screen and for a prompt. */
export function fitOutput(text: string): string {
  return cut(withoutControls(text).trim(), MAX_OUTPUT_CHARACTERS).toWellFormed();
}

function cut(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return `${headOf(text, maxCharacters - 1).trimEnd()}…`;
}

const ENDED_AS: Readonly<Record<HookOutcome["state"], string>> = {
  completed: "completed",
  failed: "failed",
  "timed-out": "failed",
  aborted: "failed",
  blocked: "blocked the compaction",
};

export function outcomeText(
  event: HookEvent,
  name: string,
  state: HookOutcome["state"],
  said: string,
): string {
  return `${event} [${name}] ${ENDED_AS[state]}${said === "" ? "" : `: ${said}`}`;
}

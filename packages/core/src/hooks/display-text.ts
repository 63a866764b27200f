import { headOf, withoutControls } from "../messages/text.ts";
import { sanitizeErrorText } from "../models/sanitize-error-text.ts";
import type { HookEvent, HookOutcome } from "./hook.ts";

/** Maximum output of one hook. A longer output would fill the space that the compaction freed. */
export const MAX_OUTPUT_CHARACTERS = 10_000;

/** Maximum length of a hook's name. It is enough to recognize a command. */
const MAX_NAME_CHARACTERS = 60;

/** Control characters that change the reading direction and could disguise a line. */
const DIRECTION_MARKS = /\p{Bidi_Control}/gu;

/** Shortens a command, prompt or function name to one line without control characters and secret keys. */
export function displayName(text: string): string {
  const line = sanitizeErrorText(withoutControls(text).replace(DIRECTION_MARKS, ""));
  return truncate(line, MAX_NAME_CHARACTERS);
}

/** Cleans and shortens a hook's output for the screen and for a prompt. */
export function cleanOutput(text: string): string {
  return truncate(withoutControls(text).trim(), MAX_OUTPUT_CHARACTERS).toWellFormed();
}

function truncate(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return `${headOf(text, maxCharacters - 1).trimEnd()}…`;
}

const STATE_TEXTS: Readonly<Record<HookOutcome["state"], string>> = {
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
  return `${event} [${name}] ${STATE_TEXTS[state]}${said === "" ? "" : `: ${said}`}`;
}

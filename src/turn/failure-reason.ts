import { attemptsOf } from "../compaction/write/attempts.ts";
import { LonghaulError, type LonghaulErrorCode } from "../errors.ts";
import type { FailureReason } from "./events.ts";

const REASONS: Partial<Record<LonghaulErrorCode, FailureReason>> = {
  "not-enough-messages": "not_enough_messages",
  "message-not-found": "not_enough_messages",
  "no-summary": "no_summary",
  "compaction-ineffective": "does_not_pay",
  "compaction-blocked": "blocked_by_hook",
  "transcript-failed": "transcript_failed",
  "transcript-timed-out": "transcript_failed",
  "model-aborted": "aborted",
  "model-too-long": "prompt_too_long",
  "model-too-large": "prompt_too_long",
};

/** Why a compaction did not come about, in the words of the events. */
export function failureReason(error: unknown): FailureReason {
  if (!(error instanceof LonghaulError)) return "other";
  // So little to summarize that no summary was written at all.
  const isWritten = attemptsOf(error).length > 0;
  if (error.code === "compaction-ineffective" && !isWritten) return "not_enough_messages";
  return REASONS[error.code] ?? (error.code.startsWith("model-") ? "api_error" : "other");
}

export const codeOf = (error: unknown): string =>
  error instanceof LonghaulError ? error.code : "unexpected";

import { LonghaulError, type LonghaulErrorCode, type LonghaulErrorDetails } from "../../messages/errors.ts";
import type { ModelUsage } from "../../models/port.ts";

/** The ways to a summary, in the order in which they are tried. */
export type SummaryStep = "notes" | "provider" | "fork" | "direct" | "built-in";

/** One step of the chain, as it went. Counts and codes only. */
export interface SummaryAttempt {
  readonly step: SummaryStep;
  readonly outcome: "written" | "failed" | "unavailable";
  /** Code of the error, or why the step was not available. */
  readonly reason?: string;
  /** How often the request was cut because it was too long. */
  readonly cuts: number;
  readonly model?: string;
  readonly usage?: ModelUsage;
}

/** Progress of a running compaction. Counts and codes only. */
export type SummaryProgress =
  /** Hooks for this event run, such as "PreCompact". The next phase ends them. */
  | { readonly phase: "hooks"; readonly event: string; readonly hooks: number }
  /** The next way to a summary is tried. */
  | { readonly phase: "step"; readonly step: SummaryStep }
  | { readonly phase: "sent"; readonly messages: number }
  | { readonly phase: "thinking" }
  | { readonly phase: "writing"; readonly characters: number }
  | { readonly phase: "retrying"; readonly attempt: number; readonly delayMs: number; readonly code: string }
  /** The request was too long: rounds were taken out of it, and it is sent again. */
  | { readonly phase: "cut"; readonly droppedRounds: number; readonly rounds: number };

export type OnSummaryProgress = (progress: SummaryProgress) => void;

/** A compaction failed after somebody was asked for a summary. */
export class AttemptedError extends LonghaulError {
  override readonly name: string = "AttemptedError";
  readonly attempts: readonly SummaryAttempt[];

  constructor(
    code: LonghaulErrorCode,
    message: string,
    attempts: readonly SummaryAttempt[],
    details: LonghaulErrorDetails,
  ) {
    super(code, message, details);
    this.attempts = attempts;
  }
}

/** No way led to a summary. Code, words and remedy are those of the last failure, which is its cause. */
export class SummaryChainError extends AttemptedError {
  override readonly name: string = "SummaryChainError";

  constructor(last: unknown, attempts: readonly SummaryAttempt[]) {
    const known = last instanceof LonghaulError ? last : undefined;
    const remedy =
      known === undefined ? "Nothing was changed. Try again, or use another model." : known.remedy;
    super(known?.code ?? "summary-failed", known?.message ?? summaryFailed(last), attempts, {
      ...(remedy === undefined ? {} : { remedy }),
      facts: known?.facts ?? {},
      cause: last,
    });
  }
}

function summaryFailed(last: unknown): string {
  const why = last === undefined ? "no summarizer is available" : last instanceof Error ? last.message : last;
  return `The summary failed: ${why}`;
}

/** The ways to a summary that were tried before a compaction failed. */
export const attemptsOf = (error: unknown): readonly SummaryAttempt[] =>
  error instanceof AttemptedError ? error.attempts : [];

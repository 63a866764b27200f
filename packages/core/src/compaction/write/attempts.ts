import { LonghaulError, type LonghaulErrorCode, type LonghaulErrorDetails } from "../../messages/errors.ts";
import type { ModelUsage } from "../../models/port.ts";

/** Steps of the summary chain, in the order in which they are tried. */
export type SummaryStep = "notes" | "provider" | "fork" | "direct" | "built-in";

/** Record of one step of the chain. It contains only counts and codes. */
export interface SummaryAttempt {
  readonly step: SummaryStep;
  readonly outcome: "written" | "failed" | "unavailable";
  /** Error code, or the reason why the step was not available. */
  readonly reason?: string;
  /** Number of times that the request was cut because it was too long. */
  readonly cuts: number;
  readonly model?: string;
  readonly usage?: ModelUsage;
}

/** Progress of a running compaction. It contains only counts and codes. */
export type SummaryProgress =
  /** Hooks for this event, such as "PreCompact", are running. They have ended when the next phase starts. */
  | { readonly phase: "hooks"; readonly event: string; readonly hooks: number }
  /** The next step of the chain starts. */
  | { readonly phase: "step"; readonly step: SummaryStep }
  | { readonly phase: "sent"; readonly messages: number }
  | { readonly phase: "thinking" }
  | { readonly phase: "writing"; readonly characters: number }
  | { readonly phase: "retrying"; readonly attempt: number; readonly delayMs: number; readonly code: string }
  /** The request was too long. Rounds were removed, and the request is sent again. */
  | { readonly phase: "cut"; readonly droppedRounds: number; readonly rounds: number };

export type OnSummaryProgress = (progress: SummaryProgress) => void;

/** Error of a compaction that failed after a summary was requested. */
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

/**
 * Error of a chain in which no step wrote a summary. Code, message and remedy come from the last failure,
 * which is the cause.
 */
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

/** Returns the steps that were tried before a compaction failed. */
export const attemptsOf = (error: unknown): readonly SummaryAttempt[] =>
  error instanceof AttemptedError ? error.attempts : [];

import type { RestoreKind } from "../compaction/restore/restored.ts";
import type { SummaryAttempt } from "../compaction/write/attempts.ts";
import type { NetSaving, WeighedOption, Weighing } from "../measure/cost/rewrite-cost.ts";
import type { StepKind } from "../messages/entry.ts";
import type { LonghaulErrorCode } from "../messages/errors.ts";
import type { ModelUsage } from "../models/port.ts";

/** Code of a setup problem: the engine works, but worse than it could. */
export type SetupCode = Extract<
  LonghaulErrorCode,
  "window-assumed" | "model-authentication" | "model-sdk-missing" | "model-unknown-model"
>;

export type Trigger = "manual" | "auto" | "reactive";
export type ClearingForm = "size" | "time" | "cached" | "manual" | "api";

/** Position of a compaction in the chain of compactions of its conversation. */
export interface ChainRecord {
  readonly isInChain: boolean;
  readonly turnsSincePrevious: number | undefined;
  readonly previousTurnId: string | undefined;
  readonly threshold: number;
  readonly caller: string;
}

/** Reason why a compaction failed. */
export type FailureReason =
  | "not_enough_messages"
  | "no_summary"
  | "api_error"
  | "prompt_too_long"
  | "does_not_pay"
  | "blocked_by_hook"
  | "aborted"
  | "transcript_failed"
  | "other";

/** Reason why nothing was compacted, although a compaction might be expected. */
export type SkipReason =
  | "disabled"
  | "breaker-open"
  | "caller-is-compaction"
  | "caller-is-collapse"
  | "auto-disabled"
  | "reactive-only"
  | "collapse-on"
  | "below-threshold"
  | "floor-above-threshold"
  | "just-undone"
  | "just-compacted"
  /** A summary was just written, but a compaction with this summary would save too little. */
  | "did-not-pay"
  /** The summary is being written in the background, and the conversation still fits into the window. */
  | "summary-under-way";

/** Every decision of the engine. Events contain counts, ids and names, but never conversation content. */
export type CompactorEvent = { readonly agentId: string | undefined; readonly turnId: string } & EventDetail;

export type EventDetail =
  /** Emitted for each check of the window, whatever its result. Serves as a debug log. */
  | {
      readonly type: "window-checked";
      readonly tokens: number;
      readonly source: "usage" | "estimate";
      readonly threshold: number;
      readonly effective: number;
      readonly snipFreed: number;
      readonly decision: "compact" | SkipReason;
    }
  | {
      readonly type: "tokens-counted";
      readonly outcome: "counted" | "failed" | "timed-out";
      readonly estimatedTokens: number;
      readonly tokens: number | undefined;
      readonly durationMs: number;
    }
  | {
      readonly type: "results-cleared";
      readonly form: ClearingForm;
      readonly results: number;
      readonly tools: readonly string[];
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      /** Undefined if the prices are unknown, or if the provider cleared the results. */
      readonly netSaving: NetSaving | undefined;
    }
  /**
   * The engine compared the costs of all options and chose one. `occasion` is `early` before the threshold,
   * `cold` after a pause, and `full` at the threshold. Costs are in dollars, sizes in tokens.
   */
  | {
      readonly type: "weighed";
      readonly occasion: "early" | "cold" | "full";
      readonly chosen: Weighing["chosen"];
      readonly why: Weighing["why"];
      readonly expectedTurns: number;
      readonly growthPerTurn: number;
      readonly options: readonly WeighedOption[];
    }
  | { readonly type: "pinned-edits-dropped"; readonly edits: number; readonly reason: string }
  | { readonly type: "compaction-started"; readonly trigger: Trigger; readonly tokens: number }
  | {
      readonly type: "compacted";
      readonly trigger: Trigger;
      readonly tier: "memory" | "full" | "partial";
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      readonly messagesSummarized: number;
      readonly messagesKept: number;
      readonly attempts: readonly SummaryAttempt[];
      readonly usage: ModelUsage | undefined;
      /** Figures of the token accounting, see `accountingMetrics`. */
      readonly accounting: Readonly<Record<string, number>>;
      readonly chain: ChainRecord;
      readonly durationMs: number;
      readonly isAboveThreshold: boolean;
      /** Undefined if the prices are unknown. */
      readonly netSaving: NetSaving | undefined;
    }
  | {
      readonly type: "compaction-failed";
      readonly trigger: Trigger;
      readonly reason: FailureReason;
      /** The code of the error. */
      readonly code: string;
      readonly attempts: readonly SummaryAttempt[];
      readonly durationMs: number;
    }
  | {
      readonly type: "prompt-too-long-retried";
      readonly attempt: number;
      readonly droppedRounds: number;
      readonly roundsLeft: number;
    }
  | {
      readonly type: "restored";
      readonly items: readonly {
        readonly kind: RestoreKind;
        readonly name: string;
        readonly tokens: number;
      }[];
      readonly skipped: readonly {
        readonly kind: RestoreKind;
        readonly name: string;
        readonly reason: string;
      }[];
    }
  /** All hooks of one event start in parallel. Each hook ends with the event `hook-ended`. */
  | { readonly type: "hooks-started"; readonly event: string; readonly hooks: number }
  | {
      readonly type: "hook-ended";
      readonly event: string;
      readonly kind: string;
      readonly state: string;
      readonly durationMs: number;
    }
  | {
      readonly type: "compaction-judged";
      readonly verdict: "effective" | "ineffective";
      readonly reportedTokens: number;
      readonly threshold: number;
    }
  | {
      readonly type: "breaker-opened";
      readonly why: "failures" | "ineffective" | "frequency";
      readonly strikes: number;
    }
  | { readonly type: "breaker-closed"; readonly why: "success" | "time" | "progress" | "manual" }
  | { readonly type: "floor-above-threshold"; readonly floorTokens: number; readonly threshold: number }
  | {
      readonly type: "cache-break";
      readonly before: number;
      readonly after: number;
      readonly expected: number;
      readonly causes: readonly string[];
    }
  | {
      readonly type: "usage-distrusted";
      readonly reportedTokens: number | undefined;
      readonly expectedTokens: number;
      readonly why: "missing" | "not-positive" | "too-high" | "too-low";
    }
  | { readonly type: "request-repaired"; readonly rules: Readonly<Record<string, number>> }
  | { readonly type: "thinking-left-out"; readonly blocks: number; readonly reason: "rewrite" | "mismatch" }
  /** Markers replaced old images and documents in one batch, before the provider's limit was reached. */
  | { readonly type: "media-replaced"; readonly replaced: number; readonly left: number }
  /**
   * The transcript could not be written. Emitted once until writing works again. Nothing is compacted in the
   * meantime.
   */
  | { readonly type: "transcript-failed"; readonly waiting: number }
  | { readonly type: "snipped"; readonly messages: number; readonly tokensFreed: number }
  | {
      readonly type: "recovered";
      readonly from: string;
      readonly tokensBefore: number;
      readonly tokensAfter: number;
    }
  | { readonly type: "recovery-failed"; readonly from: string; readonly code: string }
  /** The session notes were updated in the background. */
  | {
      readonly type: "notes-updated";
      readonly by: "fork" | "direct" | "built-in";
      /** Size of the notes now. */
      readonly tokens: number;
      readonly edits: number;
      /** Number of refused edits. The model gets a reason for each refusal. */
      readonly refused: number;
      /** Number of model calls. */
      readonly calls: number;
      readonly usage: ModelUsage | undefined;
      /**
       * True if the notes record that they cover the newest message. False while a tool call is open, or after
       * a refused edit.
       */
      readonly isRemembered: boolean;
      readonly durationMs: number;
    }
  | { readonly type: "notes-failed"; readonly reason: string; readonly durationMs: number }
  /** The notes could not be used for a compaction. `reason` explains why. */
  | { readonly type: "notes-declined"; readonly trigger: Trigger; readonly reason: string }
  /** Memory files were added, because they apply to files that the agent used. */
  | {
      readonly type: "memory-attached";
      readonly files: readonly { readonly path: string; readonly tokens: number }[];
      readonly skipped: readonly { readonly path: string; readonly reason: string }[];
    }
  | {
      readonly type: "span-staged";
      readonly by: "direct" | "built-in";
      readonly messages: number;
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      readonly usage: ModelUsage | undefined;
      readonly durationMs: number;
    }
  | { readonly type: "span-failed"; readonly reason: string; readonly durationMs: number }
  | {
      readonly type: "spans-committed";
      readonly spans: number;
      readonly messages: number;
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      /** Time that the model call waited for the collapse. 0 if the spans were ready. */
      readonly waitedMs: number;
    }
  | { readonly type: "spans-expanded"; readonly spans: number; readonly messages: number }
  /** A step, such as a compaction, a collapse or a snip, was undone or redone. */
  | {
      readonly type: "undone";
      readonly direction: "undo" | "redo";
      readonly step: StepKind;
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      /** Number of restored messages from before the step. */
      readonly messagesRestored: number;
      /** Number of messages that came after the step. They were copied. */
      readonly messagesCarried: number;
    }
  /** A background summary started. A refresh adds the newest messages to an existing summary. */
  | { readonly type: "background-started"; readonly tokens: number; readonly isRefresh: boolean }
  | {
      readonly type: "background-ended";
      readonly outcome: "ready" | "failed" | "discarded";
      readonly reason: string | undefined;
      readonly durationMs: number;
    }
  | { readonly type: "settings-ignored"; readonly warning: string }
  /**
   * Emitted once per model: the setup works, but worse than it could. The next turn's `problem` has the
   * remedy.
   */
  | { readonly type: "setup-problem"; readonly code: SetupCode; readonly model: string }
  | { readonly type: "host-callback-failed"; readonly callback: string };

import type { Entry } from "../conversation/entry.ts";
import type { ContentBlock } from "../conversation/message.ts";
import { LonghaulError, type LonghaulErrorCode, type LonghaulErrorDetails } from "../errors.ts";
import { abortedError, throwIfAborted } from "../models/abortable.ts";
import { ModelError, type ModelFailureKind } from "../models/model-error.ts";
import type { WindowOf } from "../models/output-limit.ts";
import type { Model, ModelUsage } from "../models/port.ts";
import { type ModelTimeLimits, TimeBudget, timedOut, timeLimitsOf } from "../models/time-limit.ts";
import type { CountText } from "../tokens/measure.ts";
import { chainSteps, type Step } from "./chain-steps.ts";
import type { OnSummaryProgress } from "./progress.ts";
import { NoSummaryError } from "./request/read-summary.ts";
import type { ModelSummary } from "./request/summary.ts";
import type { ForkSource, SummaryAttempt, SummaryVariant } from "./sources.ts";

/** What is to be summarised. */
export interface SummaryTask {
  readonly variant: SummaryVariant;
  readonly summarised: readonly Entry[];
  /** What stays as it is: after what is summarised, or before it where the variant is `from`. */
  readonly kept: readonly Entry[];
  /** Results that the agent no longer sends although the entries still hold them. */
  readonly clearedToolUseIds?: ReadonlySet<string> | undefined;
  /** Tokens as the provider counts them, as far as that is known. */
  readonly countTokens?: CountText | undefined;
  /** Size of the built-in summary. */
  readonly builtInBudgetTokens: number;
}

/** Whether the built-in summariser steps in when every model failed. */
export type BuiltInFallback =
  | "always"
  /** Not where the person should hear of it: no key, no such model, no package, no connection. */
  | "unless-misconfigured"
  | "never";

/** Notes that were taken along the way: a summary that has been written already. */
export interface NotesSource {
  readonly text: string;
  /** Standing instructions, which they were taken by. */
  readonly instructions?: string | undefined;
  /** Why they cannot be used although they are there; see `NotesDecline`. */
  readonly unavailable?: string | undefined;
}

export interface ChainOptions {
  readonly instructions?: string | undefined;
  /** Used before anybody is asked. */
  readonly notes?: NotesSource | undefined;
  /** Of the conversation. Without one, and without a fork, the built-in summariser writes. */
  readonly model?: Model | undefined;
  /** A smaller one for the direct call. */
  readonly summaryModel?: Model | undefined;
  /** How to share the conversation's cached prefix; absent where there is none to share. */
  readonly fork?: ForkSource | undefined;
  /** Who is asked first; `model` unless given. */
  readonly summariser?: "model" | "provider" | "built-in" | undefined;
  readonly builtInFallback?: BuiltInFallback | undefined;
  /** Room that the window has for a summary, where that is less than usual. */
  readonly maxOutputTokens?: number | undefined;
  /** Windows of the models, where the host knows them better than the table of models. */
  readonly windowOf?: WindowOf | undefined;
  /** Time limits of all models together: 60 seconds for a first byte and 300 seconds in all by default. */
  readonly timeLimits?: Partial<ModelTimeLimits> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: OnSummaryProgress | undefined;
}

/** A summary, who wrote it, and what was tried before. */
export type WrittenSummary = { readonly attempts: readonly SummaryAttempt[] } & StepSummary;

/** What a step of the chain wrote. */
export type StepSummary =
  | { readonly source: "notes"; readonly step: "notes"; readonly text: string }
  | { readonly source: "built-in"; readonly step: "built-in"; readonly text: string }
  | ({ readonly source: "model"; readonly step: "fork" | "direct" } & ModelSummary)
  | {
      readonly source: "provider";
      readonly step: "provider";
      readonly text: string;
      /** Signed by the provider: to be sent as it is, in place of what was summarised. */
      readonly block: ContentBlock;
      /** It summarizes the messages as the conversation sends them. Thinking that follows stays valid only then. */
      readonly isAsSent: boolean;
      readonly model: string;
      readonly usage: ModelUsage;
    };

/** Another call to the same model would end the same way. */
const BEYOND_RETRY: ReadonlySet<ModelFailureKind> = new Set([
  "authentication",
  "unknown-model",
  "sdk-missing",
  "timed-out",
]);

const MISCONFIGURED: ReadonlySet<ModelFailureKind> = new Set([
  "authentication",
  "unknown-model",
  "sdk-missing",
  "unreachable",
]);

/**
 * Has a summary written, by the first way that leads to one: notes that are there already, the provider's own
 * compaction (where chosen), a fork of the conversation, a call of its own, the built-in summariser. An abort ends
 * all of it at once. The models share one span of time: when it is over, none of them is waited for or asked any more.
 */
export async function writeSummaryByChain(task: SummaryTask, options: ChainOptions): Promise<WrittenSummary> {
  const budget = new TimeBudget(options.signal, timeLimitsOf(options.timeLimits).totalMs);
  try {
    return await takeInTurn(task, options, budget);
  } finally {
    budget.close();
  }
}

async function takeInTurn(
  task: SummaryTask,
  options: ChainOptions,
  budget: TimeBudget,
): Promise<WrittenSummary> {
  const attempts: SummaryAttempt[] = [];
  const failed = new Map<Model | string, string>();
  let last: unknown;
  for (const step of chainSteps(task, options)) {
    throwIfAborted(options.signal);
    if (step.name === "built-in" && last !== undefined && !fallsBack(last, options)) break;
    const { model } = step;
    const reason = model && (budget.isOver ? TIME_IS_OVER : (failed.get(model) ?? failed.get(model.name)));
    if (reason !== undefined) {
      attempts.push({ step: step.name, outcome: "unavailable", reason, cuts: 0, ...named(step) });
      continue;
    }
    const outcome = await take(step, task, options, budget);
    attempts.push(outcome.attempt);
    if (outcome.summary !== undefined) return { ...outcome.summary, attempts };
    if (outcome.error === undefined) continue;
    last = outcome.error;
    if (model && isOf(BEYOND_RETRY, last)) {
      for (const key of [model, model.name]) failed.set(key, outcome.attempt.reason ?? "failed");
    }
  }
  throw new SummaryChainError(last, attempts);
}

interface Outcome {
  readonly attempt: SummaryAttempt;
  readonly summary?: StepSummary;
  readonly error?: unknown;
}

/** The reason of a step that had no time left: the code of the error that the step before it ended with. */
const TIME_IS_OVER = "model-timed-out";

async function take(
  step: Step,
  task: SummaryTask,
  options: ChainOptions,
  budget: TimeBudget,
): Promise<Outcome> {
  const { signal, onProgress } = options;
  let cuts = 0;
  const common = { step: step.name, ...named(step) };
  const watch: OnSummaryProgress = (progress) => {
    if (progress.phase === "cut") cuts++;
    onProgress?.(progress);
  };
  try {
    watch({ phase: "step", step: step.name });
    const { firstByteMs, totalMs } = timeLimitsOf(options.timeLimits);
    const running = step.run({
      signal: budget.signal,
      onProgress: watch,
      firstByteMs,
      windowOf: options.windowOf,
      countTokens: task.countTokens,
    });
    const { model } = step;
    const summary =
      model === undefined
        ? await running
        : await budget.wait(running, () => timedOut(model.name, "answer", totalMs));
    if ("unavailable" in summary)
      return { attempt: { ...common, outcome: "unavailable", reason: summary.unavailable, cuts } };
    const usage = "usage" in summary ? { usage: summary.usage } : {};
    return { summary, attempt: { ...common, outcome: "written", cuts, ...usage } };
  } catch (error) {
    if (signal?.aborted) throw abortedError();
    if (error instanceof ModelError && error.failure.kind === "aborted") throw error;
    const usage = error instanceof NoSummaryError ? { usage: error.usage } : {};
    const reason = error instanceof LonghaulError ? error.code : "unexpected";
    return { error, attempt: { ...common, outcome: "failed", reason, cuts, ...usage } };
  }
}

const named = ({ model }: Step): { model?: string } => (model === undefined ? {} : { model: model.name });

function fallsBack(error: unknown, { builtInFallback = "always" }: ChainOptions): boolean {
  if (builtInFallback === "unless-misconfigured") return !isOf(MISCONFIGURED, error);
  return builtInFallback === "always";
}

const isOf = (kinds: ReadonlySet<ModelFailureKind>, error: unknown): boolean =>
  error instanceof ModelError && kinds.has(error.failure.kind);

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
    super(known?.code ?? "no-summary", known?.message ?? "No summary could be written.", attempts, {
      ...(known?.remedy === undefined ? {} : { remedy: known.remedy }),
      facts: known?.facts ?? {},
      cause: last,
    });
  }
}

/** The ways to a summary that were tried before a compaction failed. */
export const attemptsOf = (error: unknown): readonly SummaryAttempt[] =>
  error instanceof AttemptedError ? error.attempts : [];

import type { HookOutcome } from "../../hooks/hook.ts";
import { estimateO200k } from "../../measure/tokens/estimate/o200k.ts";
import { type Entry, isSummaryEntry } from "../../messages/entry.ts";
import { LonghaulError } from "../../messages/errors.ts";
import { contentText } from "../../messages/untrusted.ts";
import { abortedError, TimeBudget, throwIfAborted, untilAborted } from "../../models/abortable.ts";
import { ModelError, type ModelFailureKind } from "../../models/model-error.ts";
import { type ModelTimeLimits, timedOut, timeLimitsOf } from "../../models/model-time-limits.ts";
import type { Model } from "../../models/port.ts";
import { type HookOptions, hookSteps } from "../hook-steps.ts";
import type { CompactionPlan } from "../plan/compaction-plan.ts";
import { SMALLEST_SUMMARY_TOKENS } from "../plan/room.ts";
import { summarize } from "../summary/builtin/summarize.ts";
import { SUMMARY_BUDGET_TOKENS } from "../summary/summary-budget.ts";
import { type SummaryVariant, unwrapSummary, withoutQuotedFacts } from "../summary/summary-message.ts";
import type { SummaryInstructions } from "../summary/summary-prompt.ts";
import { pointAt, type SummaryPromptOptions, summaryPrompt } from "../summary/summary-prompt.ts";
import {
  type AskOptions,
  type ModelSummary,
  messagesToSummarize,
  NoSummaryError,
  toolsUsedIn,
  type Unavailable,
} from "./ask-model.ts";
import {
  type OnSummaryProgress,
  type SummaryAttempt,
  SummaryChainError,
  type SummaryStep,
} from "./attempts.ts";
import { type ProviderSummary, requestProviderCompaction } from "./provider-compaction.ts";
import { requestSummary, type SummaryRequestOptions } from "./request-summary.ts";
import { type ForkSource, requestFork } from "./shared-prefix.ts";

/**
 * Summary that existed before the compaction, such as notes written during the session. It is used before a
 * model is asked.
 */
export interface SummarySource {
  readonly text: string;
  /**
   * Returns the reason why the text cannot be used as this summary, or undefined if it can.
   *
   * @param asked the user's own instructions for the summary.
   * @param instructions the same instructions with the additions of PreCompact hooks.
   */
  decline(asked: string | undefined, instructions: string | undefined): string | undefined;
}

export interface SummaryOptions extends ChainOptions, HookOptions {
  /** Existing summary. It is used unless its method `decline` returns a reason. */
  readonly source?: SummarySource | undefined;
  /** Size of the built-in summary in tokens. */
  readonly summaryBudgetTokens?: number;
  /**
   * Size that the result should stay below. If necessary, less content is restored to stay below this size.
   */
  readonly targetTokens?: number;
}

/**
 * Summary that was written before anything in the conversation changed. It can be used at once or later. Its
 * instructions begin with the user's words. Those of the hooks follow.
 */
export interface PreparedSummary extends SummaryInstructions {
  readonly written: WrittenSummary;
  /** Outcomes of the hooks that ran before the summary was written. */
  readonly hookOutcomes: readonly HookOutcome[];
}

/** Does the slow part of a compaction: runs the hooks and has the summary written. */
export async function prepareSummary(
  plan: CompactionPlan,
  options: SummaryOptions,
): Promise<PreparedSummary> {
  throwIfAborted(options.signal);
  const hooks = hookSteps(plan, options);
  const instructions = await hooks.preCompact(options.instructions);
  const { source, signal } = options;
  const unavailable = source?.decline(options.instructions, instructions);
  const task = {
    ...plan,
    builtInBudgetTokens: summaryBudget(plan, options),
    offered: source && { text: source.text, unavailable },
  };
  const written = await untilAborted(signal, writeSummaryByChain(task, { ...options, instructions }));
  return { written: withoutForgery(written), hookOutcomes: hooks.outcomes, instructions };
}

/** Share of the new messages that a built-in summary may use. A longer text about them saves too little. */
const NEW_MESSAGES_SHARE = 1 / 3;

/**
 * Share of the tokens available under a target for the built-in summary. The larger part is for the facts that
 * the summary lacks, because the users' own words need it in a small window.
 */
const BUILT_IN_SHARE = 0.45;

/**
 * Returns the budget of the built-in summary. It is at most the size of the earlier summary and a third of the new
 * messages, and at most {@link BUILT_IN_SHARE} of the tokens available under a target. An earlier summary is
 * condensed already: a share of it would make it shorter with every compaction. If too few tokens are available, a
 * shorter summary would not help, so the limit under a target does not apply. But if there are unseen results, the
 * budget is the smallest one, because they need the tokens.
 */
function summaryBudget(plan: CompactionPlan, options: SummaryOptions): number {
  const wanted = options.summaryBudgetTokens ?? SUMMARY_BUDGET_TOKENS;
  const { overheadTokens, keptTokens, tokenRatio } = plan;
  // The built-in summarizer uses our estimate, and the plan uses the provider's count.
  const measured = plan.summarizedTokens / tokenRatio;
  const carried = carriedTokens(plan.summarized);
  const condensed = carried + Math.max(0, measured - carried) * NEW_MESSAGES_SHARE;
  const room =
    ((options.targetTokens ?? Number.POSITIVE_INFINITY) - overheadTokens - keptTokens) / tokenRatio;
  const isNoRoom = room * BUILT_IN_SHARE < SMALLEST_SUMMARY_TOKENS;
  const share = !isNoRoom
    ? room * BUILT_IN_SHARE
    : plan.unseen === undefined
      ? wanted
      : SMALLEST_SUMMARY_TOKENS;
  return Math.floor(Math.max(SMALLEST_SUMMARY_TOKENS, Math.min(wanted, condensed, share)));
}

/** Returns the tokens of earlier summaries without their quoted facts, which are checked and quoted again. */
const carriedTokens = (summarized: readonly Entry[]): number =>
  summarized
    .filter(isSummaryEntry)
    .reduce(
      (total, { message }) =>
        total + estimateO200k(unwrapSummary(withoutQuotedFacts(contentText(message.content)))),
      0,
    );

/**
 * Removes a section of quoted facts that the author copied or invented. Only longhaul writes that section.
 */
function withoutForgery(written: WrittenSummary): WrittenSummary {
  // The block is signed. The provider would refuse any change.
  if (written.source === "provider") return written;
  const text = withoutQuotedFacts(written.text);
  return text === written.text ? written : { ...written, text };
}

/** Messages to summarize, with what is known about them. */
export interface SummaryTask
  extends Pick<CompactionPlan, "variant" | "summarized" | "kept">,
    Partial<Pick<CompactionPlan, "clearedToolUseIds" | "countTokens">> {
  /** Size of the built-in summary in tokens. */
  readonly builtInBudgetTokens: number;
  /**
   * Existing summary, and the reason if it cannot be used. The existing summary is tried before all other
   * steps.
   */
  readonly offered?: { readonly text: string; readonly unavailable?: string | undefined } | undefined;
}

/** Policy for the built-in summarizer when every model failed. */
export type BuiltInFallback =
  | "always"
  /**
   * No built-in summary if the user should know about the failure. Such failures are a missing key, an
   * unknown model, a missing package or no connection.
   */
  | "unless-misconfigured"
  | "never";

export interface ChainOptions
  extends Pick<
    SummaryRequestOptions,
    "instructions" | "maxOutputTokens" | "windowOf" | "signal" | "onProgress"
  > {
  /**
   * Model of the conversation. Without a model and without a fork, the built-in summarizer writes the
   * summary.
   */
  readonly model?: Model | undefined;
  /** Smaller model for the direct call. */
  readonly summaryModel?: Model | undefined;
  /** Source of the conversation's cached prefix. Absent if there is no cached prefix to share. */
  readonly fork?: ForkSource | undefined;
  /** Summarizer to try first, `model` by default. */
  readonly summarizer?: "model" | "provider" | "built-in" | undefined;
  readonly builtInFallback?: BuiltInFallback | undefined;
  /** Time limits of all models together. By default, 60 seconds for a first byte and 300 seconds in total. */
  readonly timeLimits?: Partial<ModelTimeLimits> | undefined;
}

/** Summary with its author and all attempts. */
export type WrittenSummary = { readonly attempts: readonly SummaryAttempt[] } & StepSummary;

/** A summary that a step of the chain wrote. */
type StepSummary =
  | { readonly source: "notes"; readonly step: "notes"; readonly text: string }
  | { readonly source: "built-in"; readonly step: "built-in"; readonly text: string }
  | ({ readonly source: "model"; readonly step: "fork" | "direct" } & ModelSummary)
  | ({
      readonly source: "provider";
      readonly step: "provider";
      /**
       * True if the summary covers the messages exactly as the conversation sends them. Later thinking stays
       * valid only in this case.
       */
      readonly isAsSent: boolean;
    } & ProviderSummary);

/** Failures that another call to the same model would repeat. */
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
 * Writes a summary with the first step that succeeds. The steps are existing notes, the provider's compaction
 * (if chosen), a fork of the conversation, a direct call, and the built-in summarizer. An abort ends the
 * chain at once. All models share one time limit. When that time is over, no model is awaited or called.
 */
export async function writeSummaryByChain(task: SummaryTask, options: ChainOptions): Promise<WrittenSummary> {
  const budget = new TimeBudget(options.signal, timeLimitsOf(options.timeLimits).totalMs);
  try {
    return await tryInOrder(task, options, budget);
  } finally {
    budget.close();
  }
}

async function tryInOrder(
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
    if (model && reason !== undefined) {
      attempts.push({ step: step.name, outcome: "unavailable", reason, cuts: 0, model: model.name });
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

/**
 * Reason for skipping a step when no time is left. The step that used up the time fails with the same code.
 */
const TIME_IS_OVER = "model-timed-out";

async function take(
  step: Step,
  task: SummaryTask,
  options: ChainOptions,
  budget: TimeBudget,
): Promise<Outcome> {
  const { name, model } = step;
  let cuts = 0;
  const common = { step: name, ...(model === undefined ? {} : { model: model.name }) };
  const watch: OnSummaryProgress = (progress) => {
    if (progress.phase === "cut") cuts++;
    options.onProgress?.(progress);
  };
  try {
    watch({ phase: "step", step: name });
    const { firstByteMs, totalMs } = timeLimitsOf(options.timeLimits);
    const running = step.run({
      signal: budget.signal,
      onProgress: watch,
      firstByteMs,
      windowOf: options.windowOf,
      countTokens: task.countTokens,
    });
    const summary =
      model === undefined
        ? await running
        : await budget.wait(running, () => timedOut(model.name, "answer", totalMs));
    if ("unavailable" in summary)
      return { attempt: { ...common, outcome: "unavailable", reason: summary.unavailable, cuts } };
    const usage = "usage" in summary ? { usage: summary.usage } : {};
    return { summary, attempt: { ...common, outcome: "written", cuts, ...usage } };
  } catch (error) {
    if (options.signal?.aborted) throw abortedError();
    if (error instanceof ModelError && error.failure.kind === "aborted") throw error;
    const usage = error instanceof NoSummaryError ? { usage: error.usage } : {};
    const reason = error instanceof LonghaulError ? error.code : "unexpected";
    return { error, attempt: { ...common, outcome: "failed", reason, cuts, ...usage } };
  }
}

function fallsBack(error: unknown, { builtInFallback = "always" }: ChainOptions): boolean {
  if (builtInFallback === "unless-misconfigured") return !isOf(MISCONFIGURED, error);
  return builtInFallback === "always";
}

const isOf = (kinds: ReadonlySet<ModelFailureKind>, error: unknown): boolean =>
  error instanceof ModelError && kinds.has(error.failure.kind);

/** Step of the summary chain. */
interface Step {
  readonly name: SummaryStep;
  /** Model that the step calls, or undefined if it calls none. */
  readonly model: Model | undefined;
  run(options: AskOptions): Promise<StepSummary | Unavailable>;
}

/** Returns the steps in order, without those that the options rule out. */
function chainSteps(task: SummaryTask, options: ChainOptions): readonly Step[] {
  const { summarizer = "model", fork } = options;
  const direct = options.summaryModel ?? options.model ?? fork?.model;
  const asksModel = summarizer !== "built-in" && direct !== undefined;
  return [
    ...(task.offered === undefined ? [] : [notesStep(task.offered)]),
    ...(asksModel && summarizer === "provider" ? [providerStep(task, options)] : []),
    ...(asksModel ? [forkStep(task, options), directStep(direct, task, options)] : []),
    builtInStep(task, options),
  ];
}

function notesStep({ text, unavailable }: NonNullable<SummaryTask["offered"]>): Step {
  return {
    name: "notes",
    model: undefined,
    run: async () => (unavailable === undefined ? { source: "notes", step: "notes", text } : { unavailable }),
  };
}

function providerStep(task: SummaryTask, options: ChainOptions): Step {
  const source = options.fork ?? (options.model && plainSource(options.model, task));
  return {
    name: "provider",
    model: source?.model,
    run: async (ask) => {
      if (source === undefined) return { unavailable: "no-model" };
      // The provider's block comes before everything else, so no message could be kept before it.
      if (task.variant === "from") return { unavailable: "keeps-earlier-messages" };
      const prompt: SummaryPromptOptions = {
        // Only the summarized messages are sent. In either variant, the kept messages follow them.
        variant: task.kept.length > 0 ? "up-to" : "whole",
        hasEarlierSummary: task.summarized.some(isSummaryEntry),
        instructions: options.instructions,
      };
      const summary = await requestProviderCompaction(source, task.summarized, prompt, ask);
      if ("unavailable" in summary) return summary;
      return { source: "provider", step: "provider", isAsSent: options.fork !== undefined, ...summary };
    },
  };
}

/**
 * Creates the source for a session from a file. Such a session has no running conversation and no cached
 * prefix.
 */
function plainSource(model: Model, { summarized, clearedToolUseIds }: SummaryTask): ForkSource {
  const messagesFor = (entries: readonly Entry[]): ReturnType<ForkSource["messagesFor"]> =>
    messagesToSummarize(entries, clearedToolUseIds);
  const tools = toolsUsedIn(messagesFor(summarized));
  return { model, frame: tools.length > 0 ? { tools } : {}, messagesFor, cachedMessages: 0 };
}

/** Creates the fork step. A fork sends the whole conversation, so the prompt names the part to summarize. */
function forkStep({ variant, summarized, kept }: SummaryTask, { fork, instructions }: ChainOptions): Step {
  return {
    name: "fork",
    model: fork?.model,
    run: async (ask) => {
      if (fork === undefined) return { unavailable: "no-shared-prefix" };
      const isFrom = variant === "from";
      const prompt = summaryPrompt({
        variant,
        point: variant === "whole" ? undefined : pointAt(isFrom ? summarized : kept),
        hasEarlierSummary: summarized.some(isSummaryEntry),
        keepsRecent: variant === "whole" && kept.length > 0,
        instructions,
      });
      const inOrder = isFrom ? [...kept, ...summarized] : [...summarized, ...kept];
      const summary = await requestFork(fork, inOrder, prompt, ask);
      return "unavailable" in summary ? summary : { source: "model", step: "fork", ...summary };
    },
  };
}

function directStep(model: Model, task: SummaryTask, options: ChainOptions): Step {
  const { variant, kept } = task;
  const before = variant === "from" ? kept : undefined;
  const keepsRecent = variant === "whole" && kept.length > 0;
  return {
    name: "direct",
    model,
    run: async (ask) => {
      const asked = { ...options, ...task, ...ask, before, keepsRecent };
      return {
        source: "model",
        step: "direct",
        ...(await requestSummary(model, entriesToRead(task), asked)),
      };
    },
  };
}

function builtInStep(task: SummaryTask, { instructions }: ChainOptions): Step {
  return {
    name: "built-in",
    model: undefined,
    run: async () => {
      const { text } = summarize(entriesToRead(task), {
        countTokens: estimateO200k,
        budgetTokens: task.builtInBudgetTokens,
        variant: task.variant,
        instructions,
      });
      return { source: "built-in", step: "built-in", text };
    },
  };
}

/**
 * Returns true if a summary also covers the kept messages. If a model or the built-in summarizer summarizes
 * the whole conversation, the summary covers them. Without them, the summary would list work as open that
 * they completed. Provider summaries and notes do not cover them.
 */
export const coversKept = (variant: SummaryVariant, source: StepSummary["source"]): boolean =>
  variant === "whole" && (source === "built-in" || source === "model");

/** Returns the entries that a model or the built-in summarizer reads. See {@link coversKept}. */
const entriesToRead = ({ variant, summarized, kept }: SummaryTask): readonly Entry[] =>
  variant === "whole" ? [...summarized, ...kept] : summarized;

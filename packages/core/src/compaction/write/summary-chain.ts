import type { HookOutcome } from "../../hooks/hook.ts";
import { ESTIMATORS } from "../../measure/tokens/measure.ts";
import { type Entry, isSummaryEntry } from "../../messages/entry.ts";
import { LonghaulError } from "../../messages/errors.ts";
import { abortedError, TimeBudget, throwIfAborted, untilAborted } from "../../models/abortable.ts";
import { ModelError, type ModelFailureKind } from "../../models/model-error.ts";
import { type ModelTimeLimits, timedOut, timeLimitsOf } from "../../models/model-time-limits.ts";
import type { Model } from "../../models/port.ts";
import { type HookOptions, hookSteps } from "../hook-steps.ts";
import type { CompactionPlan } from "../plan/compaction-plan.ts";
import { SMALLEST_SUMMARY_TOKENS } from "../plan/room.ts";
import { SUMMARY_BUDGET_TOKENS } from "../summary/builtin/budget.ts";
import { summarize } from "../summary/builtin/summarize.ts";
import { type SummaryVariant, withoutQuotedFacts } from "../summary/summary-message.ts";
import type { SummaryWishes } from "../summary/summary-prompt.ts";
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
 * A summary that was written before the compaction began, such as notes that were taken along the way. It is used
 * before anybody is asked to write one.
 */
export interface SummarySource {
  readonly text: string;
  /**
   * Why the text does not serve as this summary; undefined where it does.
   *
   * @param asked what the user asked the summary to look after.
   * @param instructions the same with what PreCompact hooks added to it.
   */
  decline(asked: string | undefined, instructions: string | undefined): string | undefined;
}

export interface SummaryOptions extends ChainOptions, HookOptions {
  /** Used where it does not decline. */
  readonly source?: SummarySource | undefined;
  /** Size of the built-in summary. */
  readonly summaryBudgetTokens?: number;
  /** The result should stay below this: what is put back shrinks for it. */
  readonly targetTokens?: number;
}

/**
 * A summary that is written, and nothing has changed yet: it can be used at once or later. Its instructions are the
 * user's words, then those of the hooks.
 */
export interface PreparedSummary extends SummaryWishes {
  readonly written: WrittenSummary;
  /** Of the hooks that were asked before it. */
  readonly hookOutcomes: readonly HookOutcome[];
}

/** The slow part of a compaction: hooks are asked, and somebody writes the summary. */
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

/**
 * A summary larger than a third of what it stands for is no summary. Under a target it takes at most half
 * of the room; where there is none, a shorter summary would not help, so it stays a good one. Beside unseen results it
 * gives way to them.
 */
function summaryBudget(plan: CompactionPlan, options: SummaryOptions): number {
  const wanted = options.summaryBudgetTokens ?? SUMMARY_BUDGET_TOKENS;
  const { overheadTokens, keptTokens, tokenRatio } = plan;
  // The built-in summarizer counts by our estimate, the plan as the provider does.
  const measured = plan.summarizedTokens / tokenRatio;
  const room =
    ((options.targetTokens ?? Number.POSITIVE_INFINITY) - overheadTokens - keptTokens) / tokenRatio;
  const isNoRoom = room / 2 < SMALLEST_SUMMARY_TOKENS;
  const share = !isNoRoom ? room / 2 : plan.unseen === undefined ? wanted : SMALLEST_SUMMARY_TOKENS;
  return Math.floor(Math.max(SMALLEST_SUMMARY_TOKENS, Math.min(wanted, measured / 3, share)));
}

/** Only we quote what was said: a section that claims to, copied or made up by whoever wrote, would pass for ours. */
function withoutForgery(written: WrittenSummary): WrittenSummary {
  // Signed by the provider: any other byte would be refused.
  if (written.source === "provider") return written;
  const text = withoutQuotedFacts(written.text);
  return text === written.text ? written : { ...written, text };
}

/** The messages to summarize, and what is known of them. */
export interface SummaryTask
  extends Pick<CompactionPlan, "variant" | "summarized" | "kept">,
    Partial<Pick<CompactionPlan, "clearedToolUseIds" | "countTokens">> {
  /** Size of the built-in summary. */
  readonly builtInBudgetTokens: number;
  /** A summary that has been written already, and why it does not serve. Used before anybody is asked. */
  readonly offered?: { readonly text: string; readonly unavailable?: string | undefined } | undefined;
}

/** Use of the built-in summarizer when every model failed. */
export type BuiltInFallback =
  | "always"
  /** Not where the person should hear of it: no key, no such model, no package, no connection. */
  | "unless-misconfigured"
  | "never";

export interface ChainOptions
  extends Pick<
    SummaryRequestOptions,
    "instructions" | "maxOutputTokens" | "windowOf" | "signal" | "onProgress"
  > {
  /** Of the conversation. Without one, and without a fork, the built-in summarizer writes. */
  readonly model?: Model | undefined;
  /** A smaller one for the direct call. */
  readonly summaryModel?: Model | undefined;
  /** How to share the conversation's cached prefix; absent where there is none to share. */
  readonly fork?: ForkSource | undefined;
  /** The first to ask; `model` by default. */
  readonly summarizer?: "model" | "provider" | "built-in" | undefined;
  readonly builtInFallback?: BuiltInFallback | undefined;
  /** Time limits of all models together: 60 seconds for a first byte and 300 seconds in all by default. */
  readonly timeLimits?: Partial<ModelTimeLimits> | undefined;
}

/** A summary, who wrote it, and what was tried before. */
export type WrittenSummary = { readonly attempts: readonly SummaryAttempt[] } & StepSummary;

/** A summary that a step of the chain wrote. */
type StepSummary =
  | { readonly source: "notes"; readonly step: "notes"; readonly text: string }
  | { readonly source: "built-in"; readonly step: "built-in"; readonly text: string }
  | ({ readonly source: "model"; readonly step: "fork" | "direct" } & ModelSummary)
  | ({
      readonly source: "provider";
      readonly step: "provider";
      /** It summarizes the messages as the conversation sends them. Thinking that follows stays valid only then. */
      readonly isAsSent: boolean;
    } & ProviderSummary);

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
 * compaction (where chosen), a fork of the conversation, a call of its own, the built-in summarizer. An abort ends
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

/** The reason of a step that had no time left: the code of the error that the step before it ended with. */
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

/** One way to a summary. */
interface Step {
  readonly name: SummaryStep;
  /** The model that is called; undefined if none is. */
  readonly model: Model | undefined;
  run(options: AskOptions): Promise<StepSummary | Unavailable>;
}

/** In their order. Those that could not lead anywhere by the options alone are not among them. */
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
      // Its block stands before everything else, so nothing could be kept in front of it.
      if (task.variant === "from") return { unavailable: "keeps-earlier-messages" };
      const prompt: SummaryPromptOptions = {
        // Only what is summarized is sent, and what is kept follows it, whichever of the two it is.
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

/** For a session from a file: no running conversation has a prefix to share. */
function plainSource(model: Model, { summarized, clearedToolUseIds }: SummaryTask): ForkSource {
  const messagesFor = (entries: readonly Entry[]): ReturnType<ForkSource["messagesFor"]> =>
    messagesToSummarize(entries, clearedToolUseIds);
  const tools = toolsUsedIn(messagesFor(summarized));
  return { model, frame: tools.length > 0 ? { tools } : {}, messagesFor, cachedMessages: 0 };
}

/** A fork sends the whole conversation whatever is kept of it, so the prompt says where the part is. */
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
        countTokens: ESTIMATORS.o200k,
        budgetTokens: task.builtInBudgetTokens,
        variant: task.variant,
        instructions,
      });
      return { source: "built-in", step: "built-in", text };
    },
  };
}

/**
 * True if a summary covers the kept messages too. One of the whole conversation does: otherwise it would list as open
 * what they settled. The provider's own and notes do not.
 */
export const coversKept = (variant: SummaryVariant, source: StepSummary["source"]): boolean =>
  variant === "whole" && (source === "built-in" || source === "model");

/** The entries that a model or the built-in summarizer reads, see {@link coversKept}. */
const entriesToRead = ({ variant, summarized, kept }: SummaryTask): readonly Entry[] =>
  variant === "whole" ? [...summarized, ...kept] : summarized;

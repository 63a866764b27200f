import type { Entry } from "../conversation/entry.ts";
import { isSummaryEntry } from "../conversation/entry.ts";
import type { Model } from "../models/port.ts";
import { ESTIMATORS } from "../tokens/measure.ts";
import { summarise } from "./builtin/summarise.ts";
import type { ChainOptions, NotesSource, StepSummary, SummaryTask } from "./chain.ts";
import { type SummaryPromptOptions, summaryPrompt } from "./prompt.ts";
import type { AskOptions } from "./request/ask.ts";
import { requestFork } from "./request/fork.ts";
import { messagesToSummarise, toolsUsedIn } from "./request/messages.ts";
import { pointAt } from "./request/point.ts";
import { requestProviderCompaction } from "./request/provider-compaction.ts";
import { requestSummary } from "./request/request-summary.ts";
import type { Unavailable } from "./request/summary.ts";
import type { ForkSource, SummaryStep, SummaryVariant } from "./sources.ts";

/** One way to a summary. */
export interface Step {
  readonly name: SummaryStep;
  /** Who is called; undefined where nobody is. */
  readonly model: Model | undefined;
  run(options: AskOptions): Promise<StepSummary | Unavailable>;
}

/** In their order. Those that could not lead anywhere by the options alone are not among them. */
export function chainSteps(task: SummaryTask, options: ChainOptions): readonly Step[] {
  const { notes } = options;
  return [...(notes === undefined ? [] : [notesStep(notes)]), ...writingSteps(task, options)];
}

function notesStep({ text, unavailable }: NotesSource): Step {
  return {
    name: "notes",
    model: undefined,
    run: async () => (unavailable === undefined ? { source: "notes", step: "notes", text } : { unavailable }),
  };
}

function writingSteps(task: SummaryTask, options: ChainOptions): readonly Step[] {
  const { summariser = "model", fork } = options;
  const direct = options.summaryModel ?? options.model ?? fork?.model;
  if (summariser === "built-in" || direct === undefined) return [builtInStep(task, options)];
  return [
    ...(summariser === "provider" ? [providerStep(task, options)] : []),
    forkStep(task, options),
    directStep(direct, task, options),
    builtInStep(task, options),
  ];
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
        // Only what is summarised is sent, and what is kept follows it, whichever of the two it is.
        variant: task.kept.length > 0 ? "up-to" : "whole",
        hasEarlierSummary: task.summarised.some(isSummaryEntry),
        instructions: options.instructions,
      };
      const summary = await requestProviderCompaction(source, task.summarised, prompt, ask);
      if ("unavailable" in summary) return summary;
      return { source: "provider", step: "provider", isAsSent: options.fork !== undefined, ...summary };
    },
  };
}

/** Where there is no running conversation to share anything with: a session from a file. */
function plainSource(model: Model, { summarised, clearedToolUseIds }: SummaryTask): ForkSource {
  const messagesFor = (entries: readonly Entry[]): ReturnType<ForkSource["messagesFor"]> =>
    messagesToSummarise(entries, clearedToolUseIds);
  const tools = toolsUsedIn(messagesFor(summarised));
  return { model, frame: tools.length > 0 ? { tools } : {}, messagesFor, cachedMessages: 0 };
}

function forkStep(task: SummaryTask, { fork, instructions }: ChainOptions): Step {
  return {
    name: "fork",
    model: fork?.model,
    run: async (ask) => {
      if (fork === undefined) return { unavailable: "no-shared-prefix" };
      const summary = await requestFork(fork, inOrder(task), forkPrompt(task, instructions), ask);
      return "unavailable" in summary ? summary : { source: "model", step: "fork", ...summary };
    },
  };
}

/** A fork sends the whole conversation whatever is kept of it, so the prompt says where the part is. */
function forkPrompt(task: SummaryTask, instructions: string | undefined): string {
  const { variant, summarised, kept } = task;
  return summaryPrompt({
    variant,
    point: variant === "whole" ? undefined : pointAt(variant === "from" ? summarised : kept),
    hasEarlierSummary: summarised.some(isSummaryEntry),
    keepsRecent: variant === "whole" && kept.length > 0,
    instructions,
  });
}

function directStep(model: Model, task: SummaryTask, options: ChainOptions): Step {
  const { variant, kept, clearedToolUseIds } = task;
  return {
    name: "direct",
    model,
    run: async (ask) => {
      const summary = await requestSummary(model, readForSummary(task), {
        ...ask,
        instructions: options.instructions,
        maxOutputTokens: options.maxOutputTokens,
        variant,
        before: variant === "from" ? kept : undefined,
        keepsRecent: variant === "whole" && kept.length > 0,
        clearedToolUseIds,
      });
      return { source: "model", step: "direct", ...summary };
    },
  };
}

function builtInStep(task: SummaryTask, { instructions }: ChainOptions): Step {
  return {
    name: "built-in",
    model: undefined,
    run: async () => {
      const { text } = summarise(readForSummary(task), {
        countTokens: ESTIMATORS.o200k,
        budgetTokens: task.builtInBudgetTokens,
        variant: task.variant,
        instructions,
      });
      return { source: "built-in", step: "built-in", text };
    },
  };
}

const inOrder = ({ variant, summarised, kept }: SummaryTask): readonly Entry[] =>
  variant === "from" ? [...kept, ...summarised] : [...summarised, ...kept];

/**
 * Whether a summary covers the kept messages too. One of the whole conversation does: otherwise it would list as open
 * what they settled. The provider's own and notes do not.
 */
export const coversKept = (variant: SummaryVariant, source: StepSummary["source"]): boolean =>
  variant === "whole" && (source === "built-in" || source === "model");

/** The entries that a model or the built-in summarizer reads, see {@link coversKept}. */
const readForSummary = ({ variant, summarised, kept }: SummaryTask): readonly Entry[] =>
  variant === "whole" ? [...summarised, ...kept] : summarised;

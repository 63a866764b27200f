import type { Model } from "@longhaul/core";
import { ModelError, type ModelFailure } from "@longhaul/core";
import type { ChainOptions, ForkSource, WrittenSummary } from "@longhaul/core/compaction";
import { flatten } from "@longhaul/core/request";
import { SECTION_NAMES } from "@longhaul/core/summary";
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from "@longhaul/simulator";
import {
  type SummaryTask,
  writeSummaryByChain,
} from "../../packages/core/src/compaction/write/summary-chain.ts";
import { ConversationBuilder } from "../support/builders.ts";

export const GOOD: string = `<summary>\n${SECTION_NAMES.map((name, at) => `${at + 1}. ${name}: some`).join("\n")}\n</summary>`;
export const failing = (failure: ModelFailure): ModelError =>
  new ModelError(failure, "no", { remedy: "Do this." });
export const NO_KEY: ModelError = failing({ kind: "authentication" });
export const BROKEN: ModelError = failing({ kind: "other", retry: false });

export const named = (name: string, ...answers: readonly ScriptedAnswer[]): ScriptedModel =>
  scriptedModel(answers, { name });

export const forkOf = (model: Model): ForkSource => ({
  model,
  frame: {},
  messagesFor: (entries) => flatten(entries),
  cachedMessages: 0,
});

/** Builds a request and its answer for each round. */
export function conversation(rounds = 6): ConversationBuilder {
  const built = new ConversationBuilder();
  for (let round = 0; round < rounds; round++) {
    built.user(`request-${round}`);
    built.assistant(`answer-${round}`);
  }
  return built;
}

export function task(fields: Partial<SummaryTask> = {}): SummaryTask {
  const { entries } = conversation();
  return { variant: "whole", summarized: entries, kept: [], builtInBudgetTokens: 4_000, ...fields };
}

/** Describes the attempts in words. */
export const describeAttempts = (attempts: WrittenSummary["attempts"]): readonly string[] =>
  attempts.map(({ step, outcome, reason }) => [step, outcome, reason].filter(Boolean).join(" "));

export async function run(options: ChainOptions, of: SummaryTask = task()): Promise<WrittenSummary> {
  return await writeSummaryByChain(of, options);
}

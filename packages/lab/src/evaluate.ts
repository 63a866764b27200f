import { PER_MILLION, pricedModel } from "@longhaul/core/internal/measure";
import { countMessages } from "@longhaul/core/internal/request";
import {
  type CountText,
  computeThresholds,
  costOf,
  ESTIMATORS,
  findModel,
  measureEntries,
  type PriceTable,
  pricesOf,
  type Thresholds,
} from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import type { Model } from "@longhaul/core/models";
import type { Session } from "@longhaul/sessions";
import {
  type ChainedCompaction,
  type ChainOutcome,
  type ChainPlan,
  planChain,
  runChain,
} from "./compaction-chain.ts";
import { contextTextOf } from "./context-text.ts";
import {
  type ChainEvaluation,
  type EvaluatedSession,
  type Evaluation,
  type MissingProbe,
  type PolicyEvaluation,
  type RecordedEvaluation,
  settingOf,
  tallyProbes,
} from "./evaluation.ts";
import { examineContext } from "./examine-context.ts";
import { judgeContext } from "./judge.ts";
import { createPolicy } from "./policies.ts";
import { POLICY_NAMES, type Policy, type PolicyName } from "./policy.ts";
import { deriveExam, type Exam } from "./probes/exam.ts";
import { type AnswerByRecall, withTranscript } from "./recall-question.ts";
import {
  planRecorded,
  type RecordedCompaction,
  recordedCompactions,
  recordedPolicy,
} from "./recorded-summaries.ts";
import { SessionFiles } from "./session-files.ts";
import { sessionStream } from "./session-stream.ts";

/** Default window of an evaluation, so small that most sessions fill it several times. */
export const EVALUATED_WINDOW_TOKENS = 50_000;
export const EVALUATED_CHAINS: readonly number[] = [1, 10];

export interface EvaluateOptions {
  /** Names of built-in policies, or your own policies. Default: all built-in policies. */
  readonly policies?: readonly (PolicyName | Policy)[] | undefined;
  /** Numbers of consecutive compactions to evaluate. Default: 1 and 10. */
  readonly compactions?: readonly number[] | undefined;
  readonly windowTokens?: number | undefined;
  /** Your own prices. They override the published prices. */
  readonly prices?: PriceTable | undefined;
  /** Model that answers the questions of the probes from the context alone. Default: no judge. */
  readonly judge?: Model | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Called before each policy runs. `done` is the number of finished runs, and `total` is the number of all
   * runs.
   */
  readonly onProgress?: ((progress: EvaluationProgress) => void) | undefined;
}

export interface EvaluationProgress {
  readonly policy: string;
  readonly compactions: number;
  readonly done: number;
  readonly total: number;
}

/**
 * Measures how much of a session each policy still knows after consecutive compactions. Also grades the
 * summaries that the session's own program wrote. Calls no model, except a judge.
 */
export async function evaluateSession(session: Session, options: EvaluateOptions = {}): Promise<Evaluation> {
  return await evaluate(session, sessionStream(session), recordedCompactions(session), options);
}

/** Does the same as {@link evaluateSession} for entries that are not in a file. */
export function evaluateStream(
  session: EvaluatedSession,
  stream: readonly Entry[],
  options: EvaluateOptions = {},
): Promise<Evaluation> {
  return evaluate(session, stream, [], options);
}

async function evaluate(
  session: EvaluatedSession,
  stream: readonly Entry[],
  recorded: readonly RecordedCompaction[],
  options: EvaluateOptions,
): Promise<Evaluation> {
  const { policies = POLICY_NAMES, compactions = EVALUATED_CHAINS, windowTokens, prices } = options;
  const model = findModel(session.model);
  const thresholds = computeThresholds({
    ...model,
    windowTokens: windowTokens ?? EVALUATED_WINDOW_TOKENS,
    windowOrigin: windowTokens === undefined ? "default" : "option",
  });
  const countText = memoizeCount(ESTIMATORS.o200k);
  const total = policies.length * compactions.length + RECORDED_RUNS * recorded.length;
  let done = 0;
  const onRun = (policy: string, nth: number): void =>
    options.onProgress?.({ policy, compactions: nth, done: done++, total });
  const common = { session, countText, options, onRun };
  const chains: ChainEvaluation[] = [];
  for (const count of compactions) {
    const course = planChain(stream, thresholds, count, countText);
    chains.push(await evaluateChain({ ...common, course, thresholds, policies, compactions: count }));
  }
  const beside: RecordedEvaluation[] = [];
  for (const [index, { version }] of recorded.entries()) {
    const upTo = recorded.slice(0, index + 1);
    const chain = await evaluateChain({
      ...common,
      course: planRecorded(upTo, countText),
      // The session's own window applies here, because its program compacted at these places.
      thresholds: computeThresholds(model),
      policies: [recordedPolicy(upTo, countText), "longhaul"],
      compactions: index + 1,
      onlyWhereDue: true,
    });
    beside.push({ ...chain, version: version ?? null });
  }
  return { ...settingOf(session, thresholds, pricedModel(session.model, prices)), chains, recorded: beside };
}

/** Runs at the place of a recorded compaction: the recorded summary, and ours. */
const RECORDED_RUNS = 2;

interface ChainTask {
  readonly session: EvaluatedSession;
  readonly countText: CountText;
  readonly options: Pick<EvaluateOptions, "prices" | "judge" | "signal">;
  readonly onRun: (policy: string, compactions: number) => void;
  readonly course: ChainPlan;
  readonly thresholds: Thresholds;
  readonly policies: readonly (PolicyName | Policy)[];
  readonly compactions: number;
  readonly onlyWhereDue?: boolean;
}

/** Runs all policies over the same part of a session. */
async function evaluateChain(task: ChainTask): Promise<ChainEvaluation> {
  const { course, compactions, policies } = task;
  const said = course.flatMap(({ entries }) => entries);
  const exam = deriveExam(said);
  const results = await withTranscript(said, async (answerByRecall) => {
    const all: PolicyEvaluation[] = [];
    for (const policy of policies) {
      task.options.signal?.throwIfAborted();
      task.onRun(typeof policy === "string" ? policy : policy.name, compactions);
      all.push(await evaluatePolicy(policy, { ...task, exam, answerByRecall }));
    }
    return all;
  });
  return {
    messages: countMessages(said),
    tokens: course.reduce((sum, round) => sum + round.tokens, 0),
    probes: exam.probes.length,
    compactions,
    policies: results,
  };
}

interface PolicyTask extends ChainTask {
  readonly exam: Exam;
  readonly answerByRecall: AnswerByRecall;
}

async function evaluatePolicy(wanted: PolicyName | Policy, task: PolicyTask): Promise<PolicyEvaluation> {
  const { session, course, thresholds, exam, countText, onlyWhereDue, options } = task;
  const files = new SessionFiles();
  const known = { model: session.model, state: { files }, countText };
  const policy = typeof wanted === "string" ? createPolicy(wanted, known) : wanted;
  const chain = await runChain(course, {
    policy,
    onRound: (entries) => files.add(entries),
    thresholds,
    transcriptPath: session.path ?? `${session.id}.jsonl`,
    countText,
    onlyWhereDue,
  });
  const context = contextTextOf(chain.entries);
  const { missing: absent, ...examined } = examineContext(exam, context);
  const missing: MissingProbe[] = [];
  for (const probe of absent) {
    const isFound = policy.hasRecall && (await task.answerByRecall(probe));
    const { answer: _, ...shown } = probe;
    missing.push({ ...shown, fate: isFound ? "recoverable" : "lost" });
  }
  const { judge, prices, signal } = options;
  return {
    policy: policy.name,
    compactions: chain.compactions.length,
    ...tallyProbes(exam.probes, missing),
    ...examined,
    tokens: tokensOf(chain, countText),
    cost: costsOf(chain.compactions, pricedModel(session.model, prices), prices),
    ...(judge && {
      judge: await judgeContext(exam.probes, `${context.withFacts}\n\n${context.rest}`, judge, { signal }),
    }),
  };
}

/**
 * Returns the context sizes after the compactions. If there was no compaction, returns the size of the
 * conversation.
 */
function tokensOf({ entries, compactions }: ChainOutcome, countText: CountText): PolicyEvaluation["tokens"] {
  const left = compactions.map(({ tokensAfter }) => tokensAfter);
  const last = left.at(-1) ?? measureEntries(entries, countText);
  const sum = left.reduce((total, tokens) => total + tokens, 0);
  return { mean: left.length === 0 ? last : Math.round(sum / left.length), last };
}

/**
 * Returns the cost of a chain of compactions: the summary calls, and the prompt tokens that the cache has to
 * store again.
 */
export function costsOf(
  compactions: readonly ChainedCompaction[],
  model: string,
  own?: PriceTable,
): PolicyEvaluation["cost"] {
  let [calls, rewrites] = [0, 0];
  for (const compaction of compactions) {
    for (const { usage } of compaction.calls) calls += costOf(usage, model, own) ?? 0;
    const prices = pricesOf(model, compaction.tokensAfter, own);
    rewrites += (compaction.rewrittenTokens * (prices?.cacheWrite5m ?? 0)) / PER_MILLION;
  }
  return { total: calls + rewrites, calls, rewrites };
}

/** Minimum length of a cached text. Counting a shorter text is as fast as looking up its count. */
const MIN_CACHED_CHARS = 200;

/**
 * Counts each long text once and remembers the count, because every policy measures the same messages again
 * before and after each compaction.
 */
function memoizeCount(countText: CountText): CountText {
  const known = new Map<string, number>();
  return (text) => {
    if (text.length < MIN_CACHED_CHARS) return countText(text);
    const counted = known.get(text);
    if (counted !== undefined) return counted;
    const tokens = countText(text);
    known.set(text, tokens);
    return tokens;
  };
}

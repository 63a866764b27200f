import { PER_MILLION, pricedModel } from "@longhaul/core/internal/measure";
import { isCompactBoundary, isMicrocompactBoundary } from "@longhaul/core/internal/messages";
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
import type { Session } from "@longhaul/sessions";
import { sessionHistory } from "@longhaul/sessions/internal";
import {
  type ChainedCompaction,
  type ChainOutcome,
  type ChainPlan,
  planChain,
  runChain,
} from "./compaction-chain.ts";
import {
  type ChainEvaluation,
  type EvaluatedSession,
  type Evaluation,
  type MissingProbe,
  type PolicyEvaluation,
  settingOf,
  tallyProbes,
} from "./evaluation.ts";
import { createPolicy } from "./policies.ts";
import { POLICY_NAMES, type Policy, type PolicyName } from "./policy.ts";
import { contextOf, type FindByRecall, withTranscript } from "./probe-search.ts";
import { deriveProbes, type Probe } from "./probes.ts";
import { SessionFiles } from "./session-files.ts";

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

/** Measures how much of a session each policy still knows after consecutive compactions. Calls no model. */
export function evaluateSession(session: Session, options: EvaluateOptions = {}): Promise<Evaluation> {
  return evaluateStream(session, sessionStream(session), options);
}

/** Does the same as {@link evaluateSession} for entries that are not in a file. */
export async function evaluateStream(
  session: EvaluatedSession,
  stream: readonly Entry[],
  options: EvaluateOptions = {},
): Promise<Evaluation> {
  const { policies = POLICY_NAMES, compactions = EVALUATED_CHAINS, windowTokens, prices } = options;
  const thresholds = computeThresholds({
    ...findModel(session.model),
    windowTokens: windowTokens ?? EVALUATED_WINDOW_TOKENS,
    windowOrigin: windowTokens === undefined ? "default" : "option",
  });
  const countText = memoizeCount(ESTIMATORS.o200k);
  const total = policies.length * compactions.length;
  let done = 0;
  const chains: ChainEvaluation[] = [];
  for (const count of compactions) {
    const course = planChain(stream, thresholds, count, countText);
    const said = course.flatMap(({ entries }) => entries);
    const exam = { session, thresholds, course, countText, prices, probes: deriveProbes(said) };
    const results = await withTranscript(said, async (finds) => {
      const all: PolicyEvaluation[] = [];
      for (const policy of policies) {
        const name = typeof policy === "string" ? policy : policy.name;
        options.onProgress?.({ policy: name, compactions: count, done: done++, total });
        all.push(await evaluatePolicy(policy, { ...exam, findByRecall: finds }));
      }
      return all;
    });
    chains.push({
      messages: countMessages(said),
      tokens: course.reduce((sum, round) => sum + round.tokens, 0),
      probes: exam.probes.length,
      compactions: count,
      policies: results,
    });
  }
  return {
    ...settingOf(session, thresholds, pricedModel(session.model, prices)),
    chains,
  };
}

interface Exam {
  readonly session: EvaluatedSession;
  readonly thresholds: Thresholds;
  readonly course: ChainPlan;
  readonly countText: CountText;
  readonly prices: PriceTable | undefined;
  readonly probes: readonly Probe[];
  readonly findByRecall: FindByRecall;
}

async function evaluatePolicy(wanted: PolicyName | Policy, exam: Exam): Promise<PolicyEvaluation> {
  const { session, course, thresholds, probes, countText, prices } = exam;
  const files = new SessionFiles();
  const known = { model: session.model, state: { files }, countText };
  const policy = typeof wanted === "string" ? createPolicy(wanted, known) : wanted;
  const chain = await runChain(course, {
    policy,
    onRound: (entries) => files.add(entries),
    thresholds,
    transcriptPath: session.path ?? `${session.id}.jsonl`,
    countText,
  });
  const context = contextOf(chain.entries);
  const missing: MissingProbe[] = [];
  for (const probe of probes) {
    if (context.contains(probe)) continue;
    const isFound = policy.hasRecall && (await exam.findByRecall(probe));
    missing.push({ ...probe, fate: isFound ? "recoverable" : "lost" });
  }
  return {
    policy: policy.name,
    compactions: chain.compactions.length,
    ...tallyProbes(probes, missing),
    tokens: tokensOf(chain, countText),
    cost: costsOf(chain.compactions, pricedModel(session.model, prices), prices),
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

/**
 * Returns everything that was said in a session, oldest first, as if the session had never been compacted.
 * Omits the session's own summaries and compaction boundaries. Also omits the reported usage, because it was
 * measured in another window.
 */
export function sessionStream(session: Session): readonly Entry[] {
  const history = sessionHistory(session);
  return toStream(history.entries.filter((entry) => !history.isRepeated(entry)));
}

export function toStream(entries: readonly Entry[]): readonly Entry[] {
  return entries
    .filter(
      (entry) => entry.type !== "progress" && !isCompactBoundary(entry) && !isMicrocompactBoundary(entry),
    )
    .map(withoutUsage);
}

function withoutUsage(entry: Entry): Entry {
  if (entry.type !== "assistant" || entry.message?.usage === undefined) return entry;
  const { usage: _, ...message } = entry.message;
  return { ...entry, message };
}

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
  type Course,
  planCourse,
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
import { deriveProbes, type Probe } from "./probes.ts";
import { SessionFiles } from "./session-files.ts";
import { contextOf, type FindByRecall, withTranscript } from "./still-known.ts";

/** Small enough that most sessions fill it many times. */
export const EVALUATED_WINDOW_TOKENS = 50_000;
export const EVALUATED_CHAINS: readonly number[] = [1, 10];

export interface EvaluateOptions {
  /** All that we know unless given: their names, or policies of one's own. */
  readonly policies?: readonly (PolicyName | Policy)[] | undefined;
  /** How many compactions in a row; one and ten unless given. */
  readonly compactions?: readonly number[] | undefined;
  readonly windowTokens?: number | undefined;
  /** Prices of your own, which go before the published ones. */
  readonly prices?: PriceTable | undefined;
  /** Told before each run of a policy; `done` of `total` are over. */
  readonly onProgress?: ((progress: EvaluationProgress) => void) | undefined;
}

export interface EvaluationProgress {
  readonly policy: string;
  readonly compactions: number;
  readonly done: number;
  readonly total: number;
}

/** What of a session is still known after compactions in a chain, by each policy. No model is called. */
export function evaluateSession(session: Session, options: EvaluateOptions = {}): Promise<Evaluation> {
  return evaluateStream(session, sessionStream(session), options);
}

/** The same of entries that are in no file. */
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
  const countText = remembering(ESTIMATORS.o200k);
  const total = policies.length * compactions.length;
  let done = 0;
  const chains: ChainEvaluation[] = [];
  for (const count of compactions) {
    const course = planCourse(stream, thresholds, count, countText);
    const said = course.flatMap(({ entries }) => entries);
    const exam = { session, thresholds, course, countText, prices, probes: deriveProbes(said) };
    const results = await withTranscript(said, async (finds) => {
      const all: PolicyEvaluation[] = [];
      for (const policy of policies) {
        const name = typeof policy === "string" ? policy : policy.name;
        options.onProgress?.({ policy: name, compactions: count, done: done++, total });
        all.push(await evaluatePolicy(policy, { ...exam, finds }));
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
  readonly course: Course;
  readonly countText: CountText;
  readonly prices: PriceTable | undefined;
  readonly probes: readonly Probe[];
  readonly finds: FindByRecall;
}

async function evaluatePolicy(wanted: PolicyName | Policy, exam: Exam): Promise<PolicyEvaluation> {
  const { session, course, thresholds, probes, countText, prices } = exam;
  const files = new SessionFiles();
  const known = { model: session.model, state: { files }, countText };
  const policy = typeof wanted === "string" ? createPolicy(wanted, known) : wanted;
  const chain = await runChain(course, {
    policy,
    onSaid: (entries) => files.add(entries),
    thresholds,
    transcriptPath: session.path ?? `${session.id}.jsonl`,
    countText,
  });
  const context = contextOf(chain.entries);
  const missing: MissingProbe[] = [];
  for (const probe of probes) {
    if (context.holds(probe)) continue;
    const isFound = policy.hasRecall && (await exam.finds(probe));
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

/** What each compaction left; where there was none, what there is. */
function tokensOf({ entries, compactions }: ChainOutcome, countText: CountText): PolicyEvaluation["tokens"] {
  const left = compactions.map(({ tokensAfter }) => tokensAfter);
  const last = left.at(-1) ?? measureEntries(entries, countText);
  const sum = left.reduce((total, tokens) => total + tokens, 0);
  return { mean: left.length === 0 ? last : Math.round(sum / left.length), last };
}

/** What a chain of compactions costs: the calls, and what the provider's cache has to take in anew. */
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

/** Shorter texts are counted as fast as they are looked up. */
const WORTH_REMEMBERING_CHARS = 200;

/** Counts each text once: the same messages are measured before and after every compaction, by every policy. */
function remembering(countText: CountText): CountText {
  const known = new Map<string, number>();
  return (text) => {
    if (text.length < WORTH_REMEMBERING_CHARS) return countText(text);
    const counted = known.get(text);
    if (counted !== undefined) return counted;
    const tokens = countText(text);
    known.set(text, tokens);
    return tokens;
  };
}

/**
 * Everything that was said in a session, oldest first, as if it had never been compacted: without the summaries and
 * marks of its own compactions, and without the sizes that the provider reported, which belong to another window.
 */
export function sessionStream(session: Session): readonly Entry[] {
  const history = sessionHistory(session);
  return asStream(history.entries.filter((entry) => !history.isRetold(entry)));
}

export function asStream(entries: readonly Entry[]): readonly Entry[] {
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

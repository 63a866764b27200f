import type { Entry } from "@longhaul/core/messages";
import { cancellationTraps, findCancellations } from "./cancellations.ts";
import { fileProbes } from "./files.ts";
import { finishedTraps } from "./finished.ts";
import { nameProbes, numberProbes } from "./literals.ts";
import { commandTraps, lastChecks, outcomeProbes, outcomeTraps } from "./outcomes.ts";
import { decisionProbes, errorProbes } from "./reasons.ts";
import { currentProbes, remainingProbes } from "./remaining.ts";
import { spread, viewSession } from "./session-view.ts";
import { sourceLiterals } from "./source-literals.ts";
import type { Exam, Probe, Trap } from "./types.ts";
import { constraintProbes, requestProbes, userSentences, userWordProbes } from "./user-words.ts";
import { tokensOf } from "./words.ts";

/** The largest share of user words in an exam. Quoting the user alone must not pass it. */
const MAX_USER_WORDS_SHARE = 0.35;

/**
 * Derives questions and traps from everything that was said in a session. The same entries always give the
 * same exam. No model is called.
 *
 * @param entries All entries of the session, oldest first.
 */
export function deriveExam(entries: readonly Entry[]): Exam {
  const view = viewSession(entries);
  const sentences = userSentences(view);
  const cancellations = findCancellations(sentences);
  const cancelled = new Set(cancellations.map(({ earlier }) => earlier));
  const inForce = sentences.filter((sentence) => !cancelled.has(sentence));
  const checks = lastChecks(view);
  const others = [
    ...constraintProbes(view, inForce),
    ...requestProbes(view, inForce),
    ...decisionProbes(view),
    ...errorProbes(view),
    ...outcomeProbes(checks),
    ...remainingProbes(view),
    ...currentProbes(view),
    ...numberProbes(view, sentences),
    ...nameProbes(view, sentences),
    ...fileProbes(view),
  ].filter(hasTopic);
  const maxUserWords = Math.ceil((others.length * MAX_USER_WORDS_SHARE) / (1 - MAX_USER_WORDS_SHARE));
  const words = spread(userWordProbes(view, sentences).filter(hasTopic), maxUserWords);
  const traps = [
    ...cancellationTraps(view, cancellations),
    ...outcomeTraps(view),
    ...commandTraps(checks),
    ...finishedTraps(view, inForce),
  ];
  return {
    probes: numbered<Omit<Probe, "id">>([...words, ...others]),
    traps: numbered<Omit<Trap, "id">>(traps),
    source: sourceLiterals(entries),
  };
}

/** The topic in a question. */
const TOPIC = /"([^"]*)"/;
/** One word is no topic for a literal. The same word is in many sentences. */
const MIN_LITERAL_TOPIC_WORDS = 2;

/** A sentence without a topic gives no question. */
function hasTopic({ kind, question }: Pick<Probe, "kind" | "question">): boolean {
  const topic = TOPIC.exec(question)?.[1];
  if (topic === undefined || kind === "file") return true;
  const words = tokensOf(topic).length;
  return kind === "name" || kind === "number" ? words >= MIN_LITERAL_TOPIC_WORDS : words > 0;
}

function numbered<T extends { readonly kind: string }>(items: readonly T[]): (T & { readonly id: string })[] {
  const counts = new Map<string, number>();
  return items.map((item) => {
    const count = (counts.get(item.kind) ?? 0) + 1;
    counts.set(item.kind, count);
    return { ...item, id: `${item.kind}-${count}` };
  });
}

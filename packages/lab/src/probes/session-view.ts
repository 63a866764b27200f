import type { Entry } from "@longhaul/core/messages";
import { readSession, type ToolRun, type Turn, toolRuns } from "./read-session.ts";
import type { WordGroup } from "./types.ts";
import { contentStems, isContentToken, stemOf, tokensOf } from "./words.ts";

/** A session with everything that several families of probes need. It is computed once. */
export interface SessionView {
  readonly turns: readonly Turn[];
  readonly runs: readonly ToolRun[];
  /** Weight of a stem. A stem that is rare in the prose of the session weighs more. */
  weightOf(stem: string): number;
  /** Words that the prose of the session writes in lower case. */
  readonly lowerCaseWords: ReadonlySet<string>;
}

const LOWER_CASE_WORD = /(?<!\w)[a-z]{2,30}(?!\w)/g;

export function viewSession(entries: readonly Entry[]): SessionView {
  const turns = readSession(entries);
  const frequencies = new Map<string, number>();
  const lowerCaseWords = new Set<string>();
  let texts = 0;
  for (const turn of turns) {
    if (turn.type !== "user" && turn.type !== "assistant") continue;
    texts++;
    for (const [word] of turn.text.matchAll(LOWER_CASE_WORD)) lowerCaseWords.add(word);
    for (const stem of contentStems(tokensOf(turn.text))) {
      frequencies.set(stem, (frequencies.get(stem) ?? 0) + 1);
    }
  }
  return {
    turns,
    runs: toolRuns(turns),
    lowerCaseWords,
    weightOf: (stem) => Math.log(1 + (texts + 1) / ((frequencies.get(stem) ?? 0) + 1)),
  };
}

/** A longer sentence is identified by its rarest words. */
const MAX_GROUP_WORDS = 14;

/** Returns the content words of a sentence, of which an answer must have `share`. */
export function wordGroup(
  view: SessionView,
  text: string,
  share: number,
  maxWords: number = MAX_GROUP_WORDS,
): WordGroup {
  const words = contentStems(tokensOf(text))
    .map((stem): [string, number] => [stem, view.weightOf(stem)])
    .sort((a, b) => b[1] - a[1])
    .slice(0, maxWords);
  return { words, share };
}

/** A question names its topic with at most this many words. */
const MAX_TOPIC_WORDS = 3;
/** A short sentence gives only this share of its words to the question. */
const MAX_TOPIC_SHARE = 0.5;
/** Addresses, hashes and code name no topic that a person would ask for. */
const NO_TOPIC_WORD = /:\/\/|[\\/{}<>=|#$@"]|\d|^\W+$/;
const EDGES = /^[^\p{L}\p{N}]{1,8}|[^\p{L}\p{N}]{1,8}$/gu;

/**
 * Returns the words of a sentence that name its topic best: those with the largest weight, without the words in
 * `hidden`. They are no phrase of the sentence, so that a question does not repeat a part of its answer.
 */
export function topicWords(view: SessionView, text: string, hidden: readonly string[] = []): string {
  const secret = new Set(hidden.flatMap(tokensOf).map(stemOf));
  const words = [...new Set(text.split(/\s+/).map((word) => word.replace(EDGES, "")))];
  const weighed = words
    .map((word, at) => ({ word, at, weight: topicWeight(view, word, secret) }))
    .filter(({ weight }) => weight > 0);
  const count = Math.max(1, Math.min(MAX_TOPIC_WORDS, Math.floor(words.length * MAX_TOPIC_SHARE)));
  return weighed
    .sort((a, b) => b.weight - a.weight)
    .slice(0, count)
    .sort((a, b) => a.at - b.at)
    .map(({ word }) => word)
    .join(", ");
}

/** A code name is less natural in a question than a word. */
const CODE_WEIGHT = 0.5;

function topicWeight(view: SessionView, word: string, secret: ReadonlySet<string>): number {
  const tokens = tokensOf(word);
  if (NO_TOPIC_WORD.test(word) || tokens.some((token) => secret.has(stemOf(token))))
    return Number.NEGATIVE_INFINITY;
  const weights = tokens.filter(isContentToken).map((token) => view.weightOf(stemOf(token)));
  const heaviest = Math.max(0, ...weights);
  return /[_.`()]\w|[a-z][A-Z]/.test(word) ? heaviest * CODE_WEIGHT : heaviest;
}

/** Reports show this many characters of the passage that a probe comes from. */
export const SHOWN_CHARS = 240;

/** Returns up to `count` items that are spread evenly over the list, always with the last one. */
export function spread<T>(items: readonly T[], count: number): T[] {
  if (items.length <= count) return [...items];
  const step = items.length / count;
  return Array.from({ length: count }, (_, index) => items[Math.ceil((index + 1) * step) - 1] as T);
}

import type { FactAuthor } from "../../../messages/fact-ledger.ts";
import { headOf } from "../../../messages/text.ts";
import { proseSentences } from "./prose.ts";
import { connectiveAt, type ReasonType } from "./reason-cues.ts";
import { OMISSION, type Reason, type StatedReason } from "./reasons.ts";
import { isNegative } from "./said-words.ts";
import { contentWords, shareIn } from "./topic-words.ts";

/**
 * Keeps a list of reasons true and short over many compactions: without repetitions, and without beliefs that
 * a later statement corrected. Writes its items, and reads them back.
 */

/** Maximum number of statements to compare. A session has far fewer. */
const MAX_COMPARED = 240;
/** Share of the words of a statement that a repetition of it must contain. */
const REPEATED_SHARE = 0.75;
/** Share of the words of a belief that a correction of it must contain. */
const CORRECTED_SHARE = 0.6;
/** Share of the words of a denied thing that a claim about it must contain. */
const DENIED_SHARE = 0.8;
/**
 * Share of the words of a claim that the denied thing must make up. A smaller share is enough for a belief
 * stated right before, because people deny what they just heard.
 */
const ABOUT_SHARE = 0.3;
const RECENT_ABOUT_SHARE = 0.12;
/** Number of statements before a correction that count as right before it. */
const RECENT = 3;

/**
 * Returns the statements that are still true, each once. The list is oldest first. `later`: statements after
 * the list, which only correct it. A statement without a position comes from an earlier compaction, which has
 * already compared it with the others. It corrects nothing.
 */
export function settleReasons<R extends Placed>(
  reasons: readonly R[],
  later: readonly StatedReason[] = [],
): readonly R[] {
  const newer = later.slice(0, MAX_COMPARED).map(compare);
  let kept = reasons.slice(-MAX_COMPARED).map(compare);
  // A statement that is dropped can bring others closer together, so repeat until nothing changes.
  for (let before = Number.POSITIVE_INFINITY; kept.length < before; ) {
    before = kept.length;
    kept = withoutRepetitions(withoutCorrected(kept, newer));
  }
  return [...reasons.slice(0, -MAX_COMPARED), ...kept.map(({ reason }) => reason)];
}

type Placed = Reason & { readonly at?: number | undefined };

function withoutCorrected<R extends Placed>(
  list: readonly Compared<R>[],
  newer: readonly Compared<Placed>[],
): readonly Compared<R>[] {
  const all: readonly Compared<Placed>[] = [...list, ...newer];
  return list.filter((one, index) => {
    const after = all.slice(index + 1);
    return !after.some(
      (next, gap) =>
        next.reason.at !== undefined && corrects(next, one, gap < RECENT && one.reason.at !== undefined),
    );
  });
}

function withoutRepetitions<R extends Reason>(list: readonly Compared<R>[]): Compared<R>[] {
  let kept: Compared<R>[] = [];
  for (const one of list.toReversed()) {
    if (kept.some((other) => repeats(other, one))) continue;
    // A newer statement can be a shorter repetition of this one, which keeps its place.
    kept = [...kept.filter((other) => !repeats(one, other)), one];
  }
  return kept.reverse();
}

interface Compared<R extends Reason> {
  readonly reason: R;
  readonly text: string;
  readonly words: ReadonlySet<string>;
  /** Words before the reason. */
  readonly claim: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  readonly isNegative: boolean;
  /** True if the statement says that an earlier belief or choice was wrong. */
  readonly retracts: boolean;
  /** Words of each thing that the statement denies. */
  readonly denied: readonly ReadonlySet<string>[];
}

/** Characters of a statement to compare. Statements from files can be longer. */
const COMPARED_CHARS = 600;

/** Returns the part of a text before its reason, or the whole text if it starts with the reason. */
function beforeReason(text: string): string {
  const reasonAt = connectiveAt(text);
  return reasonAt > 0 ? text.slice(0, reasonAt) : text;
}

function compare<R extends Reason>(reason: R): Compared<R> {
  const text = headOf(reason.text, COMPARED_CHARS);
  return {
    reason,
    text: text.toLowerCase(),
    words: contentWords(text),
    claim: contentWords(beforeReason(text)),
    names: namesIn(text),
    isNegative: isNegative(text),
    retracts: RETRACTS.test(text),
    denied: deniedIn(text),
  };
}

const isOfUser = ({ reason }: Compared<Reason>): boolean => reason.by === "user";

/** Returns true if `other` states everything that `one` states. */
function repeats(other: Compared<Reason>, one: Compared<Reason>): boolean {
  if (isOfUser(one) && !isOfUser(other)) return false;
  if (other.text === one.text) return true;
  return (
    shareIn(one.words, other.words) >= REPEATED_SHARE &&
    one.isNegative === other.isNegative &&
    [...one.names].every((name) => other.names.has(name))
  );
}

/** Code, paths, calls, identifiers and numbers, which no other words can replace. */
const NAME = /`[^`]{1,80}`|\b\w{1,40}\([^()\s]{1,40}\)|[\w./:@-]*(?:\d|[a-z][A-Z]|\w[_./]\w)[\w./:@-]*/g;
const MAX_NAMES = 40;

const namesIn = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.matchAll(NAME)].slice(0, MAX_NAMES).map(([name]) => name.replace(/`|[.:]+$/g, "").toLowerCase()),
  );

/** Words that say explicitly that an earlier belief or choice was wrong. */
const RETRACTS =
  /\breconsidered\b|\b(?:i|we)(?: was| were)? (?:wrong|mistaken)\b|\b(?:i|we|you|who)(?:'d|’d| had| have)? (?:\w+ ){0,2}(?:assumed|thought|believed|expected|claimed)\b|\b(?:misread|misdiagnosed|mistook)\b|^\W*(?:correction|scratch that|actually|no,|wait)|\b(?:turns|turned) out\b|\bmy (?:\w+ )?(?:assumption|diagnosis|theory|explanation|claim|analysis)\b|\b(?:changed? (?:my|our) minds?|on second thought|revert(?:ed|ing)? (?:the|that|this|our|my) (?:decision|choice))\b/i;
/** Words before a denied thing, as in "not the cache" or "instead of the cache". */
const DENIAL =
  /(?:,? (?:and |but )?(?:not|instead of|rather than|no longer|never)|\b(?:is|was|were|are)n't|\bis not|\bwas not) (?:(?:in|on|from|by|with|using|because of|due to|caused by|the|a|an|our|my|your|just|only|actually|really) ){0,4}((?:[^,.;:()—–?!]|(?<=\w)[:.](?=\w)){2,60})/gi;
const MAX_DENIALS = 6;

/** Returns true if `later` shows that `one` is wrong or was given up. `isRecent`: `one` came right before. */
function corrects(later: Compared<Reason>, one: Compared<Reason>, isRecent: boolean): boolean {
  if (isOfUser(one) && !isOfUser(later)) return false;
  if (isDoneSince(one, later)) return true;
  // A choice replaces a choice, and a finding replaces a belief. A retraction can replace both.
  const isSameKind = (one.reason.type === "decision") === (later.reason.type === "decision");
  if (!later.retracts && !isSameKind) return false;
  if (later.retracts && shareIn(one.words, later.words) >= CORRECTED_SHARE) return true;
  if (one.isNegative) return false;
  const least = isRecent ? RECENT_ABOUT_SHARE : ABOUT_SHARE;
  return later.denied.some(
    (denied) => shareIn(denied, one.claim) >= DENIED_SHARE && shareIn(one.claim, denied) >= least,
  );
}

/** Words of a decision against work, and words that say that work was done. */
const DECLINES = /\b(?:won't fix|won’t fix|will not fix|skip(?:ped|ping)?|not worth)\b/i;
const DONE = /^\W*(?:now |also |reconsidered\W+)?(?:fixed|implemented|added|changed|done)\b/i;

/** Returns true if `later` says that the work was done that `one` decided against. */
const isDoneSince = (one: Compared<Reason>, later: Compared<Reason>): boolean =>
  DECLINES.test(one.text) &&
  DONE.test(later.text) &&
  !DECLINES.test(later.text) &&
  shareIn(contentWords(proseSentences(one.text)[0] ?? ""), later.words) >= CORRECTED_SHARE;

/** Returns the words of each thing that a text denies. */
export function deniedIn(text: string): readonly ReadonlySet<string>[] {
  return [...text.matchAll(DENIAL)]
    .slice(0, MAX_DENIALS)
    .map(([, thing = ""]) => contentWords(beforeReason(thing)))
    .filter((words) => words.size > 0);
}

/** Returns the statement without the words that carry no content. */
export const shortText = ({ needed }: Pick<Reason, "needed">): string => needed.join(` ${OMISSION} `);

/**
 * Importance of a statement, the highest first: decisions of the user, causes, decisions of the assistant,
 * corrected beliefs, other reasons.
 */
export function reasonRank({ type, by }: Pick<Reason, "type" | "by">): number {
  if (type === "decision") return by === "user" ? 0 : 2;
  return type === "root-cause" ? 1 : type === "correction" ? 3 : 4;
}

const NAMES: Readonly<Record<ReasonType, string>> = {
  decision: "Decision",
  "root-cause": "Cause",
  correction: "Corrected",
  reason: "Said",
};
/** Names that earlier versions wrote. */
const FORMER_NAMES: Readonly<Record<string, ReasonType>> = { Reason: "reason" };
const TYPES: ReadonlyMap<string, ReasonType> = new Map([
  ...Object.entries(NAMES).map(([type, name]) => [name, type as ReasonType] as const),
  ...Object.entries(FORMER_NAMES),
]);
const ITEM = /^- (Decision|Cause|Corrected|Said|Reason)( \(user\))?: (\S[\s\S]*)$/;

/** Writes the list item of a statement. Only a user's statement names its author. */
export const reasonItem = (type: ReasonType, by: FactAuthor, text: string): string =>
  `- ${NAMES[type]}${by === "user" ? " (user)" : ""}: ${text}`;

/** Longer items of this form were written by another author. */
const MAX_ITEM_CHARS = 1_000;

/** Reads a list item of {@link reasonItem} back. Returns undefined for other items. */
export function readReasonItem(item: string): Reason | undefined {
  if (item.length > MAX_ITEM_CHARS) return undefined;
  const [, name = "", user, text = ""] = ITEM.exec(item) ?? [];
  const type = TYPES.get(name);
  if (type === undefined) return undefined;
  const line = text.replace(/\s+/g, " ").trim();
  return { type, by: user === undefined ? "assistant" : "user", text: line, needed: [line] };
}

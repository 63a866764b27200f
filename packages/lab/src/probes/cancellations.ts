import { type SessionView, SHOWN_CHARS, wordGroup } from "./session-view.ts";
import type { Stance, Trap, WordGroup } from "./types.ts";
import type { UserSentence } from "./user-words.ts";
import { contentStems, excerptOf, normalForm, tokensOf } from "./words.ts";

type TrapDraft = Omit<Trap, "id">;

/** An earlier instruction that a later message of the user cancels or replaces. */
export interface Cancellation {
  readonly earlier: UserSentence;
  readonly later: UserSentence;
  /** Set if the later message replaces a value: the old value is no longer true. */
  readonly oldValue?: string;
  readonly newValue?: string;
}

const CANCEL =
  /\b(?:cancel|forget (?:about|the|it)|never mind|nevermind|scrap (?:that|the)|drop (?:that|the idea|the plan|the)|no longer (?:need|want)|not needed any ?more|don't need (?:that|the|it) any ?more|abandon|call off|leave out|undo the|revert the|changed my mind|let's not|on second thought|after all)\b/i;
const REPLACE =
  /\b(?:instead|changed my mind|not .{1,40} but|rather than|switch (?:to|from)|change .{1,60} to)\b/i;
/** A cancellation refers to the earlier instruction with this share of its own words. */
const OBJECT_SHARE = 0.6;
const MIN_OBJECT_WORDS = 2;

/** Words that cancel something name no object. */
const CANCEL_STEMS = new Set(
  contentStems(
    tokensOf(
      "cancel forget mind scrap drop longer needed anymore abandon call leave undo revert changed idea plan instead switch",
    ),
  ),
);

/** Finds instructions that the user took back. Only clear cases count. */
export function findCancellations(sentences: readonly UserSentence[]): Cancellation[] {
  return sentences.flatMap((later, index) => {
    if (later.text.trimEnd().endsWith("?")) return [];
    const before = sentences.slice(0, index).reverse();
    if (CANCEL.test(later.text)) {
      const earlier = before.find((sentence) => isObject(sentence.text, later.text));
      return earlier === undefined ? [] : [{ earlier, later }];
    }
    return REPLACE.test(later.text) ? replaced(before, later) : [];
  });
}

function isObject(earlier: string, later: string): boolean {
  const wanted = contentStems(tokensOf(later)).filter((stem) => !CANCEL_STEMS.has(stem));
  const known = new Set(contentStems(tokensOf(earlier)));
  const shared = wanted.filter((stem) => known.has(stem)).length;
  return shared >= MIN_OBJECT_WORDS && shared >= Math.min(wanted.length, known.size) * OBJECT_SHARE;
}

const VALUE = /^v?\d[\d.,]*$/;

/** Finds the old value of a number that a later message sets anew, as in "use port 9000 instead". */
function replaced(before: readonly UserSentence[], later: UserSentence): Cancellation[] {
  const values = valuesOf(later.text);
  const words = new Set(contentStems(tokensOf(later.text)).filter((stem) => !VALUE.test(stem)));
  for (const earlier of before) {
    const old = valuesOf(earlier.text);
    const topic = contentStems(tokensOf(earlier.text)).filter((stem) => words.has(stem) && !VALUE.test(stem));
    const [oldValue] = old;
    const newValue = values.find((value) => value !== oldValue);
    if (old.length !== 1 || oldValue === undefined || newValue === undefined || topic.length === 0) continue;
    return [{ earlier, later, oldValue, newValue }];
  }
  return [];
}

/** Single digits are list numbers. */
const valuesOf = (text: string): string[] =>
  tokensOf(text).filter((token) => VALUE.test(token) && token.length > 1);

const CLAIMS_ACTIVE: readonly Stance[] = ["goal", "rule", "pending", "next", "current"];
const CLAIMS_INACTIVE: readonly Stance[] = ["cancelled", "done", "quote", "history"];
/** A passage must have nearly all words of the instruction to state it. */
const STATED_SHARE = 0.6;
const TOPIC_SHARE = 0.4;
const REPLACEMENT_WORDS = [
  "was",
  "old",
  "originally",
  "previously",
  "formerly",
  "first",
  "from",
  "before",
  "earlier",
  "not",
];

/** Traps for summaries that state a cancelled instruction as if it were in force. */
export function cancellationTraps(view: SessionView, cancellations: readonly Cancellation[]): TrapDraft[] {
  return cancellations.map(({ earlier, later, oldValue, newValue }) => ({
    kind: "cancelled-as-active",
    evidence: excerptOf(later.text, SHOWN_CHARS),
    needles: oldValue === undefined ? [] : [[oldValue]],
    groups:
      oldValue === undefined
        ? [statedGroup(view, earlier, later), ...replacedWords(earlier, later)]
        : [wordGroup(view, earlier.text, TOPIC_SHARE)],
    stances: CLAIMS_ACTIVE,
    notStances: CLAIMS_INACTIVE,
    unless: newValue === undefined ? [] : [normalForm(newValue), ...REPLACEMENT_WORDS],
    entryIds: [earlier.turn.entryId, later.turn.entryId],
  }));
}

/** "Use spaces after all" replaces the words of the earlier message that it does not repeat. */
function replacedWords(earlier: UserSentence, later: UserSentence): WordGroup[] {
  const kept = new Set(contentStems(tokensOf(later.text)));
  const words = contentStems(tokensOf(earlier.text)).filter((stem) => !kept.has(stem));
  return /\bafter all\b/i.test(later.text) && words.length > 0
    ? [{ words: words.map((stem) => [stem, 1]), share: 1 }]
    : [];
}

/** The words that both messages share name the cancelled object. They weigh double. */
function statedGroup(view: SessionView, earlier: UserSentence, later: UserSentence): WordGroup {
  const shared = new Set(contentStems(tokensOf(later.text)));
  const { words } = wordGroup(view, earlier.text, STATED_SHARE);
  return {
    words: words.map(([stem, weight]) => [stem, shared.has(stem) ? weight * 2 : weight]),
    share: STATED_SHARE,
  };
}

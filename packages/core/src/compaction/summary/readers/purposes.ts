import { isWorthNoting, lastSentences, withoutBold } from "./prose.ts";
import { contentWords } from "./topic-words.ts";

/** Finds the agent's reason for a change in its words before the change. */

/** Number of last sentences before a call that can state its reason. */
const SENTENCES_BEFORE = 3;
/** Minimum number of words that name a subject. "Let me fix this" has none. */
const MIN_SUBJECT_WORDS = 2;

const LIST_ITEM = /^\s*(?:[-*+•]|\d{1,3}[.)])\s/;
/** Words before the subject of an announcement, as in "Now let me also fix the parser". */
const OPENING =
  /^(?:(?:step|phase|task|part|issue|fix|problem)s? ?#?\d{1,3}[.:)] *|(?:ok(?:ay)?|great|perfect|good|right|yes|now|next|then|first|also|finally|so|and)[,!.:]? +|(?:let me|let'?s|let us|i(?:['’]ll| will| need to| should| want to| can|['’]m going to)|we (?:need to|can|should)|time to|going to)(?: now| also| just| first| then| quickly| go ahead and)* +)+/i;
/** An announcement to look, to test or to continue. It explains no change. */
const LOOKS =
  /^(?:(?:continu|proceed|mov|start|begin|look|check|read|see|find|search|explor|examin|inspect|investigat|verif|confirm|wait|try|get|gather|understand|review|dig|trac|list|open|view|think|test|run|re-?run)(?:e|es|s|ing|ning|y|ies|ying|t|ting)?|take a (?:closer )?look|have a look|go (?:ahead|on)|do (?:it|this|that|so)|double-check)\b/i;
/** Words that do not say what a change is for. */
const VAGUE: ReadonlySet<string> = new Set(
  "apply chang conti done fixes fixin folde foldi follo handl issue make maki movin ones ready runni same simpl star start step still suggeste sugge this tests two waiti wait".split(
    " ",
  ),
);

/**
 * Returns the sentence that states the purpose of the next call, or undefined if the agent only announces the
 * call. The last sentence counts most.
 */
export function reasonBefore(text: string): string | undefined {
  // An item of a list belongs to the whole list, and not to the next call.
  const prose = text.split("\n").filter((line) => !LIST_ITEM.test(line));
  const sentences = lastSentences(prose.join("\n"), SENTENCES_BEFORE).map(withoutBold).reverse();
  return sentences.find((sentence) => isWorthNoting(sentence) && statesPurpose(sentence));
}

/** Returns true if the sentence names a subject, and does more than announce the next step. */
export function statesPurpose(sentence: string): boolean {
  const subject = sentence.replace(OPENING, "");
  const isAnnounced = subject !== sentence;
  if (LOOKS.test(subject) && (isAnnounced || /ing\b/.test(subject.split(" ", 1)[0] ?? ""))) return false;
  const words = [...contentWords(subject)].filter((word) => !VAGUE.has(word));
  return words.length >= MIN_SUBJECT_WORDS;
}

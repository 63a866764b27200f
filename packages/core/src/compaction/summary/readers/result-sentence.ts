import { headOf } from "../../../messages/text.ts";
import {
  announcesWork,
  endsWithQuestion,
  isWorthNoting,
  MIN_TELLING_CHARS,
  proseSentences,
  withoutBold,
} from "./prose.ts";
import { claimsDone } from "./reports.ts";

/** Characters of an answer to search for its main sentence. */
const LEAD_FROM_CHARS = 800;

/**
 * Returns the first meaningful sentence that states a result. An answer starts with its result, after phrases
 * such as "Perfect!". An announcement such as "Let me run the tests" is no result.
 */
export function resultSentence(text: string): string | undefined {
  const head = headOf(text, LEAD_FROM_CHARS);
  const sentences = proseSentences(head).map(withoutBold);
  const telling = sentences.filter((sentence) => !announcesWork(sentence) && !OLD_STATE.test(sentence));
  const done = telling.findIndex((sentence) => SAYS_DONE.test(sentence));
  // A text can open with a remark about the work before it says what is done.
  const report = done === -1 ? undefined : telling.slice(done).find(isWorthNoting);
  if (report !== undefined) return report;
  const first = telling.find(isWorthNoting) ?? telling[0];
  if (first === undefined || saysDone(first)) return first;
  const at = telling.indexOf(first);
  if (ENDS_OPEN.test(first)) return instead(first, telling.slice(0, at), telling.slice(at + 1)) ?? first;
  // A text can describe a defect before it says in the same paragraph that the defect is fixed.
  const next = telling[at + 1] ?? "";
  const isFix = FIX.test(next) && claimsDone(next) && isComplete(next);
  return isFix && withoutBold(head).includes(`${first} ${next}`) ? next : first;
}

/**
 * Returns the sentence to quote for a clause before a block or a list, or undefined if the clause itself says
 * the most.
 */
function instead(clause: string, before: readonly string[], after: readonly string[]): string | undefined {
  // A sentence before a short label can say what the list is about.
  const subject = LIST_LABEL.test(clause)
    ? before.find((sentence) => sentence.length >= MIN_TELLING_CHARS && !ENDS_OPEN.test(sentence))
    : undefined;
  if (subject !== undefined) return subject;
  const complete = after.filter((sentence) => isComplete(sentence) && isWorthNoting(sentence));
  return LEADS_IN.test(clause) ? complete[0] : complete.find(claimsDone);
}

/** Clause that says nothing without its block or list, as in "The page shows:" or "Based on the prices:". */
const LEADS_IN =
  /\b(?:shows?|showed|prints?|printed|says?|said|reads?|returns?|returned|gives?|gave|means?|is|are|was|were|has|have|had|includes?|contains?|with|by|to|for|of|from|as|via|like|following|follows|this|these|those|because|where|when|that)[:：]$|^(?:based on|according to|given|as for|regarding)\b[^,]*[:：]$/i;
/** Start of a sentence that reports a fix, as in "Fixed by reading the price first". */
const FIX =
  /^(?:(?:i|we)(?:['’]ve| have)? (?:now )?|(?:it|this|that|both|all)(?: is|['’]s| are) (?:now )?)?(?:fixed|resolved|solved|corrected|repaired)\b/i;
const SHIPPED = /\b(?:shipped|landed|pass(?:es|ed)?|succeeded)\b/i;

/** Returns true for a report of finished work, which says enough even before a list. */
const saysDone = (sentence: string): boolean =>
  !LEADS_IN.test(sentence) && (claimsDone(sentence) || SHIPPED.test(sentence));

/** State before a change, as in "Before: every request waits". */
const OLD_STATE =
  /^(?:before|previously|formerly|until now|old(?: (?:behaviou?r|code|version|state))?|vorher|bisher|avant|antes|раньше|было|之前|以前)(?: the (?:change|fix))?\s*[:：]/iu;
const SAYS_DONE = /^(?:all )?done(?=$|[\s.!:,—–-])/i;
/** A label in few words without a verb, such as "Remaining items:". */
const LIST_LABEL = /^[\p{Lu}\d][^.!?]{0,60}[:：]$/u;
const ENDS_OPEN = /[:：]$/;

const isComplete = (sentence: string): boolean =>
  /[.!。！…][)"'”’*_`」』）]*$/.test(sentence) && !endsWithQuestion(sentence);

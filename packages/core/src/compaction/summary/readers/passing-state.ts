import { headOf } from "../../../messages/text.ts";
import { proseSentences } from "./prose.ts";

/** Reads sentences that were true only for a moment. A summary must not repeat them later. */

const NOT_COMMITTED =
  /\b(?:no commits? (?:was|were|has been|have been) (?:made|created)|(?:nothing|not|n['’]t|never) (?:been |yet )?committed|(?:did not|didn['’]t) commit|(?:is|are|were|left) uncommitted)\b/i;
const STILL_RUNNING =
  /\b(?:(?:sub)?agents?|tasks?|builds?|processe?s?|downloads?) (?:[A-Z0-9][\w.-]{0,20} )?(?:(?:is|are) )?still (?:running|working|at work|busy)\b/i;
/** A matter that nobody has settled yet. An open file or connection is something else, and can be a cause. */
const STILL_OPEN =
  /\b(?:questions?|decisions?|choices?|points?|items?|topics?|matters?|tasks?|to-?dos?|reviews?|tickets?|prs?|pull requests?) (?:[^\s,;:.]+ ){0,5}?(?:(?:is|are|remains?|stays?) )?(?:still|remains?|stays?) (?:open|pending|undecided|unresolved|unanswered|outstanding)\b/i;
const SCANNED_CHARS = 4_000;

/** Returns true if the sentence says that something runs at this moment. */
export const saysStillRunning = (sentence: string): boolean => STILL_RUNNING.test(sentence);

/** Returns true if the sentence says that something runs or is undecided at this moment. */
export const saysMomentary = (sentence: string): boolean =>
  saysStillRunning(sentence) || STILL_OPEN.test(sentence);

/** Returns a report without the sentences that say that nothing is committed. A later commit makes them false. */
export function withoutNotCommitted(report: string): string {
  const stale = proseSentences(headOf(report, SCANNED_CHARS)).filter((sentence) =>
    NOT_COMMITTED.test(sentence),
  );
  const rest = stale.reduce(
    (text, sentence) => text.replace(`${sentence} `, "").replace(sentence, ""),
    report,
  );
  return /\p{L}/u.test(rest) ? rest : report;
}

import type { DirectiveType } from "../../messages/fact-ledger.ts";
import { headOf, tailOf } from "../../messages/text.ts";
import {
  agrees,
  approves,
  asksForWork,
  isContinuation,
  isPoliteRequest,
  isQuestion,
  onlyTells,
  proseSentences,
  readCancellation,
  ruleIn,
  saysLasting,
  saysStrictRule,
} from "../summary/readers/readers.ts";

/** Tells the rules, the requests, the questions and the statements of a user apart. */

interface ReadDirective {
  readonly type: DirectiveType;
  /** Rules inside a request, verbatim. They outlast the request. Empty for the other types. */
  readonly rules: readonly string[];
}

/** A longer message contains pasted text. Only its ends are surely the user's own words. */
const OWN_WORDS_CHARS = 1_500;
const HEAD_CHARS = 2_500;
const TAIL_CHARS = 1_500;
/** Maximum length of a rule. A longer sentence describes the task. */
const RULE_CHARS = 300;
const MAX_RULES = 8;
/** Line that a program printed: output, a log, a diff, code or a quotation. */
const PRINTED =
  /^(?:\s{4,}|\t|\s*(?:---|===|\+\+\+|@@|[[>❯$│├└┃✓✗×●{}<]|\S+\.\w{1,5}:\d+|\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|at\s|(?:error|warning|info|debug|fatal)\b[:[]))/i;

/**
 * Reads the type of a directive. In doubt, a short text that states a rule is a rule as a whole. A text that
 * also asks for work is a request with rules inside.
 */
export function readDirective(text: string): ReadDirective {
  const isLong = text.length > OWN_WORDS_CHARS;
  const sentences = ownSentences(text, isLong);
  const found = sentences.map((sentence) => ({
    sentence,
    rule: isLong && !isRuleOfLongText(sentence) ? undefined : ruleIn(sentence),
  }));
  const rules = found.flatMap(({ rule }) => (rule !== undefined && isStandalone(rule) ? [rule] : []));
  if (rules.length > 0) {
    const asks = found.some(({ sentence, rule }) => rule !== sentence && asksForWork(sentence));
    if (!isLong && !asks) return { type: "rule", rules: [] };
    return { type: "request", rules: [...new Set(rules)].slice(0, MAX_RULES) };
  }
  if (isLong || sentences.some(asksForWork)) return { type: "request", rules: [] };
  if (sentences.some(asksOnly)) return { type: "question", rules: [] };
  return { type: isStatement(text, sentences) ? "statement" : "request", rules: [] };
}

/** A detail of the described work, as in "Keep `PAGE_SIZE`, because the export uses it". */
const DETAIL_OF_TASK = /^(?:(?:and|but|also|please|note)[,:]? )*(?:keep\b[^`]{0,40}`|only `)/i;

/**
 * Returns true if a sentence of a long description states a rule. A sentence that keeps a piece of the code is
 * a part of the described work and ends with it, unless it says "always" or the like.
 */
const isRuleOfLongText = (sentence: string): boolean =>
  saysStrictRule(sentence) && (saysLasting(sentence) || !DETAIL_OF_TASK.test(sentence));

/**
 * Returns true if every sentence only tells something. In doubt, a text asks for work. A report of a problem
 * and an answer ask for work too.
 */
const isStatement = (text: string, sentences: readonly string[]): boolean =>
  sentences.length > 0 &&
  sentences.every((sentence) => onlyTells(sentence) && readCancellation(sentence) === undefined) &&
  !(agrees(text) || approves(text) || isContinuation(text));

/** A clause such as "keep them", which names no subject. */
const NAMES_NOTHING = /^(?:keep|prefer|use|ensure) (?:it|them|this|that|these|those)\W*$/i;

/** Returns true for a rule that a reader understands without its request. */
const isStandalone = (rule: string): boolean => rule.length <= RULE_CHARS && !NAMES_NOTHING.test(rule);

/** Returns true for a question that asks for words and not for work. */
const asksOnly = (sentence: string): boolean => isQuestion(sentence) && !isPoliteRequest(sentence);

function ownSentences(text: string, isLong: boolean): readonly string[] {
  const own = isLong
    ? `${headOf(text, HEAD_CHARS)}\n${tailOf(text, Math.min(TAIL_CHARS, Math.max(0, text.length - HEAD_CHARS)))}`
    : text;
  const lines = own.split("\n").filter((line) => !isLong || !PRINTED.test(line));
  // A line that starts with a small letter continues a sentence that was broken into lines.
  return proseSentences(lines.join("\n").replace(/([^\s.!?:;`])\n(?=[a-z])/g, "$1 "));
}

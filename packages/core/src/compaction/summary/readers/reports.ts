import { headAndTail } from "../clip.ts";
import { proseSentences, withoutBold } from "./prose.ts";
import { asksForWork } from "./said-words.ts";
import { contentWords, shareIn } from "./topic-words.ts";

/** Reads what the agent reports as done and as remaining. */

interface Report {
  /** Sentences and list items that report finished work. */
  readonly done: readonly string[];
  /** Work that the agent names as remaining, in its own words. */
  readonly open: readonly string[];
  /**
   * The part of the open work that the agent leaves undone, as in "Still open: the tests". It stays open after
   * the report. The other open work only says what comes next.
   */
  readonly left: readonly string[];
  /** Work that the agent announces, as in "Next, I will add the tests". */
  readonly announced: readonly string[];
  /** True if the text says that all work is done. */
  readonly isAllDone: boolean;
}

/** Characters of a text to read. A longer text is a document and not a report. */
const SCANNED_CHARS = 8_000;
/** Share of the words of an item that a report must contain to be about the item. */
const ABOUT_SHARE = 0.6;
const MAX_ITEM_CHARS = 300;

const DONE_VERBS =
  "implemented|added|fixed|finished|completed|created|removed|deleted|updated|resolved|merged|pushed|committed|deployed|written|wrote|refactored|renamed|replaced|moved|converted|documented|verified|addressed|applied|migrated|extracted|cleaned up|wired|set up|built|rebased|installed|configured|reverted|released|published";
const ADVERBS = "(?:(?:now|all|also|just|fully|both|already|successfully|been|completely) )*";
const CLAIMS: readonly RegExp[] = [
  new RegExp(`^${ADVERBS}(?:${DONE_VERBS})(?=$|[\\s,.:;!])`, "i"),
  new RegExp(
    `\\b(?:is|are|was|were|has|have|'s|'ve) ${ADVERBS}(?:${DONE_VERBS}|done|complete|in place|ready|live|working)\\b`,
    "i",
  ),
  // Without "already" or "fully", the words can describe code that somebody only reads.
  /\b(?:is|are) (?:now )?(?:already |fully |properly |correctly |completely ){1,3}(?:handled|covered|supported|taken care of)\b/i,
  new RegExp(`\\b(?:i|we)(?:'ve| have)? ${ADVERBS}(?:${DONE_VERBS})\\b`, "i"),
  /^(?:done|completed?|finished|erledigt|fertig|terminé|hecho|listo|готово|сделано)(?=$|[\s:.,!—–-])/iu,
  /\b(?:ist|sind) (?:jetzt |nun )?(?:fertig|erledigt|implementiert|behoben|eingebaut)\b|\b(?:est|sont) (?:maintenant )?(?:terminée?s?|ajoutée?s?|corrigée?s?)\b|\b(?:está|están) (?:ahora )?(?:listo|hecho|implementad|añadid|corregid)/i,
  /(?:исправлен|добавлен|реализован|выполнен|завершен|завершён)|已(?:经)?(?:完成|实现|修复|添加|更新)|(?:完了|実装|追加|修正)しました|(?:완료|구현|추가|수정)했/u,
];
/** Words that turn a report of finished work into a plan, a condition or a denial. */
const NOT_YET =
  /\b(?:not|never|cannot|still|yet|will|would|should|could|once|when|if|until|unless|before|to be|needs?|going to|must|may|might|partially|almost|half|except|without|remaining|next|nicht|noch|pas encore|todavía)\b|n't\b|n’t\b|[?？]|ещё|пока|还没|尚未|まだ|아직/iu;
const ALL_DONE =
  /\ball (?:of )?(?:(?:the|my|our|these|those|your) )?(?:\d{1,3} |open |remaining |requested |planned )*(?:(?:sub-?)?tasks?|to-?dos?|todo items|items|tickets|beads|steps|phases|work|changes|requirements|issues|requests|fixes|findings|comments)(?: (?:on|in|from) [^.,;]{1,40})? (?:(?:is|are|were|have|has|now|been|successfully) )*(?:done|complete|completed|finished|implemented|resolved|addressed|fixed|closed)\b|\beverything (?:(?:is|has|now|been|you asked for) )*(?:done|complete|completed|finished|implemented|in place)\b|^(?:the )?(?:task|implementation|work|plan|migration|refactoring|feature)s? (?:is |are )?(?:now )?(?:fully )?complete(?:d)?[.!:]?$|\ball (?:blocking |critical )?issues (?:are )?resolved\b|所有(?:任务|工作)(?:都)?(?:已)?完成|すべて(?:の(?:タスク|作業))?(?:が)?完了|все (?:задачи|пункты) (?:выполнены|готовы)|alle (?:aufgaben|punkte) (?:sind )?(?:erledigt|fertig)/iu;

const UNFINISHED =
  /\b(?:(?:was|am|were) (?:unable|not able) to|could ?n[o'’]t (?:complete|finish|fix|find|get|resolve|reproduce|access|run|make)|can(?:not|'t|’t) (?:continue|proceed|finish|complete|access)|did(?: not|n'?t) (?:finish|complete|manage)|not (?:yet )?(?:done|finished|complete|implemented|started)|(?:is|am|are|'m) (?:still )?blocked|gave up|incomplete|(?:is|are) still (?:failing|broken|open|missing|to do)|still (?:fails?|needs? to be)|remaining (?:work|steps?|tasks?|items?)|konnte (?:ich )?(?:\p{L}+ ){0,4}nicht|noch nicht (?:fertig|erledigt)|n'ai pas pu|no pude)\b|не удалось|ещё не|还没有?(?:完成|实现)|未完成|できませんでした|未完了|못했/iu;

/** Returns true if the sentence says that the work is not finished. */
export const saysUnfinished = (sentence: string): boolean => UNFINISHED.test(sentence);

/** Returns true if the sentence says that something is done. */
export const claimsDone = (sentence: string): boolean =>
  !NOT_YET.test(sentence) && (DONE_MARK.test(sentence) || CLAIMS.some((pattern) => pattern.test(sentence)));

/** Returns true if the text reports that the work on this subject is done. `subject`: its topic words. */
export function saysDoneAbout(text: string, subject: ReadonlySet<string>): boolean {
  return readReport(text).done.some((claim) => shareIn(subject, contentWords(claim)) >= ABOUT_SHARE);
}

const OPEN_LABEL =
  /\b(?:remaining|remains|still (?:to do|open|needed|missing|needs)|to-?dos?|next (?:up|steps?|in line)|not (?:yet )?(?:done|started|implemented)|left to do|what(?:'s| is) (?:left|next)|pending|outstanding|offen|noch zu tun|nächste schritte|reste à faire|pendientes?|próximos pasos)\b|осталось|следующие шаги|剩余|待办|下一步|残り|次のステップ|남은|다음 단계|^\W*(?:and |then |what['’]s )?next\W*$/iu;
/** Labels of suggestions to the user. They are not work that the agent has to do. */
const SUGGESTION =
  /\b(?:optional|suggest\w*|recommend\w*|possible|potential|future|consider|could|nice to have|if you|you can|for you|usage|to use|how to)\b/i;
/** Labels of work that the agent leaves undone. */
const LEFT_LABEL =
  /\b(?:remaining|remains|still (?:to do|open|needed|missing|needs)|not (?:yet )?(?:done|started|implemented|addressed)|left (?:to do|open|undone)|what(?:'s| is) left|outstanding|deferred|postponed|offen|noch zu tun|reste à faire|pendientes?)\b|^\W*follow-?ups?\W*$|осталось|剩余|残り|남은/iu;
/** Words that make a label of remaining work an offer to the user. */
const OFFER =
  /\b(?:optional|suggest\w*|recommend\w*|possible|potential|nice to have|if you|you can|could|for you|usage|to use|how to)\b/i;
const DONE_LABEL =
  /\b(?:done|completed?|finished|fixed|implemented|resolved|changes (?:made|i made)|what (?:i|was) (?:did|changed|done|fixed)|erledigt|terminé|hecho|summary of (?:changes|the changes))\b|готово|已完成|完了/iu;
/** Words between a label such as "still open" and its list, as in "Still open from the review: the tests". */
const OF_WHAT = "(?: (?:from|per|in|of|on|for) [^:.,]{1,40}?)?";
const NAMES_LEFT = new RegExp(
  `^(?:the )?(?:remaining(?: work| steps?| tasks?| items?)?|still (?:to do|open|missing)|to-?do|what(?:'s| is) left)${OF_WHAT}(?: (?:is|are)(?: to)?| to do)? ?(?:[:—–-] ?|(?<= is | are | to ))(.{3,})$`,
  "i",
);
const NAMES_NEXT = new RegExp(
  `^(?:the )?(?:next(?: steps?| up)?|what(?:'s| is) next)${OF_WHAT}(?: (?:is|are)(?: to)?| to do)? ?(?:[:—–-] ?|(?<= is | are | to ))(.{3,})$`,
  "i",
);
/** A name before the word "next", as in "Part 2 next — the labels". */
const NEXT_BY_NAME = /^([\p{L}\p{N}](?:[^:—–.,]|\.(?=\d)){1,60}? (?:is |comes )?next ?[—–:] ?.{3,})$/iu;
/** The checks of a published change have not ended. */
const WAITS_FOR_CI =
  /^(?:(?:now|still|currently|i['’]m|i am) )*(waiting (?:for|on) (?:the )?(?:ci|checks|pipeline|workflows?)\b.*)$/i;
const ANNOUNCES =
  /^(?:(?:next|then|after that|afterwards|now),? )?(?:i|we)(?:'ll| will| still need to| still have to) (?:next |then |now )?(.{3,})$/i;
const LIST_ITEM = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+(.*)$/;
const BOX = /^\[([ xX✓✔~-])\]\s*(.*)$/;
const DONE_MARK = /^(?:✅|☑️?|✔️?|✓|~~)\s*/u;
const OPEN_MARK = /^(?:⏳|🔲|⬜|☐)\s*/u;

/**
 * An item that describes a state and not work, as in "`strict` stays off. The warning is harmless." Only the
 * first sentence counts.
 */
const STATE =
  /^[^.!?:]{0,80}?\b(?:stays|stay|remains? (?:as|at|in|off|on|unchanged)|(?:is|are|was|were) (?:kept|left|unchanged|intentional\w*|expected|deliberate\w*|by design|fine|harmless|pre-existing|out of scope)|(?:keeps?|works?|worked|behaves?) (?:as|the same)|no (?:changes?|action|work|fix) (?:is |are )?(?:needed|required|necessary)|(?:does|do|did)(?: not|n['’]t) need|won['’]t (?:fix|change|do))\b|^(?:none|n\/a)[.!]?$/i;

/** Reads the report in a text of the agent. Code is skipped. */
export function readReport(text: string): Report {
  const done: string[] = [];
  const open: string[] = [];
  const left: string[] = [];
  const announced: string[] = [];
  let isAllDone = false;
  let section: ReportSection | undefined;
  let inCode = false;
  let afterBlank = false;
  for (const line of headAndTail(text, SCANNED_CHARS).split("\n")) {
    if (/^\s*(?:```|~~~)/.test(line)) inCode = !inCode;
    if (inCode) continue;
    if (line.trim() === "") {
      afterBlank = true;
      continue;
    }
    const item = LIST_ITEM.exec(line)?.[1];
    const label = labelOf(line);
    if (label !== undefined) section = sectionOf(label);
    else if (item === undefined && afterBlank) section = undefined;
    afterBlank = false;
    if (item !== undefined) {
      const { state, words } = readItem(item, section);
      if (state === "done") done.push(words);
      else if (state !== undefined && isWork(words)) (state === "left" ? left : open).push(words);
    }
    for (const sentence of proseSentences(line).map(withoutBold)) {
      isAllDone ||= ALL_DONE.test(sentence) && !NOT_YET.test(sentence);
      if (claimsDone(sentence)) done.push(sentence);
      else if (item === undefined) {
        left.push(...namedBy(NAMES_LEFT, sentence), ...namedBy(WAITS_FOR_CI, sentence));
        open.push(...namedBy(NAMES_NEXT, sentence), ...namedBy(NEXT_BY_NAME, sentence));
        announced.push(...namedBy(ANNOUNCES, sentence));
      }
    }
  }
  if (isAllDone) return { done, open: [], left: [...new Set(left)], announced, isAllDone };
  return { done, open: [...new Set([...left, ...open])], left: [...new Set(left)], announced, isAllDone };
}

type ReportSection = "done" | "open" | "left";

/** Returns true if an open item names work of the agent: not a state, and not work of the user. */
const isWork = (words: string): boolean =>
  words.length <= MAX_ITEM_CHARS && !/^you\b/i.test(words) && (asksForWork(words) || !STATE.test(words));

/** Returns a heading, or a line that announces a list. */
function labelOf(line: string): string | undefined {
  const trimmed = line.trim();
  if (/^#{1,6}\s/.test(trimmed) || /^\*\*[^*]{1,120}\*\*:?$/.test(trimmed)) return trimmed;
  return /[:：]\**$/.test(trimmed) && !LIST_ITEM.test(line) ? trimmed : undefined;
}

/** Returns the last sentence of a label without code, because only this sentence announces the list. */
export const announcementIn = (label: string): string =>
  label
    .replace(/`[^`]*`/g, " ")
    .split(/[.!?。！？] /)
    .at(-1) ?? "";

/** Returns true if the text has a list with the label of work that is left, also of work that is only suggested. */
export function listsRemainingWork(text: string): boolean {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.some((line, index) => {
    const label = labelOf(line);
    return label !== undefined && LEFT_LABEL.test(label) && LIST_ITEM.test(lines[index + 1] ?? "");
  });
}

/** Returns true for a line above a list of finished work. */
export const labelsDoneWork = (line: string): boolean => sectionOf(line) === "done";

function sectionOf(line: string): ReportSection | undefined {
  const label = announcementIn(line);
  if (LEFT_LABEL.test(label)) return OFFER.test(label) ? undefined : "left";
  if (OPEN_LABEL.test(label)) return SUGGESTION.test(label) ? undefined : "open";
  return DONE_LABEL.test(label) && !NOT_YET.test(label) ? "done" : undefined;
}

function readItem(
  item: string,
  section: ReportSection | undefined,
): { readonly state: ReportSection | undefined; readonly words: string } {
  const [, mark, boxed] = BOX.exec(item) ?? [];
  if (boxed !== undefined) return { state: mark === " " ? "open" : "done", words: withoutBold(boxed) };
  if (DONE_MARK.test(item)) return { state: "done", words: withoutBold(item.replace(DONE_MARK, "")) };
  if (OPEN_MARK.test(item)) return { state: "open", words: withoutBold(item.replace(OPEN_MARK, "")) };
  return { state: section, words: withoutBold(item) };
}

function namedBy(pattern: RegExp, sentence: string): readonly string[] {
  if (sentence.length > MAX_ITEM_CHARS || SUGGESTION.test(sentence) || /[?？:]$/.test(sentence)) return [];
  const named = pattern.exec(sentence)?.[1];
  return named === undefined ? [] : [named.replace(/[.!]+$/, "")];
}

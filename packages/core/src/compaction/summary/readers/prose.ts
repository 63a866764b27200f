import { tailOf } from "../../../messages/text.ts";
import { headAndTail, oneLine } from "../clip.ts";

const LIST_MARK = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+/;
const NOT_PROSE = /^\s*(?:#{1,6}\s|\||[-=*_─━]{3,}\s*$)/;
/**
 * Matches a sentence end within a line. Most lines have only one sentence, and this pattern recognizes them
 * quickly.
 */
const WITHIN_LINE = /[.!?…][)"'”’*_`」』）]* |[。！？｡]/;
/**
 * Matches a piece of code or a sentence end. Code is matched as a whole, because it contains no sentence end.
 * Western punctuation ends a sentence only before a space, because file names, numbers and code contain it
 * too.
 */
const CODE_OR_END = /`[^`]*(?:`|$)|[.!?…][)"'”’*_`」』）]*(?= |$)|[。！？｡][)"'”’*_`」』）]*/g;

/** Returns prose sentences in any script. It skips code, tables and headings. */
export function proseSentences(text: string): string[] {
  const sentences: string[] = [];
  let inCode = false;
  for (const line of text.split("\n")) {
    const start = line.trimStart();
    if (start.startsWith("```") || start.startsWith("~~~")) {
      inCode = !inCode;
    } else if (!inCode && start !== "") {
      // No list, quotation, heading or table begins with a letter.
      if (/^[A-Za-z]/.test(start)) pushSentences(start, sentences);
      else if (!NOT_PROSE.test(line))
        pushSentences(start.replace(LIST_MARK, "").replace(/^>\s?/, ""), sentences);
    }
  }
  return sentences;
}

function pushSentences(line: string, sentences: string[]): void {
  let from = 0;
  for (const { 0: found, index } of WITHIN_LINE.test(line) ? line.matchAll(CODE_OR_END) : []) {
    if (found.startsWith("`")) continue;
    push(line.slice(from, index + found.length), sentences);
    from = index + found.length;
  }
  push(line.slice(from), sentences);
}

function push(part: string, sentences: string[]): void {
  const trimmed = part.trim();
  const sentence = trimmed.includes("  ") || trimmed.includes("\t") ? oneLine(trimmed) : trimmed;
  if (sentence !== "") sentences.push(sentence);
}

/** Characters at the end of a text that show how it ends. */
const ENDING_CHARS = 4_000;

/** Returns the sentences at the end of a text. The scanned part may begin in the middle of a code block. */
export function lastSentences(text: string, count: number): string[] {
  const ending = tailOf(text, ENDING_CHARS);
  const beginsInCode = ending.length < text.length && hasOddFences(ending);
  return proseSentences(beginsInCode ? `\`\`\`\n${ending}` : ending).slice(-count);
}

function hasOddFences(text: string): boolean {
  return (text.match(/^\s*(?:```|~~~)/gm)?.length ?? 0) % 2 === 1;
}

const CHEER =
  /^(?:perfect|great|excellent|good|done|ok|okay|sure|yes|success|no problem|got it|thanks|thank you|awesome|nice|all right|alright|right|absolutely|you'?re (?:absolutely )?right|good catch|(?:i )?(?:found|see|got) (?:it|the (?:actual |real )?(?:issue|problem|bug|cause|culprit))(?: now)?|好的|完成|完美|明白|готово|отлично|хорошо|完了)$/i;
const FILLER =
  /^(?:here(?:'s| is| are)\b|i have enough|now i have|i now have|let me (?:create|write|compile|summari[sz]e)|all (?:green|confirmed|clean|checks complete)$|everything is clean$|(?:final )?(?:report|summary)$)/i;
export const MIN_TELLING_CHARS = 12;

/** Cheers that do not report anything. "Done" and "yes" do. */
const EMPTY_CHEER =
  /^(?:perfect|great|excellent|awesome|amazing|wonderful|fantastic|nice|cool|good|all right|alright|thanks|thank you|you'?re welcome|no problem|yay|hooray|woohoo|好的|完美|отлично|хорошо)$/i;

/** Returns true for a text that is only a cheer, such as "🎉" or "Perfect!", and says nothing about the work. */
export const isOnlyCheer = (text: string): boolean => {
  const words = text.replace(/^[^\p{L}\p{N}`]+|[^\p{L}\p{N}`]+$/gu, "");
  return words === "" || EMPTY_CHEER.test(words);
};

export function isWorthNoting(sentence: string): boolean {
  const opened = /^[A-Za-z0-9`"']/.test(sentence) ? sentence : sentence.replace(/^[^\p{L}\p{N}`"']+/u, "");
  const words = opened.replace(/[\s!.,:;*_…。！：]+$/, "");
  if (CHEER.test(words) || FILLER.test(words)) return false;
  return words.length >= MIN_TELLING_CHARS || hasIdeographs(words);
}

export function withoutBold(sentence: string): string {
  return sentence.replace(/\*\*|__/g, "").trim();
}

/**
 * Returns true if a text has Chinese, Japanese or Korean characters, which say as much as several Latin ones.
 */
export function hasIdeographs(text: string): boolean {
  return /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]/.test(text);
}

export function endsWithQuestion(text: string): boolean {
  return /[?？؟][\s)"'”’*_`]*$/.test(text.trimEnd());
}

/** A sentence of the agent that states a cause, a decision or a finding. */
export interface Remark {
  readonly at: number;
  readonly text: string;
  readonly score: number;
}

const MIN_CHARS = 35;
const MIN_CHARS_IDEOGRAPHIC = 10;
const MAX_CHARS = 420;
/** Characters to scan at each end of a long report. The middle is detail. */
const SCANNED_CHARS = 4_000;
const MIN_SCORE = 2;

type Cue = readonly [pattern: RegExp, score: number];

/** Cues, the highest score first. Matching against lower case is much faster than ignoring case. */
const LATIN_CUES: readonly Cue[] = [
  [/\broot[- ]caused?\b|\bgrundursache/, 5],
  [
    /\bthe (?:real |actual |underlying )?(?:issue|problem|bug|cause|reason|culprit|fix|difference|catch|trick)(?: here)? (?:is|was)\b|\bturn(?:s|ed) out\b|\bdas problem (?:ist|war|liegt)|\bliegt daran|\ble problème (?:est|vient)|\bel problema (?:es|era)|\bo problema (?:é|era)/,
    4,
  ],
  [
    /\b(?:deci(?:ded|sion)|chose|choosing|opted|went with|going with|settled on|agreed|prefer(?:red)?|entschieden|décidé|decid(?:í|imos|ido))\b/,
    4,
  ],
  [
    /\b(?:instead of|rather than|because|so that|which means|that'?s why|the reason|weil|statt|deshalb|parce que|au lieu|porque|en lugar|em vez)\b/,
    2,
  ],
  [
    /\b(?:must|never|always|important(?:ly)?|note that|caveat|constraint|breaking|regression|leak|race|deadlock|won'?t fix|not (?:a bug|needed|possible))\b/,
    2,
  ],
  [/\b(?:fixed|verified|confirmed|measured|proved|found|discovered|missing)\b/, 1],
];
const OTHER_CUES: readonly Cue[] = [
  [/根本原因|根因|коренная причина/, 5],
  [
    /问题(?:是|在于|出在)|原因(?:是|在于)|其实是|проблема (?:в|была)|причина (?:в|—)|оказал(?:ось|ся|ась)|原因は|問題は|ためです|원인은|문제는|때문입니다/,
    4,
  ],
  [/决定|选择了|采用|решил|решено|выбрал|決め|採用|결정/, 4],
  [/因为|因此|而不是|改为|потому что|поэтому|вместо|なぜなら|ではなく|ので、|대신|그래서/, 2],
  [/必须|注意|不能|важно|нельзя|должн|重要|必須|반드시|중요/, 2],
  [/修复|确认|发现|исправ|подтвержд|обнаруж|修正|確認|수정|확인/, 1],
];
const OTHER_SCRIPT = /[\u0400-\u04ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;
const INTENTION =
  /^(?:let me|now (?:let me|i(?:'| wi)ll|add|update|fix)|i'?ll|i will|i need to|i should|let'?s|next,|first,|looking at|checking|running|(?:现在)?让我|我来|接下来|теперь|давай|сейчас|次に|まず)/;
/** Returns true if the sentence only announces work. */
export const announcesWork = (sentence: string): boolean => INTENTION.test(sentence.toLowerCase());
const OFFER = /\b(?:would you like|do you want|shall i|should i|let me know|want me to)\b|[?？]\s*$/;

export function remarksIn(text: string, at: number, endsExchange: boolean): Remark[] {
  const remarks: Remark[] = [];
  for (const sentence of proseSentences(headAndTail(text, SCANNED_CHARS))) {
    if (sentence.length > MAX_CHARS || sentence.length < MIN_CHARS_IDEOGRAPHIC || sentence.endsWith(":"))
      continue;
    if (sentence.length < MIN_CHARS && !hasIdeographs(sentence)) continue;
    const lower = sentence.toLowerCase();
    if (INTENTION.test(lower)) continue;
    const score = cueScore(lower);
    if (score < MIN_SCORE || OFFER.test(lower)) continue;
    remarks.push({ at, text: sentence, score: score + (endsExchange ? 1 : 0) });
  }
  return remarks;
}

/**
 * Returns the score of a sentence. A score below the smallest useful score may be inexact, because cues that
 * cannot reach the smallest useful score are skipped.
 */
function cueScore(lower: string): number {
  const others = OTHER_SCRIPT.test(lower) ? OTHER_CUES : [];
  let score = 0;
  for (const [pattern, value] of others) if (pattern.test(lower)) score += value;
  for (const [pattern, value] of LATIN_CUES) {
    if (score + value >= MIN_SCORE && pattern.test(lower)) score += value;
  }
  return score;
}

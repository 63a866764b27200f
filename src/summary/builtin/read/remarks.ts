import { headAndTail } from "../clip.ts";
import { hasIdeographs, proseSentences } from "../sentences.ts";

/** A sentence of the agent that states a cause, a decision or a finding. */
export interface Remark {
  readonly at: number;
  readonly text: string;
  readonly score: number;
}

const MIN_CHARS = 35;
const MIN_CHARS_IDEOGRAPHIC = 10;
const MAX_CHARS = 420;
/** A long report states what matters at its ends; the middle is detail. */
const SCANNED_CHARS = 4_000;
const LEAST_SCORE = 2;

type Cue = readonly [pattern: RegExp, score: number];

/** Highest first. Matched against lower case, which is far faster than matching without regard to case. */
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
    if (score < LEAST_SCORE || OFFER.test(lower)) continue;
    remarks.push({ at, text: sentence, score: score + (endsExchange ? 1 : 0) });
  }
  return remarks;
}

/** Exact from the least score on; below it, cues that cannot lift a sentence that far are not looked for. */
function cueScore(lower: string): number {
  const others = OTHER_SCRIPT.test(lower) ? OTHER_CUES : [];
  let score = 0;
  for (const [pattern, value] of others) if (pattern.test(lower)) score += value;
  for (const [pattern, value] of LATIN_CUES) {
    if (score + value >= LEAST_SCORE && pattern.test(lower)) score += value;
  }
  return score;
}

import { headOf, oneLine, tailOf } from "./clip.ts";

const LIST_MARK = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+/;
const NOT_PROSE = /^\s*(?:#{1,6}\s|\||[-=*_─━]{3,}\s*$)/;
const SENTENCE_END = /[.!?…。！？｡]/g;
const UNSPACED_END = new Set(["。", "！", "？", "｡"]);
const CLOSERS = new Set([")", '"', "'", "”", "’", "*", "_", "`", "」", "』", "）"]);

/** Prose sentences, in any script; code, tables and headings are passed over. */
export function proseSentences(text: string): string[] {
  const sentences: string[] = [];
  let inCode = false;
  for (const line of text.split("\n")) {
    const start = line.trimStart();
    if (start.startsWith("```") || start.startsWith("~~~")) {
      inCode = !inCode;
    } else if (!inCode && start !== "" && !NOT_PROSE.test(line)) {
      pushSentences(start.replace(LIST_MARK, "").replace(/^>\s?/, ""), sentences);
    }
  }
  return sentences;
}

/** Western marks end a sentence only before a space; in file names and numbers they stand inside. */
function pushSentences(line: string, sentences: string[]): void {
  let from = 0;
  for (const { index } of line.matchAll(SENTENCE_END)) {
    let end = index + 1;
    if (end <= from) continue;
    while (CLOSERS.has(line.charAt(end))) end++;
    const needsSpace = !UNSPACED_END.has(line.charAt(index));
    if (needsSpace && end < line.length && line.charAt(end) !== " ") continue;
    if (isInsideCode(line, from, index)) continue;
    push(line.slice(from, end), sentences);
    from = end;
  }
  push(line.slice(from), sentences);
}

function isInsideCode(line: string, from: number, index: number): boolean {
  return line.slice(from, index).split("`").length % 2 === 0;
}

function push(part: string, sentences: string[]): void {
  const trimmed = part.trim();
  const sentence = trimmed.includes("  ") || trimmed.includes("\t") ? oneLine(trimmed) : trimmed;
  if (sentence !== "") sentences.push(sentence);
}

/** Text further from its end than this says nothing about how it ends. */
const ENDING_CHARS = 4_000;

/** The sentences at the end of a text; code there may begin before the part that is looked at. */
export function lastSentences(text: string, count: number): string[] {
  const ending = tailOf(text, ENDING_CHARS);
  const fences = ending.match(/^\s*(?:```|~~~)/gm)?.length ?? 0;
  const beginsInCode = ending.length < text.length && fences % 2 === 1;
  return proseSentences(beginsInCode ? `\`\`\`\n${ending}` : ending).slice(-count);
}

/** The sentence right before a tool call says what the call is for. */
export function lastSentence(text: string): string | undefined {
  return lastSentences(text, 1)[0];
}

const CHEER =
  /^(?:perfect|great|excellent|good|done|ok|okay|sure|yes|success|no problem|got it|thanks|thank you|awesome|nice|all right|alright|right|absolutely|you'?re (?:absolutely )?right|good catch|found it|好的|完成|完美|明白|готово|отлично|хорошо|完了)$/i;
const FILLER =
  /^(?:here(?:'s| is| are)\b|i have enough|now i have|i now have|let me (?:create|write|compile|summari[sz]e)|all (?:green|confirmed|clean|checks complete)$|everything is clean$|(?:final )?(?:report|summary)$)/i;
const MIN_TELLING_CHARS = 12;
/** An answer that takes longer to come to the point has none. */
const LEAD_FROM_CHARS = 800;

/** The first sentence that says something: an answer opens with its result, after the pleasantries. */
export function leadSentence(text: string): string | undefined {
  const sentences = proseSentences(headOf(text, LEAD_FROM_CHARS));
  const telling = sentences.find(isTelling) ?? sentences[0];
  return telling === undefined ? undefined : withoutBold(telling);
}

export function isTelling(sentence: string): boolean {
  const words = sentence.replace(/^[^\p{L}\p{N}`"']+/u, "").replace(/[\s!.,:;*_…。！：]+$/, "");
  if (CHEER.test(words) || FILLER.test(words)) return false;
  return words.length >= MIN_TELLING_CHARS || hasIdeographs(words);
}

export function withoutBold(sentence: string): string {
  return sentence.replace(/\*\*|__/g, "").trim();
}

/** One Chinese, Japanese or Korean character says as much as several Latin ones. */
export function hasIdeographs(text: string): boolean {
  return /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]/.test(text);
}

export function endsWithQuestion(text: string): boolean {
  return /[?？؟][\s)"'”’*_`]*$/.test(text.trimEnd());
}

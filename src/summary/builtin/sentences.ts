import { headOf, tailOf } from "../../conversation/text.ts";
import { oneLine } from "./clip.ts";

const LIST_MARK = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+/;
const NOT_PROSE = /^\s*(?:#{1,6}\s|\||[-=*_─━]{3,}\s*$)/;
const SPACED_END: ReadonlySet<number> = codesOf(".!?…");
const UNSPACED_END: ReadonlySet<number> = codesOf("。！？｡");
const CLOSERS: ReadonlySet<number> = codesOf(")\"'”’*_`」』）");
/** A sentence may end before the line does. Most lines hold one sentence, which this tells at once. */
const WITHIN_LINE = /[.!?…][)"'”’*_`」』）]* |[。！？｡]/;
const CODE_MARK = "`".charCodeAt(0);
const SPACE = " ".charCodeAt(0);
/** ASCII letters and all above them in ASCII end no sentence; most characters are these. */
const FIRST_LETTER = "A".charCodeAt(0);
const FIRST_NOT_ASCII = 0x80;
const FIRST_SMALL_LETTER = "a".charCodeAt(0);
const LAST_SMALL_LETTER = "z".charCodeAt(0);
/** Set in small letters, clear in the capitals. */
const CASE_BIT = 0x20;

function codesOf(characters: string): ReadonlySet<number> {
  return new Set(Array.from(characters, (character) => character.charCodeAt(0)));
}

/** Prose sentences, in any script; code, tables and headings are passed over. */
export function proseSentences(text: string): string[] {
  const sentences: string[] = [];
  let inCode = false;
  for (const line of text.split("\n")) {
    const start = line.trimStart();
    if (start.startsWith("```") || start.startsWith("~~~")) {
      inCode = !inCode;
    } else if (!inCode && start !== "") {
      if (beginsPlainly(start)) pushSentences(start, sentences);
      else if (!NOT_PROSE.test(line))
        pushSentences(start.replace(LIST_MARK, "").replace(/^>\s?/, ""), sentences);
    }
  }
  return sentences;
}

/** No list, quotation, heading or table begins with a letter. */
function beginsPlainly(line: string): boolean {
  const code = line.charCodeAt(0) | CASE_BIT;
  return code >= FIRST_SMALL_LETTER && code <= LAST_SMALL_LETTER;
}

/** Western marks end a sentence only before a space; in file names, numbers and code they stand inside. */
function pushSentences(line: string, sentences: string[]): void {
  if (!WITHIN_LINE.test(line)) {
    push(line, sentences);
    return;
  }
  let from = 0;
  let inCode = false;
  for (let index = 0; index < line.length; index++) {
    const code = line.charCodeAt(index);
    if (code === CODE_MARK) inCode = !inCode;
    if (inCode || (code >= FIRST_LETTER && code < FIRST_NOT_ASCII) || code === SPACE) continue;
    const needsSpace = SPACED_END.has(code);
    if (!needsSpace && !UNSPACED_END.has(code)) continue;
    let end = index + 1;
    while (CLOSERS.has(line.charCodeAt(end))) end++;
    if (needsSpace && end < line.length && line.charCodeAt(end) !== SPACE) continue;
    push(line.slice(from, end), sentences);
    from = end;
    index = end - 1;
  }
  push(line.slice(from), sentences);
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
  const beginsInCode = ending.length < text.length && hasOddFences(ending);
  return proseSentences(beginsInCode ? `\`\`\`\n${ending}` : ending).slice(-count);
}

function hasOddFences(text: string): boolean {
  return (text.match(/^\s*(?:```|~~~)/gm)?.length ?? 0) % 2 === 1;
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
  const opened = /^[A-Za-z0-9`"']/.test(sentence) ? sentence : sentence.replace(/^[^\p{L}\p{N}`"']+/u, "");
  const words = opened.replace(/[\s!.,:;*_…。！：]+$/, "");
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

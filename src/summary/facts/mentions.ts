import { headOf } from "../../conversation/text.ts";
import { proseSentences } from "../builtin/sentences.ts";

/** Names and numbers in a person's words that nobody can guess again. */
export interface Mentions {
  readonly references: readonly string[];
  readonly quantities: readonly string[];
}

/** A message longer than this is a document, whose numbers are its own. */
const SCANNED_CHARS = 4_000;
const MAX_OF_EACH = 12;

const URL = /https?:\/\/[^\s<>"'`\])}，。、]+/g;
const REFERENCES: readonly RegExp[] = [
  /\b(?:localhost|(?:\d{1,3}\.){3}\d{1,3}):\d{2,5}\b|\bport:?\s+\d{2,5}\b|端口\s?\d{2,5}|ポート\s?\d{2,5}/giu,
  /\b(?:PR|MR|issue|ticket|bug)s?\s+#?\d{1,6}\b|(?<![\w#&/])#\d{1,6}\b|\b[A-Z][A-Z0-9]{1,9}-\d{1,6}\b/g,
  /(?<![\w-])(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w-])/g,
  /(?<![\w./])v?\d{1,4}\.\d{1,4}(?:\.\d{1,6})+(?:-[\w.]+)?\b|(?<![\w./])v\d{1,4}(?:\.\d{1,4})?\b|\b(?:version|node|python|java|go|ruby|php|rust|typescript|react)\s+v?\d{1,3}(?:\.\d{1,4})*\b/giu,
];
const QUANTITY =
  /(?<![\w.,#/:-])[$€£¥]?\d+(?:[.,]\d+)*(?:\s?%|\s?[-–]\s?\d+(?:\.\d+)?\s?\p{L}+|\s?[a-zA-Zа-яА-ЯÀ-ɏ]{1,14}(?![\w/.-]*[/(])|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,2})?(?![\w/])/giu;
/** A number with such a word says nothing; alone it is mostly an item's. */
const DULL_WORD = /\s(?:and|or|of|in|on|at|to|is|are|was|as|if|but|und|oder|et|y|o|и|или|-)$/i;

export function mentionsIn(message: string): Mentions {
  const text = headOf(message, SCANNED_CHARS);
  const references = new Set<string>();
  let rest = text.replace(URL, (url) => {
    references.add(url.replace(/[.,;:!?)\]]+$/, ""));
    return " ";
  });
  for (const pattern of REFERENCES) {
    rest = rest.replace(pattern, (found) => {
      references.add(found.trim());
      return " ";
    });
  }
  return {
    references: [...references].slice(0, MAX_OF_EACH),
    quantities: quantitiesIn(rest).slice(0, MAX_OF_EACH),
  };
}

function quantitiesIn(text: string): readonly string[] {
  const found = new Set<string>();
  for (const sentence of proseSentences(text)) {
    for (const [match] of sentence.matchAll(QUANTITY)) {
      const quantity = match.replace(DULL_WORD, "").trim();
      if (/\d{3,}|\D/.test(quantity)) found.add(quantity);
    }
  }
  return [...found];
}

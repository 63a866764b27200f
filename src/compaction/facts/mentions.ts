import { headOf, tailOf } from "../../conversation/text.ts";
import { clip } from "../../summary/clip.ts";
import { proseSentences } from "../../summary/readers/readers.ts";
import type { DraftFact, ReadEntries } from "./draft-fact.ts";

const SUBJECT_CHARS = 70;

/** Names and numbers in people's words, and the commits that were made. */
export function mentionFacts({ digest, has, idsAt, outcomeIds }: ReadEntries): readonly DraftFact[] {
  const lastOf = new Map(
    digest.exchanges.flatMap(({ commits }) => commits.map((made) => [made.subject, made])),
  );
  return digest.exchanges.flatMap(({ message, commits }): readonly DraftFact[] => {
    // Of those that were made over again only the last is there.
    const made = commits.filter((commit) => has(commit.at) && lastOf.get(commit.subject) === commit);
    const facts = made.map(({ at, id, subject }): DraftFact => {
      const text = `commit ${id} "${clip(subject, SUBJECT_CHARS)}"`;
      return { kind: "reference", text, needles: [id], entryIds: outcomeIds(at) };
    });
    if (message === undefined || !has(message.at)) return facts;
    const entryIds = idsAt(message.at);
    const { references, quantities } = mentionsIn(message.text);
    return [
      ...references.map((text): DraftFact => ({ kind: "reference", text, entryIds })),
      ...quantities.map((text): DraftFact => ({ kind: "quantity", text, entryIds })),
      ...facts,
    ];
  });
}

/** A longer message is mostly pasted text, with a person's own words before it and a few behind. */
const OWN_WORDS_CHARS = 1_500;
const HEAD_CHARS = 1_000;
const TAIL_CHARS = 500;
const MAX_OF_EACH = 12;

const URL = /https?:\/\/[^\s<>"'`\])}，。、]+/g;
const REFERENCES: readonly RegExp[] = [
  /\b(?:localhost|(?:\d{1,3}\.){3}\d{1,3}):\d{2,5}\b|\bport:?\s+\d{2,5}\b|端口\s?\d{2,5}|ポート\s?\d{2,5}/giu,
  /\b(?:PR|MR|issue|ticket|bug)s?\s+#?\d{1,6}\b|(?<![\w#&/])#\d{1,6}\b|\b[A-Z][A-Z0-9]{1,9}-\d{1,6}\b/g,
  /(?<![\w-])(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w-])/g,
  /(?<![\w./])v?\d{1,4}\.\d{1,4}(?:\.\d{1,6})+(?:-[\w.]+)?\b|(?<![\w./])v\d{1,4}(?:\.\d{1,4})?\b|(?<![\w.])(?:version|node|python|java|go|ruby|php|rust|typescript|react)\s+v?\d{1,3}(?:\.\d{1,4})*\b/giu,
];
/** With a unit or a plural behind it, as money, or long enough to be remembered for itself. */
const QUANTITY =
  /(?<![\w.,#/:-])(?:[$€£¥]\s?\d+(?:[.,]\d+)*\s?[kmb]?|\d+(?:[.,]\d+)*(?:\s?[-–]\s?\d+(?:[.,]\d+)*)?(?:\s?(?:%|€|°C|x|[kmgt]i?b|kbps|mbps|ms|[smhd]|secs?|seconde?n?|mins?|minuten?|hrs?|hours?|stunden?|days?|tage?n?|weeks?|months?|years?|px|r?em|pt|fps|[kmg]?hz|bytes?|tokens?|times|mal|fois|veces|раз|секунд\p{L}*|минут\p{L}*|час\p{L}*|дн\p{L}+|байт\p{L}*|строк\p{L}*)(?![\p{L}\p{N}_/])|\s[a-zà-ÿ]{3,13}s(?![\p{L}\p{N}_/])|\s?[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,2})|\d{3,}(?:[.,]\d+)*(?![\w/-])|\d+\.\d+(?![\w/.-]))/giu;
/** A word that ends like a plural and is none. */
const NO_PLURAL =
  /\s(?:as|is|was|has|does|this|its|less|plus|versus|unless|across|always|perhaps|thus|pas|plus|dans|sans|vers|alors)$/i;
/** "Phase 2", "lines 26": which of several. */
const NUMBERED = /(?<![\p{L}\p{N}_.'-])\p{L}{4,20} \d{1,9}(?:\.\d+)?(?![\p{L}\p{N}_/%:-])/giu;
const NO_NAME =
  /^(?:about|above|after|around|before|below|between|exactly|from|have|into|just|least|like|more|most|need|nearly|only|over|roughly|some|than|that|them|then|there|these|those|under|until|with|within)\s/i;
/** Output of a program. */
const PRINTED =
  /^(?:\s{2,}(?![-*•\d])|\t|\s*(?:---|===|\+\+\+|@@|[[>❯$│├└✓✗×●]|\S+\.\w{1,5}:\d+|\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|at\s))/;

/** Names and numbers in a person's words that nobody can guess again. */
function mentionsIn(message: string): Record<"references" | "quantities", readonly string[]> {
  const references = new Set<string>();
  let rest = ownWords(message).replace(URL, (url) => {
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

function ownWords(message: string): string {
  const ends =
    message.length <= OWN_WORDS_CHARS
      ? message
      : // No half of a word.
        `${headOf(message, HEAD_CHARS).replace(/\S*$/, "")}\n${tailOf(message, TAIL_CHARS).replace(/^\S*/, "")}`;
  const lines = ends.split("\n");
  return lines.filter((line) => !PRINTED.test(line)).join("\n");
}

function quantitiesIn(text: string): readonly string[] {
  const found = new Set<string>();
  for (const sentence of proseSentences(text)) {
    const rest = sentence.replace(QUANTITY, (quantity) => {
      if (NO_PLURAL.test(quantity)) return quantity;
      found.add(quantity.trim());
      return " ; ";
    });
    for (const [numbered] of rest.matchAll(NUMBERED)) if (!NO_NAME.test(numbered)) found.add(numbered);
  }
  return [...found];
}

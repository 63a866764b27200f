import { headOf, tailOf } from "../../../messages/text.ts";

/** Finds the user's own words in a message with pasted text. */

/** A longer message has pasted text. The user's own words are at its ends. */
const OWN_WORDS_CHARS = 1_200;
/** A longer paragraph at the end of a message with pasted text is pasted, too. */
const MAX_OWN_CHARS = 400;
const SCANNED_CHARS = 4_000;
/** Line that a program printed. */
const PRINTED =
  /^(?:\s{4,}|\t|\s*(?:---|===|\+\+\+|@@|[[>❯➜$│├└┃✓✔✗×●{}<]|\S+\.\w{1,5}:\d+|\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|at\s|(?:error|warning|info|debug|fatal)\b[:[]|\d+m?s$))/i;
/** Words of a review: a severity, a place in a file, or the title of the review. */
const REVIEW =
  /\b(?:critical|high|medium|low|minor|major) severity\b|\bseverity\s*:|\bverify each finding\b|^\W*in [`"]?[\w./-]+\.\w{1,5}[`"]?,? (?:around|at|on|lines?)\b|\b(?:code review|nitpick|(?:pr|review|reviewer) (?:feedback|comments?)\s*:|reviewer feedback)\b|^\W*(?:recommendation|suggested fix)s?:|[\w/-]+\.\w{1,5}[: (]+(?:lines? )?\d+(?:-\d+)?\b|^\s*[❌✅⚠🔍]/imu;
/** A sentence of the user's own, in contrast to a paragraph of a review or a document. */
const PERSONAL =
  /\b(?:i|i'm|i'd|i'll|we|we're|let's|lets|please|you|me|my)\b|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/i;
const DOCUMENT = /^\s*(?:#{1,6}\s|```)/m;
const LIST_ITEM = /^\s*(?:[-*+•]|\d{1,3}[.)])\s/;

/** Heading of the user's decisions and reasons in a document, and any other heading. */
const REASONS_HEADING = /^\s*#{1,6}\s.*\b(?:decisions?|context|background|motivation|rationale|why)\b/i;
const HEADING = /^\s*#{1,6}\s/;

/**
 * Returns the user's own words. Of pasted text, only the parts of a document with the user's decisions and
 * reasons are left.
 */
export function ownWords(message: string): string {
  const text =
    message.length <= SCANNED_CHARS
      ? message
      : `${headOf(message, SCANNED_CHARS / 2)}\n\n${tailOf(message, SCANNED_CHARS / 2)}`;
  const isReview = REVIEW.test(text);
  const isPasted = isReview || message.length > OWN_WORDS_CHARS || DOCUMENT.test(text);
  const own = isPasted ? ownParagraphs(text) : [text];
  return [...own, ...(isPasted && !isReview ? [reasonsPartOf(text)] : [])]
    .join("\n\n")
    .split("\n")
    .filter((line) => !PRINTED.test(line))
    .join("\n");
}

/** Returns the lines below headings that name decisions or reasons. */
function reasonsPartOf(text: string): string {
  let isOpen = false;
  const kept = text.split("\n").filter((line) => {
    if (HEADING.test(line)) isOpen = REASONS_HEADING.test(line);
    return isOpen;
  });
  return kept.join("\n");
}

/** Returns the first and the last paragraph if the user wrote them beside a pasted text. */
function ownParagraphs(text: string): readonly string[] {
  const paragraphs = text.split(/\n\s*\n/).filter((part) => part.trim() !== "");
  const ends = paragraphs.length <= 1 ? paragraphs : [paragraphs[0] ?? "", paragraphs.at(-1) ?? ""];
  return ends.filter(
    (part) =>
      part.length <= MAX_OWN_CHARS &&
      PERSONAL.test(part) &&
      !REVIEW.test(part) &&
      !DOCUMENT.test(part) &&
      !LIST_ITEM.test(part),
  );
}

/** Character span in the text of an entry, as `recordedText` returns it. */
export interface Span {
  readonly start: number;
  readonly length: number;
}

export const span = (start: number, length: number): Span => ({ start, length });

/**
 * Cause, decision or corrected belief in a recorded session that someone needs who continues the work days later.
 * The description quotes nothing, so that no text of a recorded session enters the repository.
 */
export interface RecordedFact extends Span {
  /** File name of the session in the folder of recorded sessions. */
  readonly session: string;
  readonly kind: "cause" | "decision" | "belief";
  /** Entry that states the fact. `start` and `length` mark the statement with its reason. */
  readonly uuid: string;
  readonly note: string;
  /** Spans of the same entry that a context must contain: names, numbers and key words of statement and reason. */
  readonly mustHave: readonly Span[];
}

/** Returns true if the context contains each required span of a fact. `text` is the text of the fact's entry. */
export function holdsFact(fact: RecordedFact, text: string, context: string): boolean {
  const normalized = normalizeWords(context);
  return fact.mustHave.every(({ start, length }) =>
    normalized.includes(normalizeWords(text.slice(start, start + length))),
  );
}

/**
 * Normalizes a text, so that the same words in another form are equal. Ignores case, white space, Markdown
 * emphasis and code marks, escapes in JSON, and simple endings of words.
 */
export function normalizeWords(text: string): string {
  return text
    .toLowerCase()
    .replace(/\\[nt]/g, " ")
    .replace(/[*`\\]/g, "")
    .replace(/[a-z]+/g, stem)
    .replace(/\s+/g, " ")
    .trim();
}

/** Minimum length of a word's stem. Shorter words keep their ending: "this" is no plural. */
const MIN_STEM_CHARS = 4;
const ENDINGS = ["ing", "ed", "s"];

function stem(word: string): string {
  const ending = ENDINGS.find((candidate) => word.endsWith(candidate));
  if (ending === undefined || word.length - ending.length < MIN_STEM_CHARS) return word;
  return word.slice(0, -ending.length);
}

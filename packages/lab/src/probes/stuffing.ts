import type { Passage } from "./read-context.ts";
import { isContentToken, isUnspaced } from "./words.ts";

/** A shorter list of words may be a note. */
const MIN_BAG_WORDS = 8;
/** A text of this length has words of grammar. */
const MIN_PROSE_WORDS = 15;
const MIN_PROSE_PIECES = 26;
/** Prose has a third of such words, and a dense note of a coding agent a sixth. */
const MIN_FUNCTION_SHARE = 0.12;
/** A longer run of lines without a word of grammar is an index of words or literals. */
const MAX_BARE_RUN = { lines: 25, words: 40 } as const;

const PIECE_EDGES = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;
const PLAIN = /^[\p{L}\p{M}'’-]+$/u;

interface Counts {
  /** Words, paths, names and figures. */
  readonly pieces: number;
  /** Words without digits and marks inside. */
  readonly plain: number;
  /** Words of grammar. */
  readonly functions: number;
}

function countsOf(text: string): Counts {
  let [pieces, plain, functions] = [0, 0, 0];
  for (const raw of text.split(/[\s,;|]+/)) {
    const piece = raw.replace(PIECE_EDGES, "");
    if (piece === "") continue;
    pieces++;
    if (!PLAIN.test(piece)) continue;
    plain++;
    if (!isContentToken(piece.toLowerCase())) functions++;
  }
  return { pieces, plain, functions };
}

function isBag(text: string, { pieces, plain, functions }: Counts): boolean {
  if (isUnspaced(text)) return false;
  if (plain >= MIN_BAG_WORDS && functions === 0) return true;
  const isLong = plain >= MIN_PROSE_WORDS || pieces >= MIN_PROSE_PIECES;
  return isLong && functions < pieces * MIN_FUNCTION_SHARE;
}

/** Returns true if a sentence states nothing, because it has words without grammar. */
export const isBagOfWords = (text: string): boolean => isBag(text, countsOf(text));

/**
 * Returns the passages that state something. Words without grammar state nothing: a bag of words, and a long run
 * of lines with a word or literal each.
 */
export function statementsIn(passages: readonly Passage[]): Passage[] {
  const stated: Passage[] = [];
  let [run, words] = [[] as Passage[], 0];
  const endRun = (): void => {
    if (run.length <= MAX_BARE_RUN.lines && words <= MAX_BARE_RUN.words) stated.push(...run);
    [run, words] = [[], 0];
  };
  for (const passage of passages) {
    const counts = countsOf(passage.text);
    const hasNoGrammar = !passage.isCode && isBag(passage.text, counts);
    if (!passage.isCode && counts.functions === 0) {
      run.push(passage);
      words += hasNoGrammar ? Number.POSITIVE_INFINITY : counts.plain;
    } else {
      endRun();
      if (!hasNoGrammar) stated.push(passage);
    }
  }
  endRun();
  return stated;
}

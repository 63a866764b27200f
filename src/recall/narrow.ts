import { eachPosting } from "./dictionary.ts";
import type { IndexedSession } from "./open-session.ts";
import type { Segment } from "./segment.ts";
import { LONG_WORDS, UNKNOWN_WORDS } from "./segment-writer.ts";
import { neededTerms, type Piece } from "./terms.ts";

/** A piece that is in more terms than this says nothing. */
const MOST_TERMS = 2_000;
/** Fewer documents than this are looked at; to go through all words for a piece of one would take longer. */
const FEW_DOCUMENTS = 4_096;

/**
 * Documents that can hold all of these texts, newest first; those that hold them are among them. All documents where
 * the texts have no words.
 */
export function candidates(session: IndexedSession, literals: readonly string[]): readonly number[] {
  const found: number[] = [];
  for (let nth = session.segments.length - 1; nth >= 0; nth--) {
    const segment = session.segments[nth] as Segment;
    const base = session.baseOf(nth);
    const local = withUnknown(segment, candidatesIn(segment, literals));
    if (local === undefined) {
      for (let at = segment.facts.documents - 1; at >= 0; at--) found.push(base + at);
    } else for (let at = local.length - 1; at >= 0; at--) found.push(base + (local[at] as number));
  }
  return found;
}

/** With those whose words are not all in the index. */
function withUnknown(segment: Segment, found: Uint32Array | undefined): Uint32Array | undefined {
  if (found === undefined) return found;
  const unknown = segment.names.documents(UNKNOWN_WORDS);
  if (unknown.length === 0) return found;
  return Uint32Array.from(new Set([...found, ...unknown])).sort();
}

function candidatesIn(segment: Segment, literals: readonly string[]): Uint32Array | undefined {
  const needed = literals.map(neededTerms);
  let found: Uint32Array | undefined;
  const narrow = (documents: Uint32Array): void => {
    found = found === undefined ? documents : intersection(found, documents);
  };
  for (const term of needed.flatMap(({ whole }) => whole)) {
    narrow(segment.words.documents(term));
    if (found?.length === 0) return found;
  }
  const longestFirst = needed.flatMap(({ pieces }) => pieces).sort((a, b) => b.text.length - a.text.length);
  for (const piece of longestFirst) {
    if (found !== undefined && found.length <= FEW_DOCUMENTS) break;
    const documents = documentsWithPiece(segment, piece);
    if (documents !== undefined) narrow(documents);
  }
  return found;
}

/** Also those with words of which only the beginning is known. */
function documentsWithPiece(segment: Segment, { text, where }: Piece): Uint32Array | undefined {
  const terms = segment.words.termsWith(text, where, MOST_TERMS);
  if (terms.length === MOST_TERMS) return undefined;
  const marked = new Uint8Array(segment.facts.documents);
  const mark = (document: number): void => {
    marked[document] = 1;
  };
  for (const term of terms) eachPosting(term.list(), mark);
  for (const document of segment.names.documents(LONG_WORDS)) mark(document);
  const documents: number[] = [];
  for (let at = 0; at < marked.length; at++) if (marked[at] === 1) documents.push(at);
  return Uint32Array.from(documents);
}

function intersection(a: Uint32Array, b: Uint32Array): Uint32Array {
  const both = new Uint32Array(Math.min(a.length, b.length));
  let [count, left, right] = [0, 0, 0];
  while (left < a.length && right < b.length) {
    const [one, other] = [a[left] as number, b[right] as number];
    if (one === other) both[count++] = one;
    if (one <= other) left++;
    if (other <= one) right++;
  }
  return both.subarray(0, count);
}

import { setImmediate as soon } from "node:timers/promises";
import { eachPosting } from "./dictionary.ts";
import type { DocumentKind } from "./documents.ts";
import type { IndexedSession, ReadDocument } from "./indexed-session.ts";
import type { Found, Match } from "./pattern.ts";
import type { RecallPage } from "./query.ts";
import { LONG_WORDS, ODD_ESCAPES, type Segment, UNKNOWN_WORDS } from "./segment.ts";
import { sharedEntries } from "./shared-entries.ts";
import { neededTerms, type Piece } from "./word-scanner.ts";

/** Document on a page of results. */
interface FoundDocument {
  readonly document: ReadDocument;
  readonly matches: readonly Match[];
  /** Start of the best passage. Default: where the most matches are. */
  readonly focus?: number;
}

/** Page of results. */
export interface FoundDocuments extends Pick<RecallPage, "hasMore" | "notSearched"> {
  readonly documents: readonly FoundDocument[];
}

export interface ScanRequest {
  /** Document numbers, in the order of the results. */
  readonly candidates: readonly number[];
  /** Text that the bytes of every line with a match contain unchanged. Empty if no such text is known. */
  readonly bytes: string;
  readonly find: (texts: readonly string[]) => readonly Found[];
  readonly skip: number;
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Number of texts that are searched together. Setting a time limit for each text would cost more than
 * searching the text.
 */
const BATCH_DOCUMENTS = 32;
const FEWEST_DOCUMENTS = 4;
const BATCH_CHARACTERS = 1 << 20;

/** Searches documents one by one until a page is full. */
export async function scan(session: IndexedSession, request: ScanRequest): Promise<FoundDocuments> {
  const { candidates, skip, limit, signal } = request;
  const mayHold = byteFilter(session, request.bytes);
  const isShared = sharedEntries(session);
  const documents: FoundDocuments["documents"][number][] = [];
  let [matches, notSearched] = [0, 0];
  for (let at = 0; at < candidates.length; ) {
    signal?.throwIfAborted();
    const batch: ReadDocument[] = [];
    let characters = 0;
    for (let looked = 0; at < candidates.length && looked < BATCH_DOCUMENTS * 8; at++, looked++) {
      const number = candidates[at] as number;
      if (!mayHold(number)) continue;
      const document = session.read(number);
      batch.push(document);
      characters += document.document.text.length;
      // If nearly all documents match, reads no more documents than fit on the page.
      const room = Math.min(BATCH_DOCUMENTS, Math.max(FEWEST_DOCUMENTS, skip + limit + 1 - matches));
      if (batch.length >= room || characters > BATCH_CHARACTERS) {
        at++;
        break;
      }
    }
    const found = request.find(batch.map(({ document }) => document.text));
    for (const [nth, document] of batch.entries()) {
      const match = found[nth];
      if (match === "too-slow") notSearched++;
      if (match === undefined || match === "too-slow" || isShared(document)) continue;
      matches++;
      if (matches > skip + limit) return { documents, hasMore: true, notSearched };
      if (matches > skip) documents.push({ document, matches: [match] });
    }
    // Lets other work run.
    await soon();
  }
  return { documents, hasMore: false, notSearched };
}

/** Kinds whose text appears unchanged in the line. Other texts are assembled from several fields. */
const VERBATIM: ReadonlySet<DocumentKind> = new Set(["user", "assistant", "thinking", "result", "system"]);

/**
 * Creates a filter that searches the bytes of the line before parsing it, because parsing is most of the
 * work.
 */
function byteFilter(session: IndexedSession, text: string): (number: number) => boolean {
  if (text === "") return () => true;
  const bytes = Buffer.from(text, "latin1");
  const odd = new Set(session.named(ODD_ESCAPES));
  return (number) => {
    const record = session.record(number);
    return !VERBATIM.has(record.kind) || odd.has(number) || session.line(number, record).includes(bytes);
  };
}

/** Returns the longest part of these texts that every JSON writer leaves unescaped. */
export function plainBytes(literals: readonly string[]): string {
  const runs = literals.flatMap((text) => text.match(/[A-Za-z0-9 _.,:;(){}=*#@!?$%^~|+-]+/g) ?? []);
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest), "");
}

/**
 * Creates a function that searches several texts. It returns the first match of the given text in each of
 * them.
 */
export const exactly =
  (text: string) =>
  (texts: readonly string[]): readonly (Match | undefined)[] =>
    texts.map((one) => {
      const at = one.indexOf(text);
      return at < 0 ? undefined : [at, at + text.length];
    });

/**
 * Maximum number of terms that contain a piece of the searched text. A piece that occurs in more terms does
 * not narrow the search.
 */
const MAX_TERMS = 2_000;
/**
 * Number of candidates. If there are fewer, reading the documents is faster than searching all terms for a
 * piece.
 */
const FEW_DOCUMENTS = 4_096;

/**
 * Returns documents that may contain all of these texts, newest first. Every document that contains them is
 * included. If the texts contain no words, returns all documents.
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

/** Adds documents whose words are not all in the index. */
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

/**
 * Returns documents with a word that contains the piece. If the index has only the beginning of a word, all
 * documents with such words are included.
 */
function documentsWithPiece(segment: Segment, { text, where }: Piece): Uint32Array | undefined {
  const terms = segment.words.termsWith(text, where, MAX_TERMS);
  if (terms.length === MAX_TERMS) return undefined;
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

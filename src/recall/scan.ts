import { setImmediate as soon } from "node:timers/promises";
import type { DocumentKind } from "./documents.ts";
import type { IndexedSession, ReadDocument } from "./open-session.ts";
import type { Found, Match } from "./pattern.ts";
import { ODD_ESCAPES } from "./segment-writer.ts";

export interface ScanHit {
  readonly document: ReadDocument;
  readonly match: Match;
}

export interface ScanOutcome {
  readonly hits: readonly ScanHit[];
  readonly hasMore: boolean;
  /** Documents on which a pattern was too slow. */
  readonly notSearched: number;
}

export interface ScanRequest {
  /** Numbers of documents, in the order in which hits are wanted. */
  readonly candidates: readonly number[];
  /** Letters, digits and signs that stand in the bytes of a line as they are; "" where nothing is known. */
  readonly bytes: string;
  readonly find: (texts: readonly string[]) => readonly Found[];
  readonly skip: number;
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/** Texts are searched together: to set a time limit costs more than to search one. */
const BATCH_DOCUMENTS = 32;
const FEWEST_DOCUMENTS = 4;
const BATCH_CHARACTERS = 1 << 20;

/** Looks into documents one after the other, until a page is full. */
export async function scan(session: IndexedSession, request: ScanRequest): Promise<ScanOutcome> {
  const { candidates, skip, limit, signal } = request;
  const mayHold = byteFilter(session, request.bytes);
  const hits: ScanHit[] = [];
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
      // Where nearly all that are looked at are hits, no more are read than the page has room for.
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
      if (match === undefined || match === "too-slow") continue;
      matches++;
      if (matches > skip + limit) return { hits, hasMore: true, notSearched };
      if (matches > skip) hits.push({ document, match });
    }
    // Others have something to do as well.
    await soon();
  }
  return { hits, hasMore: false, notSearched };
}

/** Their text stands in the line as it is; others are put together from several fields. */
const VERBATIM: ReadonlySet<DocumentKind> = new Set(["user", "assistant", "thinking", "result", "system"]);

/** Looks for the text in the bytes of the line before these are parsed, which is most of the work. */
function byteFilter(session: IndexedSession, text: string): (number: number) => boolean {
  if (text === "") return () => true;
  const bytes = Buffer.from(text, "latin1");
  const odd = new Set(session.named(ODD_ESCAPES));
  return (number) => {
    const record = session.record(number);
    return !VERBATIM.has(record.kind) || odd.has(number) || session.line(record).includes(bytes);
  };
}

/** The longest part of these texts that everybody writes into JSON as it is. */
export function plainBytes(literals: readonly string[]): string {
  const runs = literals.flatMap((text) => text.match(/[A-Za-z0-9 _.,:;(){}=*#@!?$%^~|+-]+/g) ?? []);
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest), "");
}

/** The first place where a text stands in each. */
export const exactly =
  (text: string) =>
  (texts: readonly string[]): readonly (Match | undefined)[] =>
    texts.map((one) => {
      const at = one.indexOf(text);
      return at < 0 ? undefined : [at, at + text.length];
    });

import type { CountText } from "@longhaul/core/measure";
import { STATUS } from "./document-status.ts";
import { entriesOfFact } from "./documents.ts";
import { fittingEnd, pieceOf } from "./excerpt.ts";
import type { IndexedSession, ReadDocument } from "./indexed-session.ts";
import type { RecallPiece, RecallReading } from "./query.ts";
import { PAGE_TOKENS } from "./search.ts";
import { NAMES, nameOf } from "./segment.ts";

export interface ReadOptions {
  readonly page?: number | undefined;
  readonly budgetTokens?: number | undefined;
}

const MAX_CANDIDATES = 20;
/** Minimum share of a page. If less of the page is left, the next text starts on the next page. */
const MIN_SHARE = 1 / 8;
/** Minimum length of the beginning of an id. A shorter beginning matches too many ids. */
const SHORTEST_BEGINNING = 4;

/**
 * Reads everything that belongs to an id, verbatim and one page at a time. For the uuid of an entry, reads
 * the entry. For the id of a call, reads the call and its result. For the id of a fact, reads the entries in
 * which the fact was found. The beginning of an id is enough.
 */
export function readById(
  session: IndexedSession,
  id: string,
  { page = 1, budgetTokens = PAGE_TOKENS }: ReadOptions,
  countTokens: CountText,
): RecallReading {
  const wanted = id.trim();
  const candidates = idsFor(session, wanted);
  const [name] = candidates;
  if (candidates.length !== 1 || name === undefined) {
    const ids = candidates.map((one) => one.slice(1));
    return { pieces: [], page: 1, hasMore: false, tokens: 0, candidates: ids };
  }
  const documents = documentsOfName(session, name).map((number) => session.read(number));
  const tokens = documents.reduce((sum, { document }) => sum + countTokens(document.text), 0);
  return { ...pageOf(session, documents, { page, budgetTokens }, countTokens), tokens, candidates: [] };
}

/** Returns the id if it exists. Otherwise returns all ids that start with it. */
function idsFor(session: IndexedSession, id: string): readonly string[] {
  const names = (["entry", "toolUse", "fact", "copied"] as const).map((kind) => nameOf(kind, id));
  const exact = names.find((name) => session.withId(name).length > 0);
  if (exact !== undefined) return [exact];
  if (id.length < SHORTEST_BEGINNING) return [];
  const found = new Set<string>();
  for (const segment of session.segments) {
    for (const name of names) {
      for (const term of segment.ids.termsWith(name, "start", MAX_CANDIDATES)) found.add(term.text());
    }
  }
  // An existing line takes precedence over its copies.
  const isCopied = (name: string): boolean => name.startsWith(NAMES.copied);
  const isMeant = (name: string): boolean => !isCopied(name) || !found.has(nameOf("entry", name.slice(1)));
  return [...found].filter(isMeant).slice(0, MAX_CANDIDATES);
}

function documentsOfName(session: IndexedSession, name: string): readonly number[] {
  const named = session.withId(name);
  if (name.startsWith(NAMES.copied)) return copiesOf(session, named);
  if (!name.startsWith(NAMES.fact)) return once(session, named);
  // The newest boundary with this fact has the most current references.
  const boundary = named.at(-1);
  if (boundary === undefined) return [];
  const uuids = entriesOfFact(session.entry(boundary), name.slice(1));
  return once(session, [...new Set(uuids.flatMap((uuid) => documentsOfEntry(session, uuid)))]);
}

/**
 * Returns the documents of an entry. If the line of the entry is missing, returns the documents of its copy.
 * A line can be missing in a session that was made from another one.
 */
function documentsOfEntry(session: IndexedSession, uuid: string): readonly number[] {
  const own = session.withId(nameOf("entry", uuid));
  return own.length > 0 ? own : copiesOf(session, session.withId(nameOf("copied", uuid)));
}

/**
 * Returns the documents of only one line if several lines are copies of the same entry. Prefers a copy in the
 * context. If there is none, uses the first copy.
 */
function copiesOf(session: IndexedSession, documents: readonly number[]): readonly number[] {
  const chosen = documents.find((number) => session.isInContext(number)) ?? documents[0];
  if (chosen === undefined) return [];
  const { lineOffset, entryInLine } = session.record(chosen);
  return documents.filter((number) => {
    const record = session.record(number);
    return record.lineOffset === lineOffset && record.entryInLine === entryInLine;
  });
}

/** Omits repeated lines, unless there is nothing else. */
function once(session: IndexedSession, documents: readonly number[]): readonly number[] {
  const first = documents.filter((number) => (session.status(number) & STATUS.repeated) === 0);
  return first.length > 0 ? first : documents;
}

function pageOf(
  session: IndexedSession,
  documents: readonly ReadDocument[],
  { page, budgetTokens }: { readonly page: number; readonly budgetTokens: number },
  countTokens: CountText,
): Pick<RecallReading, "pieces" | "page" | "hasMore"> {
  const pages: RecallPiece[][] = [[]];
  let left = budgetTokens;
  for (const document of documents) {
    const { text } = document.document;
    for (let from = 0; from < text.length && pages.length <= page; ) {
      const to = fittingEnd(text, from, left, countTokens);
      const tokens = countTokens(text.slice(from, to));
      const isFirst = pages.at(-1)?.length === 0;
      // Starts a new page instead of filling this one with a few words of the next text.
      if (!isFirst && (tokens > left || (to < text.length && left < budgetTokens * MIN_SHARE))) {
        pages.push([]);
        left = budgetTokens;
        continue;
      }
      pages.at(-1)?.push(pieceOf(session, document, from, to));
      left = to < text.length ? 0 : left - tokens;
      from = to;
    }
  }
  const shown = pages[page - 1] ?? [];
  return { pieces: shown, page, hasMore: pages.length > page };
}

import { LonghaulError } from "@longhaul/core/errors";
import type { CountText } from "@longhaul/core/measure";
import { eachPosting } from "./dictionary.ts";
import { STATUS } from "./document-status.ts";
import {
  candidates,
  exactly,
  type FoundDocuments,
  plainBytes,
  type ScanRequest,
  scan,
} from "./exact-search.ts";
import { excerptAround, pieceOf, tokensUpTo } from "./excerpt.ts";
import type { IndexedSession } from "./indexed-session.ts";
import { rankPassages } from "./passages.ts";
import { GuardedPattern, literalsIn, type Match } from "./pattern.ts";
import type { RecallHit, RecallPage, RecallQuery } from "./query.ts";
import { wordQuery } from "./query-words.ts";
import { CONSIDERED_DOCUMENTS, type DocumentFilter, rankByWords } from "./rank.ts";
import { NAMES, nameOf } from "./segment.ts";
import { type FoundWord, WordFinder } from "./word-finder.ts";

/** Number of hits on a page. Many short ones answer more questions than few long ones. */
export const HITS_PER_PAGE = 16;
/**
 * Tokens of a page of hits, or of a page of an entry. A page is small, so that it takes little of a context
 * window.
 */
export const PAGE_TOKENS = 4_000;
/**
 * Maximum number of names that a searched name may match. If it matches more names in a session, it is too
 * vague.
 */
const MAX_NAMES = 10_000;

const matchesOf = (words: readonly FoundWord[]): readonly Match[] => words.map(({ from, to }) => [from, to]);

/** Searches the session and returns one page of hits. */
export async function search(
  session: IndexedSession,
  query: RecallQuery,
  countTokens: CountText,
): Promise<RecallPage> {
  const { hits, ...page } = await searchWithPlaces(session, query, countTokens);
  return { ...page, hits: hits.map(({ hit }) => hit) };
}

/** Hit with the number of its document. */
interface PlacedHit {
  readonly hit: RecallHit;
  readonly document: number;
}

export async function searchWithPlaces(
  session: IndexedSession,
  query: RecallQuery,
  countTokens: CountText,
): Promise<Omit<RecallPage, "hits"> & { readonly hits: readonly PlacedHit[] }> {
  const page = Math.max(1, Math.floor(query.page ?? 1));
  const limit = Math.max(1, Math.floor(query.limit ?? HITS_PER_PAGE));
  const found = await find(session, query, (page - 1) * limit, limit);
  const hits: PlacedHit[] = [];
  const shares = sharesOf(found.documents, query.budgetTokens ?? PAGE_TOKENS, countTokens);
  for (const [nth, { document, matches, focus }] of found.documents.entries()) {
    const share = shares[nth] ?? 1;
    const excerpt = excerptAround(document.document.text, matches, share, countTokens, focus);
    const piece = pieceOf(session, document, excerpt.from, excerpt.to);
    const ranges = excerpt.matches.map(([from, to]) => [from - excerpt.from, to - excerpt.from] as const);
    hits.push({ hit: { ...piece, matches: ranges }, document: document.number });
  }
  const { total, hasMore, notSearched } = found;
  return { hits, page, total, hasMore, notSearched };
}

/**
 * Divides the budget of a page among its hits. Each hit gets an equal share first. What short texts leave goes
 * to the best hits.
 */
function sharesOf(
  documents: FoundDocuments["documents"],
  budgetTokens: number,
  countTokens: CountText,
): readonly number[] {
  const equal = Math.max(1, Math.floor(budgetTokens / Math.max(1, documents.length)));
  const most = equal * MAX_SHARES;
  const needed = documents.map(({ document: { document } }) => tokensUpTo(document.text, most, countTokens));
  let left = budgetTokens - needed.reduce((sum, tokens) => sum + Math.min(equal, tokens), 0);
  return needed.map((tokens) => {
    const more = Math.max(0, Math.min(left, tokens - equal));
    left -= more;
    return Math.min(equal, tokens) + more;
  });
}

/** Maximum part of a page for one hit, in equal shares. */
const MAX_SHARES = 3;

async function find(
  session: IndexedSession,
  query: RecallQuery,
  skip: number,
  limit: number,
): Promise<FoundDocuments & Pick<RecallPage, "total">> {
  const { words, exact, pattern, signal } = query;
  const filter = filterOf(session, query);
  if (pattern !== undefined || exact !== undefined) {
    const request = { ...scanOf(session, query, filter), skip, limit, signal };
    const found = await scan(session, request);
    return { ...found, total: found.hasMore ? undefined : skip + found.documents.length };
  }
  const isByWords = words !== undefined && words.trim() !== "";
  if (isByWords) return findByWords(session, words, filter, { skip, limit });
  if (filter.documents === undefined) throw emptyQuery();
  const { documents, total } = newestFirst(filter, skip + limit);
  return {
    documents: documents.slice(skip).map((number) => ({ document: session.read(number), matches: [] })),
    total,
    hasMore: total > skip + limit,
    notSearched: 0,
  };
}

/** Finds the best passages. Documents that rank far down keep the order of the index. */
function findByWords(
  session: IndexedSession,
  text: string,
  filter: Filter,
  { skip, limit }: { readonly skip: number; readonly limit: number },
): FoundDocuments & Pick<RecallPage, "total"> {
  const query = wordQuery(text);
  const ranking = rankByWords(session, query.words, filter, Math.max(CONSIDERED_DOCUMENTS, skip + limit));
  const { passages, read } = rankPassages(session, query, ranking, filter.fits, skip + limit);
  const finder = new WordFinder(query.words);
  const rest = ranking.documents.filter(({ document }) => !read.has(document));
  const wanted = [...passages, ...rest].slice(skip, skip + limit);
  const added = [...read].filter((document) => !ranking.matches(document)).length;
  const total = ranking.total + added - (read.size - passages.length);
  return {
    documents: wanted.map((found) => {
      if ("words" in found)
        return { document: found.document, matches: matchesOf(found.words), focus: found.focus };
      const document = session.read(found.document);
      return { document, matches: matchesOf(finder.find(document.document.text)) };
    }),
    total,
    hasMore: total > skip + limit,
    notSearched: 0,
  };
}

function emptyQuery(): LonghaulError {
  return new LonghaulError("query-empty", "Empty query.", {
    remedy: "Pass at least one search term: words, an exact text, a pattern, a file, a tool or an id.",
  });
}

/**
 * Builds the scan for a query. If an exact text and a pattern are given, both must match. In that case, the
 * exact text determines the position of the match.
 */
function scanOf(
  session: IndexedSession,
  { words, exact, pattern, ignoreCase }: RecallQuery,
  filter: Filter,
): Pick<ScanRequest, "candidates" | "bytes" | "find"> {
  if (exact !== undefined && exact.trim() === "") throw emptyQuery();
  if (pattern !== undefined && pattern === "") throw emptyQuery();
  const guarded = pattern === undefined ? undefined : new GuardedPattern(pattern, ignoreCase ? "im" : "m");
  const inPattern = pattern === undefined ? [] : literalsIn(pattern);
  const safe = ignoreCase ? inPattern.filter((text) => /^[ -~]*$/.test(text)) : inPattern;
  const texts = exact === undefined ? [] : [exact];
  const ranked =
    words === undefined || words.trim() === "" ? undefined : documentsWith(session, words, filter);
  const all = candidates(session, [...texts, ...safe]).filter(
    (document) => filter.fits(document) && ranked?.has(document) !== false,
  );
  const findExact = exact === undefined ? undefined : exactly(exact);
  return {
    candidates: all,
    bytes: plainBytes([...texts, ...(ignoreCase ? [] : safe)]),
    find: (read) => {
      const found = findExact?.(read);
      const also = guarded?.findIn(read);
      if (found === undefined || also === undefined) return found ?? also ?? [];
      return also.map((match, nth) => (Array.isArray(match) ? found[nth] : found[nth] && match));
    },
  };
}

const documentsWith = (session: IndexedSession, words: string, filter: DocumentFilter): ReadonlySet<number> =>
  new Set(
    rankByWords(session, wordQuery(words).words, filter, Number.MAX_SAFE_INTEGER).documents.map(
      ({ document }) => document,
    ),
  );

function newestFirst(
  { documents: among, fits }: Filter,
  most: number,
): { readonly documents: readonly number[]; readonly total: number } {
  const documents = [...(among ?? [])].filter(fits).sort((a, b) => b - a);
  return { documents: documents.slice(0, most), total: documents.length };
}

/** Conditions for every hit, regardless of the type of search. */
interface Filter extends DocumentFilter {
  /** Documents of the requested file or tool. Undefined if neither is requested. */
  readonly documents: ReadonlySet<number> | undefined;
  readonly fits: (document: number) => boolean;
}

function filterOf(session: IndexedSession, { all, file = "", tool = "" }: RecallQuery): Filter {
  const hidden = STATUS.repeated | (all === true ? 0 : STATUS.inContext | STATUS.retold);
  const byFile = documentsNamed(session, "path", pathPart(file));
  const byTool = documentsNamed(session, "tool", tool.trim().toLowerCase());
  const documents = byFile ?? byTool;
  const isNamed = (document: number): boolean =>
    byFile?.has(document) !== false && byTool?.has(document) !== false;
  const fits = (document: number): boolean => (session.status(document) & hidden) === 0 && isNamed(document);
  return { documents, hidden, isMeant: documents === undefined ? undefined : isNamed, fits };
}

/** Normalizes a file name. A person writes `./src/a.ts` for a file that the agent names by its full path. */
const pathPart = (file: string): string => file.trim().replace(/^\.\//, "").toLowerCase();

/** Returns the documents with this name, or undefined without a name. */
function documentsNamed(
  session: IndexedSession,
  kind: "path" | "tool",
  name: string,
): ReadonlySet<number> | undefined {
  if (name === "") return undefined;
  const found = new Set<number>();
  for (const [nth, segment] of session.segments.entries()) {
    // A tool matches only by its full name. A file matches by any part of its path.
    for (const document of segment.names.documents(nameOf(kind, name)))
      found.add(session.baseOf(nth) + document);
    if (kind === "tool") continue;
    for (const term of segment.names.termsWith(nameOf(kind, name).slice(1), "anywhere", MAX_NAMES)) {
      if (!term.text().startsWith(NAMES[kind])) continue;
      eachPosting(term.list(), (document) => found.add(session.baseOf(nth) + document));
    }
  }
  return found;
}

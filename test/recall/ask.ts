import { loadSession, openRecall } from "@longhaul/sessions";
import { documentsOf } from "../../packages/sessions/src/recall/documents.ts";
import { type Passage, PlainBm25 } from "./plain-bm25.ts";

/** Passage that answers a question. */
export interface Answer {
  /** Id of the entry. */
  readonly uuid: string;
  /** Span in the text of one of its blocks, in UTF-16 units. Without it, any part of the entry is right. */
  readonly start?: number;
  readonly length?: number;
}

export interface NaturalQuestion {
  /** Name of a file among the recorded sessions. */
  readonly session: string;
  readonly question: string;
  /** Passages of which each one answers the question. */
  readonly answers: readonly Answer[];
}

/** Number of passages on a page of recall. The plain ranking gets as many. */
const PAGE_HITS = 8;

/** Returns true if one of the passages overlaps one of the answers. */
export function isAnswered(passages: readonly Passage[], answers: readonly Answer[]): boolean {
  return passages.some((passage) => answers.some((answer) => overlaps(passage, answer)));
}

function overlaps({ uuid, from, to }: Passage, answer: Answer): boolean {
  if (uuid !== answer.uuid) return false;
  if (answer.start === undefined) return true;
  return from < answer.start + Math.max(1, answer.length ?? 1) && to > answer.start;
}

/** Returns the first page of recall over a whole session, as passages. */
export async function askRecall(path: string, question: string): Promise<readonly Passage[]> {
  const { hits } = await openRecall(path).search({ words: question, all: true });
  return hits.map(({ id, from, to }) => ({ uuid: id ?? "", from, to }));
}

/** Returns a function that answers questions about a session by plain BM25 over the same texts. */
export async function plainRanking(path: string): Promise<(question: string) => readonly Passage[]> {
  const { entries } = await loadSession(path);
  const seen = new Set<string>();
  const blocks = entries.flatMap((entry) =>
    documentsOf(entry).flatMap(({ text }) => {
      // A line that was written again is the same text.
      const key = `${entry.uuid} ${text}`;
      if (entry.uuid === undefined || seen.has(key)) return [];
      seen.add(key);
      return [{ uuid: entry.uuid, text }];
    }),
  );
  const ranking = new PlainBm25(blocks);
  return (question) => ranking.search(question, PAGE_HITS);
}

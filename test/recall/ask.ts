import type { Entry } from "@longhaul/core";
import { loadSession, openRecall } from "@longhaul/sessions";
import { documentsOf } from "../../packages/sessions/src/recall/documents.ts";
import { recordedText } from "../support/recorded-text.ts";
import { type Passage, PlainBm25 } from "./plain-bm25.ts";
import type { Passage as Answer } from "./questions/natural-question.ts";

/** Number of passages on a page of recall. The plain ranking gets as many. */
const PAGE_HITS = 16;

/** Searches a session. Each function returns the first page of passages for a question. */
export interface Searches {
  readonly recall: (question: string) => Promise<readonly Passage[]>;
  readonly plain: (question: string) => readonly Passage[];
  /** Returns true if one of the passages contains one of the answers. */
  readonly isAnswered: (passages: readonly Passage[], answers: readonly Answer[]) => boolean;
}

/** Opens recall and plain BM25 over the same texts of a session. */
export async function searchesOf(path: string): Promise<Searches> {
  const { entries } = await loadSession(path);
  const texts = new Map(entries.map((entry) => [entry.uuid, recordedText(entry)]));
  const answerText = ({ uuid, start, length }: Answer): string =>
    normal((texts.get(uuid) ?? "").slice(start, start + length));
  const recall = openRecall(path);
  const ranking = new PlainBm25(blocksOf(entries));
  return {
    recall: async (question) => {
      const { hits } = await recall.search({ words: question, all: true });
      return hits.map(({ id, text }) => ({ uuid: id ?? "", text }));
    },
    plain: (question) => ranking.search(question, PAGE_HITS),
    isAnswered: (passages, answers) =>
      passages.some(({ uuid, text }) =>
        answers.some((answer) => answer.uuid === uuid && normal(text).includes(answerText(answer))),
      ),
  };
}

/** Recall shows the input of a tool call as text and the recording has it as JSON, so escapes do not count. */
const normal = (text: string): string => text.replace(/\\n/g, " ").replace(/\\"/g, '"').replace(/\s+/g, " ");

function blocksOf(entries: readonly Entry[]): readonly Passage[] {
  const seen = new Set<string>();
  return entries.flatMap((entry) =>
    documentsOf(entry).flatMap(({ text }) => {
      // A line that was written again is the same text.
      const key = `${entry.uuid} ${text}`;
      if (entry.uuid === undefined || seen.has(key)) return [];
      seen.add(key);
      return [{ uuid: entry.uuid, text }];
    }),
  );
}

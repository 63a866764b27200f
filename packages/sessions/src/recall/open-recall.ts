import { resolve } from "node:path";
import { type CountText, ESTIMATORS } from "@longhaul/core/measure";
import { readNow } from "../transcript/file-bytes.ts";
import { withSessionFile } from "../transcript/session-file.ts";
import { IndexDamaged } from "./dictionary.ts";
import { IndexedSession } from "./indexed-session.ts";
import { type IndexOptions, openIndex } from "./keep-index.ts";
import type { RecallPage, RecallQuery, RecallReading } from "./query.ts";
import { type ReadOptions, readById } from "./read-by-id.ts";
import { search } from "./search.ts";

export interface RecallOptions {
  /** Path of the index. Default: beside the session. Null keeps no index. */
  readonly indexPath?: string | null | undefined;
  /**
   * Counts the tokens of a text. Default: a quarter of its characters. A better estimate needs tables, and
   * loading them takes longer than a first query.
   */
  readonly countTokens?: CountText | undefined;
  /** Reports progress while the session is read for its index. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Searches content of a session that is no longer in the context. Never writes to the session. */
export interface Recall {
  search(query: RecallQuery): Promise<RecallPage>;
  /**
   * Reads everything that belongs to an id, verbatim and one page at a time. The beginning of an id is
   * enough.
   */
  read(id: string, options?: ReadOptions): Promise<RecallReading>;
}

/** Returns the path of the index file, beside the session. Only its owner can read it. */
export const recallIndexPath = (sessionPath: string): string =>
  `${sessionPath.replace(/\.jsonl$/, "")}.recall`;

/**
 * Opens recall for a session file. Keeps no state between queries. Each query reads the current session and
 * updates the index.
 */
export function openRecall(path: string, options: RecallOptions = {}): Recall {
  const { countTokens = ESTIMATORS.classic } = options;
  return {
    search: (query) => withIndex(path, options, (session) => search(session, query, countTokens)),
    read: (id, reading = {}) =>
      withIndex(path, options, async (session) => readById(session, id, reading, countTokens)),
  };
}

/**
 * Returns the path of the index, or undefined if no index is kept. Never returns the path of the session
 * itself.
 */
function placeOfIndex(path: string, wished: string | null | undefined): string | undefined {
  const place = wished === undefined ? recallIndexPath(path) : (wished ?? undefined);
  return place === undefined || resolve(place) === resolve(path) ? undefined : place;
}

async function withIndex<T>(
  path: string,
  { indexPath, onProgress }: RecallOptions,
  use: (session: IndexedSession) => Promise<T>,
): Promise<T> {
  const kept: IndexOptions = { indexPath: placeOfIndex(path, indexPath), onProgress };
  return await withSessionFile(path, async (file) => {
    const attempt = async (index: IndexOptions): Promise<T> => {
      const opened = await openIndex(file, path, index);
      try {
        const read = (buffer: Buffer, position: number): number => readNow(file.fd, buffer, position);
        return await use(new IndexedSession({ ...opened, read }));
      } finally {
        opened.close();
      }
    };
    try {
      return await attempt(kept);
    } catch (error) {
      if (!(error instanceof IndexDamaged)) throw error;
      return await attempt({ ...kept, mustRebuild: true });
    }
  });
}

import { resolve } from "node:path";
import { type CountText, ESTIMATORS } from "@longhaul/core/measure";
import { withSessionFile } from "../transcript/session-file.ts";
import { IndexDamaged } from "./dictionary.ts";
import { IndexedSession } from "./indexed-session.ts";
import { type IndexOptions, openIndex } from "./keep-index.ts";
import type { RecallPage, RecallQuery, RecallReading } from "./query.ts";
import { type ReadOptions, readById } from "./read-by-id.ts";
import { search } from "./search.ts";

export interface RecallOptions {
  /** Where the index is kept: beside the session unless another place is named; null keeps none. */
  readonly indexPath?: string | null | undefined;
  /**
   * How long a text is; a quarter of its characters where nothing is given. To unpack the tables of a better estimate
   * takes a process longer than its first question.
   */
  readonly countTokens?: CountText | undefined;
  /** Told while the session is read for its index. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Searches what is no longer in the context of a session. Nothing is ever written into the session. */
export interface Recall {
  search(query: RecallQuery): Promise<RecallPage>;
  /** Everything that an id, or the beginning of one, stands for: verbatim, a page at a time. */
  read(id: string, options?: ReadOptions): Promise<RecallReading>;
}

/** Beside the session, and its owner's alone. */
export const recallIndexPath = (sessionPath: string): string =>
  `${sessionPath.replace(/\.jsonl$/, "")}.recall`;

/**
 * Recall over a session file. Nothing is held between two questions: each looks at the session as it is then, opens
 * the index, and brings it up to date.
 */
export function openRecall(path: string, options: RecallOptions = {}): Recall {
  const { countTokens = ESTIMATORS.classic } = options;
  return {
    search: (query) => withIndex(path, options, (session) => search(session, query, countTokens)),
    read: (id, reading = {}) =>
      withIndex(path, options, async (session) => readById(session, id, reading, countTokens)),
  };
}

/** Undefined where none is kept: never in the place of the session itself. */
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
        return await use(new IndexedSession(file.fd, opened));
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

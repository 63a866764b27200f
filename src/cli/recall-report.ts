import type { RecallPage, RecallQuery } from "../recall/query.ts";
import { HITS_PER_PAGE } from "../recall/search.ts";
import type { RecallCommandOptions } from "./commands/recall.ts";

/** The shape that `recall --json` prints. Stable: other programs read it; see docs/json.md. */
export interface RecallReport extends RecallPage {
  readonly session: { readonly path: string };
  readonly query: RecallQuery;
}

/** For a screen: some lines around what was found. */
const TOKENS_PER_HIT = 150;

export function recallQuery(query: string, options: RecallCommandOptions): RecallQuery {
  const { exact, pattern, ignoreCase, file, tool, all, page, limit = HITS_PER_PAGE } = options;
  const text = query === "" ? {} : exact ? { exact: query } : pattern ? { pattern: query } : { words: query };
  return { ...text, ignoreCase, file, tool, all, page, limit, budgetTokens: limit * TOKENS_PER_HIT };
}

export const recallReport = (path: string, query: RecallQuery, page: RecallPage): RecallReport => ({
  session: { path },
  query,
  ...page,
});

import type { DocumentKind } from "./documents.ts";

/**
 * Search query. Give at least one of `words`, `exact`, `pattern`, `file` and `tool`. A hit must match all
 * given fields.
 */
export interface RecallQuery {
  /** Words to rank by. A text with more of these words, or with rarer ones, ranks higher. */
  readonly words?: string | undefined;
  /** Exact text, newest hits first. */
  readonly exact?: string | undefined;
  /** JavaScript regular expression, newest hits first. */
  readonly pattern?: string | undefined;
  /** True to make the pattern ignore case. */
  readonly ignoreCase?: boolean | undefined;
  /** Path or part of a path: finds calls that name this file, with their results. */
  readonly file?: string | undefined;
  /** Name of a tool: finds its calls and results. */
  readonly tool?: string | undefined;
  /** True to also find content that is still in the context, and summaries. */
  readonly all?: boolean | undefined;
  /** Page number, starting at 1. */
  readonly page?: number | undefined;
  /** Hits per page. */
  readonly limit?: number | undefined;
  /** Token budget for the texts of a page. */
  readonly budgetTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RecallHit {
  /** Id of the entry. Use it to read the whole entry. */
  readonly id: string | undefined;
  /** Timestamp of the entry, if it has one. */
  readonly timestamp: string | undefined;
  readonly kind: DocumentKind;
  /** Description of the author. */
  readonly who: string;
  readonly tool: string | undefined;
  readonly toolUseId: string | undefined;
  readonly file: string | undefined;
  readonly isError: boolean;
  /** True if the agent's context still contains the text. */
  readonly isInContext: boolean;
  /** Verbatim excerpt around the matches. */
  readonly text: string;
  /** Start of the excerpt in the whole text, in UTF-16 units. */
  readonly from: number;
  readonly to: number;
  readonly length: number;
  /** Matches, as ranges of the excerpt. */
  readonly matches: readonly (readonly [number, number])[];
}

export interface RecallPage {
  readonly hits: readonly RecallHit[];
  readonly page: number;
  /** Total number of hits. Undefined if the whole session would have to be read to count them. */
  readonly total: number | undefined;
  readonly hasMore: boolean;
  /** Documents that were not searched because the pattern was too slow. */
  readonly notSearched: number;
}

/** Piece of an entry that is read page by page. */
export interface RecallPiece extends Omit<RecallHit, "matches"> {}

export interface RecallReading {
  readonly pieces: readonly RecallPiece[];
  readonly page: number;
  readonly hasMore: boolean;
  /** Estimated tokens of all pages together. */
  readonly tokens: number;
  /** All ids that start with the given text, if there are several. In that case, no entry is read. */
  readonly candidates: readonly string[];
}

import type { DocumentKind } from "./documents.ts";

/** What is asked for. At least one of `words`, `exact`, `pattern`, `file` and `tool` is given; all that are must fit. */
export interface RecallQuery {
  /** Ranked: the more of the words, and the rarer, the higher. */
  readonly words?: string | undefined;
  /** This very text, newest first. */
  readonly exact?: string | undefined;
  /** A regular expression as JavaScript has them, newest first. */
  readonly pattern?: string | undefined;
  /** With a pattern: capitals and small letters are the same. */
  readonly ignoreCase?: boolean | undefined;
  /** A path or a part of one: calls that name it, with their results. */
  readonly file?: string | undefined;
  /** The name of a tool: its calls and results. */
  readonly tool?: string | undefined;
  /** Also what is still in the context, and summaries. */
  readonly all?: boolean | undefined;
  /** From 1 on. */
  readonly page?: number | undefined;
  /** How many hits a page has. */
  readonly limit?: number | undefined;
  /** What the texts of a page may hold together. */
  readonly budgetTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RecallHit {
  /** Of the entry, by which it can be read whole. */
  readonly id: string | undefined;
  /** As the entry has it; undefined where it has none. */
  readonly timestamp: string | undefined;
  readonly kind: DocumentKind;
  /** Who said it, in words. */
  readonly who: string;
  readonly tool: string | undefined;
  readonly toolUseId: string | undefined;
  readonly file: string | undefined;
  readonly isError: boolean;
  /** The agent still has it before its eyes. */
  readonly isInContext: boolean;
  /** Verbatim: the part of it that was looked for. */
  readonly text: string;
  /** Where the part lies in the whole, in UTF-16 units. */
  readonly from: number;
  readonly to: number;
  readonly length: number;
  /** What was found, as ranges of the part. */
  readonly matches: readonly (readonly [number, number])[];
}

export interface RecallPage {
  readonly hits: readonly RecallHit[];
  readonly page: number;
  /** How many there are in all; undefined where counting them would mean reading the whole session. */
  readonly total: number | undefined;
  readonly hasMore: boolean;
  /** Documents that a pattern was too slow on to be searched. */
  readonly notSearched: number;
}

/** A piece of an entry that is read whole, page by page. */
export interface RecallPiece extends Omit<RecallHit, "matches"> {}

export interface RecallReading {
  readonly pieces: readonly RecallPiece[];
  readonly page: number;
  readonly hasMore: boolean;
  /** Tokens of everything, by estimate. */
  readonly tokens: number;
  /** Ids that begin so, where there are several; then nothing is read. */
  readonly candidates: readonly string[];
}

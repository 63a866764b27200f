/**
 * Question about a recorded session, with the passages that answer it. Each passage alone is enough. The session's
 * own compaction summaries do not count as passages. The questions repeat no passage, so that no text of a
 * recorded session enters the repository.
 */
export interface NaturalQuestion {
  /** File name of the session in the folder of recorded sessions. */
  readonly session: string;
  readonly question: string;
  readonly answers: readonly Passage[];
}

/** Span of UTF-16 code units in the text of an entry, as `recordedText` returns it. */
export interface Passage {
  readonly uuid: string;
  readonly start: number;
  readonly length: number;
}

/**
 * Something in a session file that is not a clean line holding one entry. What it said is never kept
 * here: reports may be shared, sessions may not.
 */
export interface Damage {
  readonly kind: DamageKind;
  /** 1 for the first; undefined when the file was read from its end. */
  readonly line: number | undefined;
  /** Where the line starts in the file; undefined for a repeated uuid. */
  readonly offset: number | undefined;
  /** How many bytes could not be used; 0 when everything was recovered. */
  readonly bytes: number;
}

export type DamageKind =
  /** Several entries on one line, all of them recovered. */
  | "glued-lines"
  /** Not JSON, or only in part. */
  | "broken-line"
  /** The last line, cut off when its writer died. */
  | "torn-last-line"
  /** Bytes that are no text; each was read as U+FFFD. */
  | "invalid-utf8"
  /** Holes that a crash of the machine leaves in a file. */
  | "nul-bytes"
  /** JSON, but not of the shape of an entry. */
  | "not-an-entry"
  /** Lists or objects within one another beyond any use; a short text was read in place of the innermost. */
  | "nested-too-deep"
  /** A uuid that a later line has again; the later one counts. */
  | "duplicate-uuid";

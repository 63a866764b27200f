import type { OpenBefore, SessionDigest } from "@longhaul/core/internal/summary";

/** Input for the update of every section. */
export interface UpdateInput {
  /** Digest of the new entries only. */
  readonly digest: SessionDigest;
  /**
   * The folder in which the session started. Paths are relative to it, so that a file keeps one name when the
   * agent changes folders.
   */
  readonly root: string | undefined;
  readonly before: StateBefore;
  /** Maximum length of one item, so that no section consists of a single one. */
  readonly longestItemChars: number;
}

/** State in the notes just before the new entries. */
export interface StateBefore extends OpenBefore {
  /** Items of the section "Current State", in order. */
  readonly items: readonly string[];
  /** True if the notes are not empty, so the new entries do not start the session. */
  readonly isBegun: boolean;
}

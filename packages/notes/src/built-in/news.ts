import type { OpenBefore, SessionDigest } from "@longhaul/core/internal/summary";

/** Input that the update of each notes section gets. */
export interface UpdateInput {
  /** Digest of the new entries only. */
  readonly digest: SessionDigest;
  /**
   * The folder in which the session started. Paths are relative to this folder. If the agent changes folders,
   * a file therefore keeps its name.
   */
  readonly root: string | undefined;
  readonly before: StateBefore;
  /** Maximum length of one item. It keeps a single item from filling a whole section. */
  readonly longestItemChars: number;
}

/** State that the notes describe before the new entries are added. */
export interface StateBefore extends OpenBefore {
  /** Items of the section "Current State", in order. */
  readonly items: readonly string[];
  /** True if the notes are not empty. In that case, the new entries do not start the session. */
  readonly isBegun: boolean;
}

import type { OpenBefore, SessionDigest } from "@longhaul/core/internal/summary";

/** The input of every section's update. */
export interface News {
  /** Of the new entries alone. */
  readonly digest: SessionDigest;
  /** The folder in which the session began. Paths are relative to it, so that a file has one name however the agent moves. */
  readonly root: string | undefined;
  readonly before: StateBefore;
  /** How long one item may be, so that a section never consists of one. */
  readonly longestItemChars: number;
}

/** The state at the moment at which the new entries begin, from the notes. */
export interface StateBefore extends OpenBefore {
  /** The items of the section, in order. */
  readonly items: readonly string[];
  /** True if anything has been noted: then the new entries do not begin the session. */
  readonly isBegun: boolean;
}

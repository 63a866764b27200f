import type { FollowedTodo } from "../../conversation/todo-ledger.ts";
import type { BackgroundTask, SessionDigest } from "../../summary/readers/readers.ts";

/** What a section is brought up to date from. */
export interface News {
  /** Of the new entries alone. */
  readonly digest: SessionDigest;
  /** Where the session began: paths are told relative to it, so that a file has one name however the agent moves. */
  readonly root: string | undefined;
  readonly before: StateBefore;
  /** How long one item may be, so that a section never consists of one. */
  readonly longestItemChars: number;
}

/** What the notes say about the moment at which the new entries begin. */
export interface StateBefore {
  /** The items of the section, in order. */
  readonly items: readonly string[];
  readonly todos: readonly FollowedTodo[];
  readonly runningTasks: readonly BackgroundTask[];
  /** Whether anything has been noted: then what is new does not begin the session. */
  readonly isBegun: boolean;
}

/** A hard fact of a conversation: found without a model, and looked for in what a compaction leaves. */
export interface Fact {
  /** The same over all compactions of a session. */
  readonly id: string;
  readonly kind: FactKind;
  /** As it would be quoted: verbatim, or the head and the tail of what is huge. */
  readonly text: string;
  /** All of these must stand in a text that holds the fact; the text itself where there are none. */
  readonly needles?: readonly string[];
  /** Of what a person asked for. */
  readonly status?: DirectiveStatus;
  /** Where it can be read: uuids of entries in the transcript, the one that tells it first. */
  readonly entryIds: readonly string[];
}

/**
 * - `directive`: what a person said.
 * - `file`: a file and what was done to it. `command`: one that was run, and its outcome. `error`: its text.
 * - `reference`: an address, a commit, an issue, a version, a port. `quantity`: a number in a person's words.
 * - `decision`: a question that was answered. `question`: one that waits. `todo`: an open item.
 * - `plan`: one that the assistant wrote. It is nobody's wish until a person says so.
 */
export type FactKind =
  | "directive"
  | "file"
  | "command"
  | "error"
  | "reference"
  | "quantity"
  | "decision"
  | "question"
  | "todo"
  | "plan";

/** What is asked for before what was done. */
export const FACT_KINDS: readonly FactKind[] = [
  "directive",
  "question",
  "todo",
  "decision",
  "plan",
  "file",
  "command",
  "error",
  "reference",
  "quantity",
];

export type DirectiveStatus = "active" | "done" | "cancelled" | "superseded";

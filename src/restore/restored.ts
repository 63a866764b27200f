import type { Attachment, Entry } from "../conversation/entry.ts";
import type { PairIndex } from "../conversation/pairs.ts";
import type { FileTools } from "../conversation/tool-kinds.ts";
import type { CountText } from "../tokens/measure.ts";

export type RestoreKind =
  | "memory-files"
  | "files"
  | "skills"
  | "todos"
  | "plan"
  | "plan-mode"
  | "agents"
  | "tools"
  | "mcp-instructions"
  | "session-memory"
  /** What hooks say after a compaction: never restored, but it may be left out like the rest. */
  | "hook-output";

/** What a kind of restoration looks at. */
export interface RestoreInput {
  readonly summarised: readonly Entry[];
  readonly kept: readonly Entry[];
  /** Whether what is kept came before what was summarised, or after it, which is the default. */
  readonly keptPlace?: "before" | "after" | undefined;
  /** Both in the order in which they came, and their calls, for whoever has them already. */
  readonly conversation?: { readonly entries: readonly Entry[]; readonly pairs: PairIndex } | undefined;
  readonly countTokens: CountText;
  /** For all kinds together: what the result may still hold. */
  readonly budgetTokens: number;
  readonly signal?: AbortSignal | undefined;
  /** Results that are sent as cleared although the entries still hold them: they show nothing. */
  readonly clearedToolUseIds?: ReadonlySet<string> | undefined;
  /** The agent's tools for files, where they have other names than the usual ones. */
  readonly fileTools?: FileTools | undefined;
}

/** One thing that is put back: an attachment, with what it costs. */
export interface RestoredItem {
  readonly kind: RestoreKind;
  /** A path, a skill's name, …; never content. */
  readonly name: string;
  /** Of the attachment as it is sent, with the words around it. */
  readonly tokens: number;
  readonly isTruncated: boolean;
  readonly attachment: Attachment;
}

/** What was not put back, and why: a fact for the report, never a reason to fail. */
export interface SkippedItem {
  readonly kind: RestoreKind;
  readonly name: string;
  /** What is wrong with a file, as its reader says (`gone`, `too-large`, …), or one of ours. */
  readonly reason: string;
}

export interface Restored {
  readonly items: readonly RestoredItem[];
  readonly skipped: readonly SkippedItem[];
}

/** What a restoration adds to the context. */
export function restoredTokens({ items }: Restored): number {
  return items.reduce((sum, { tokens }) => sum + tokens, 0);
}

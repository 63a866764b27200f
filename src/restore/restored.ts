import type { Attachment, Entry } from "../conversation/entry.ts";
import type { CountText } from "../tokens/measure.ts";

export type RestoreKind =
  | "files"
  | "skills"
  | "todos"
  | "plan"
  | "plan-mode"
  | "agents"
  | "tools"
  | "mcp-instructions"
  | "session-memory";

/** What a kind of restoration looks at. */
export interface RestoreInput {
  readonly summarised: readonly Entry[];
  readonly kept: readonly Entry[];
  readonly countTokens: CountText;
  /** For all kinds together: what the result may still hold. */
  readonly budgetTokens: number;
  readonly signal?: AbortSignal | undefined;
}

/** One thing that is put back: an attachment, with what it costs. */
export interface RestoredItem {
  readonly kind: RestoreKind;
  /** A path, a skill's name, …; never content. */
  readonly name: string;
  readonly tokens: number;
  readonly isTruncated: boolean;
  readonly attachment: Attachment;
}

/** What was not put back, and why: a fact for the report, never a reason to fail. */
export interface SkippedItem {
  readonly kind: RestoreKind;
  readonly name: string;
  /** `gone`, `unreadable`, `outside-project`, `not-text`, `too-large`, `over-budget`, `failed`, … */
  readonly reason: string;
}

export interface Restored {
  readonly items: readonly RestoredItem[];
  readonly skipped: readonly SkippedItem[];
}

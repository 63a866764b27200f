import { type CountText, measureContent } from "../../measure/tokens/measure.ts";
import type { Attachment, Entry } from "../../messages/entry.ts";
import type { PairIndex } from "../../messages/pairs.ts";
import type { FileTools } from "../../messages/tool-kinds.ts";
import { attachmentContent } from "../../request/flatten/attachment-content.ts";
import type { Ask } from "./ask-host.ts";
import type { HostState } from "./host-state.ts";
import type { SessionEvent } from "./read-state.ts";

/**
 * Common parts of every restoration: kinds of content, input, and items that fit into the remaining tokens.
 */

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
  /**
   * Output of hooks after a compaction. It is never restored, but it can be reported as left out like other
   * content.
   */
  | "hook-output";

/** Input for each kind of restored content. */
export interface RestoreInput {
  readonly summarized: readonly Entry[];
  readonly kept: readonly Entry[];
  /** Place of the kept messages relative to the summarized ones. `after` by default. */
  readonly keptPlace?: "before" | "after" | undefined;
  /** All entries in their original order and the index of their calls, if the caller has both. */
  readonly conversation?: { readonly entries: readonly Entry[]; readonly pairs: PairIndex } | undefined;
  readonly countTokens: CountText;
  /** Tokens for all kinds together. */
  readonly budgetTokens: number;
  readonly signal?: AbortSignal | undefined;
  /**
   * Results that are sent as cleared, although the entries still contain them. The agent does not see their
   * content.
   */
  readonly clearedToolUseIds?: ReadonlySet<string> | undefined;
  /** Names of the agent's own file tools. */
  readonly fileTools?: FileTools | undefined;
  /** Limit for each file. Without it, a file may have up to 5,000 tokens. */
  readonly fileWorth?: FileWorth | undefined;
}

/**
 * Returns the size up to which it pays to restore a file. For a larger file, only its path is restored.
 * `rank` counts from 0, the most recently used file.
 */
export type FileWorth = (rank: number) => number;

/** Restored item: an attachment with its tokens. */
export interface RestoredItem {
  readonly kind: RestoreKind;
  /** A path, the name of a skill, and so on. Never content. */
  readonly name: string;
  /** Tokens of the attachment as it is sent, including the text around it. */
  readonly tokens: number;
  readonly isTruncated: boolean;
  readonly attachment: Attachment;
}

/** Item that was not restored, with the reason. It is only reported and never causes a failure. */
export interface SkippedItem {
  readonly kind: RestoreKind;
  readonly name: string;
  /** Reason from the reader of a file (`gone`, `too-large`, …), or one of longhaul's own reasons. */
  readonly reason: string;
}

export interface Restored {
  readonly items: readonly RestoredItem[];
  readonly skipped: readonly SkippedItem[];
}

/** Returns the tokens that a restoration adds to the context. */
export function restoredTokens({ items }: Restored): number {
  return items.reduce((sum, { tokens }) => sum + tokens, 0);
}

/**
 * First of two steps of a restoration. This step requests the content of all kinds at once. The second step
 * fits one kind after another into the remaining tokens.
 */
export type Gather = (gathering: Gathering) => Promise<Fit>;

export type Fit = (budgetTokens: number) => Restored;

export interface Gathering {
  readonly input: RestoreInput;
  readonly state: HostState;
  readonly ask: Ask;
  /** Summarized and kept entries in their original order, without invalid values. */
  readonly entries: readonly Entry[];
  readonly pairs: PairIndex;
  /** Events of these entries. */
  readonly events: readonly SessionEvent[];
}

/** Gathers the host's answer. If the host does not provide one, gathers the state in the conversation. */
export function hostOr(
  kind: RestoreKind,
  question: keyof HostState,
  told: (gathering: Gathering) => unknown,
  toFit: (value: unknown, gathering: Gathering) => Fit,
): Gather {
  return async (gathering) => {
    const answer = await gathering.ask(gathering.state, question);
    if (answer.state === "unanswered") return () => skipping(kind, answer.reason);
    return toFit(answer.state === "absent" ? told(gathering) : answer.value, gathering);
  };
}

export const NOTHING: Restored = Object.freeze({ items: [], skipped: [] });

export const skipping = (kind: RestoreKind, reason: string): Restored => ({
  items: [],
  skipped: [{ kind, name: kind, reason }],
});

export function restoredItem(
  kind: RestoreKind,
  name: string,
  attachment: Attachment,
  countTokens: CountText,
  isTruncated = false,
): RestoredItem {
  const tokens = measureContent(attachmentContent(attachment), countTokens);
  return { kind, name, tokens, isTruncated, attachment };
}

/**
 * Chooses the best form of each item that fits. Forms are listed from best to worst and are created only when
 * needed.
 */
export function fitEach(
  things: readonly (readonly (() => RestoredItem)[])[],
  budgetTokens: number,
  skipped: readonly SkippedItem[] = [],
): Restored {
  const items: RestoredItem[] = [];
  const unfit: SkippedItem[] = [];
  let left = budgetTokens;
  for (const forms of things) {
    let last: RestoredItem | undefined;
    for (const form of forms) {
      last = form();
      if (last.tokens <= left) break;
    }
    if (last === undefined) continue;
    if (last.tokens <= left) {
      items.push(last);
      left -= last.tokens;
    } else unfit.push({ kind: last.kind, name: last.name, reason: "over-budget" });
  }
  return { items, skipped: [...skipped, ...unfit] };
}

/** Reads the valid items of a host's list. Invalid items are named by their position. */
export function readList<T>(
  kind: RestoreKind,
  value: unknown,
  read: (item: unknown) => T | undefined,
): { readonly values: readonly T[]; readonly skipped: readonly SkippedItem[] } {
  if (value === undefined || value === null) return { values: [], skipped: [] };
  if (!Array.isArray(value)) return { values: [], skipped: [{ kind, name: kind, reason: "invalid" }] };
  const values: T[] = [];
  const skipped: SkippedItem[] = [];
  for (const [index, item] of value.entries()) {
    const readable = read(item);
    if (readable === undefined) skipped.push({ kind, name: `${kind}[${index}]`, reason: "invalid" });
    else values.push(readable);
  }
  return { values, skipped };
}

/** Returns the first value for each name. */
export function firstOfEach<T>(values: readonly T[], nameOf: (value: T) => string): readonly T[] {
  const byName = new Map<string, T>();
  for (const value of values) if (!byName.has(nameOf(value))) byName.set(nameOf(value), value);
  return [...byName.values()];
}

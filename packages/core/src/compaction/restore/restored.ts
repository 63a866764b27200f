import { type CountText, measureContent } from "../../measure/tokens/measure.ts";
import type { Attachment, Entry } from "../../messages/entry.ts";
import type { PairIndex } from "../../messages/pairs.ts";
import type { FileTools } from "../../messages/tool-kinds.ts";
import { attachmentContent } from "../../request/flatten/attachment-content.ts";
import type { Ask } from "./ask-host.ts";
import type { HostState } from "./host-state.ts";
import type { SessionEvent } from "./read-state.ts";

/** The frame of every restoration: its kinds, its input, and items that fit into the tokens that are left. */

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
  readonly summarized: readonly Entry[];
  readonly kept: readonly Entry[];
  /** Whether what is kept came before what was summarized, or after it, which is the default. */
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

/**
 * Restoring has two steps: everything is asked for, all kinds at once; then what came is fitted, one kind
 * after the other, into the tokens that are left.
 */
export type Gather = (gathering: Gathering) => Promise<Fit>;

export type Fit = (budgetTokens: number) => Restored;

export interface Gathering {
  readonly input: RestoreInput;
  readonly state: HostState;
  readonly ask: Ask;
  /** Summarized and kept, in the order in which they came, without what is no entry. */
  readonly entries: readonly Entry[];
  readonly pairs: PairIndex;
  /** Of these entries. */
  readonly events: readonly SessionEvent[];
}

/** Gathers what the host answers to a question, or what the conversation tells where the host has no answer to it. */
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

/** Of each thing the first form that fits, from the best one on; forms are made only when they are needed. */
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

/** A host's list as far as it can be read. What has the wrong shape is named by its place in the list. */
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

/** The first of those that share a name. */
export function firstOfEach<T>(values: readonly T[], nameOf: (value: T) => string): readonly T[] {
  const byName = new Map<string, T>();
  for (const value of values) if (!byName.has(nameOf(value))) byName.set(nameOf(value), value);
  return [...byName.values()];
}

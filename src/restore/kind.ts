import type { Attachment, Entry } from "../conversation/entry.ts";
import { attachmentContent } from "../conversation/flatten/attachment-content.ts";
import type { PairIndex } from "../conversation/pairs.ts";
import { type CountText, measureContent } from "../tokens/measure.ts";
import type { Ask } from "./ask.ts";
import type { Happening } from "./happenings.ts";
import type { HostState } from "./host-state.ts";
import type { Restored, RestoredItem, RestoreInput, RestoreKind, SkippedItem } from "./restored.ts";

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
  /** Summarised and kept, in the order in which they came, without what is no entry. */
  readonly entries: readonly Entry[];
  readonly pairs: PairIndex;
  /** What happened in them. */
  readonly happenings: readonly Happening[];
}

export const NOTHING: Restored = Object.freeze({ items: [], skipped: [] });

export const skipping = (kind: RestoreKind, reason: string, name: string = kind): Restored => ({
  items: [],
  skipped: [{ kind, name, reason }],
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

export interface ReadList<T> {
  readonly values: readonly T[];
  readonly skipped: readonly SkippedItem[];
}

/** A host's list as far as it can be read. What has the wrong shape is named by its place in the list. */
export function readList<T>(
  kind: RestoreKind,
  value: unknown,
  read: (item: unknown) => T | undefined,
): ReadList<T> {
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

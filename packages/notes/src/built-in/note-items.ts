import { bulleted, clip, oneLine, splitItems } from "@longhaul/core/internal/summary";
import type { CountText } from "@longhaul/core/measure";

/** One item of a section, in its possible lengths. */
export interface NoteItem {
  /** Forms of the item, longest first. The last form is the shortest form that makes sense. */
  readonly forms: readonly string[];
  /**
   * Number of newer items that are dropped before this item when space is short. Because the worth is a
   * number of items, later items do not change the order in which two items are dropped. As a result, many
   * small updates keep the same items as one large update.
   */
  readonly worth: number;
  /**
   * True if a model or a person wrote the item. Such an item is dropped only after all older built-in items.
   */
  readonly isForeign: boolean;
}

/** Worth of an item that is dropped only after every other item. */
export const PINNED: number = Number.POSITIVE_INFINITY;
/**
 * Worth of items that a model or a person wrote. They are worth more than built-in items, because built-in
 * items come only from the structure of the session.
 */
const FOREIGN_WORTH = 10;
/**
 * Characters that change when the notes file is parsed. A carriage return becomes a line end, and a byte
 * order mark is removed.
 */
const UNSEEN = /\r\n?|\uFEFF/g;
const BRIEF_CHARS = 160;

export function ownItem(forms: readonly string[], worth = 0): NoteItem {
  return { forms: [...new Set(forms)], worth, isForeign: false };
}

/**
 * Creates an item from existing notes. The item also has a short form, which is used only if space is short.
 */
export function keptItem(text: string, worth = 0): NoteItem {
  return ownItem([text, clip(oneLine(text), BRIEF_CHARS)], worth);
}

/** Turns a text of a model or a person into one item. Indents all lines after the first. */
export function asBullet(text: string): string {
  return bulleted(text.replace(/\n(?=\S)/g, "\n  "));
}

export function foreignItem(text: string): NoteItem {
  return { ...keptItem(text, FOREIGN_WORTH), isForeign: true };
}

/** Makes an item self-contained: no line looks like a heading, and no code block stays open. */
export function contained(item: NoteItem, headings: ReadonlySet<string>): NoteItem {
  const isHeading = (line: string): boolean => headings.has(line.trimEnd());
  const forms = item.forms.map((form) => {
    const closed = withClosedFence(form.replace(UNSEEN, " "));
    if (!closed.includes("#")) return closed;
    return closed
      .split("\n")
      .map((line) => (isHeading(line) ? `  ${line}` : line))
      .join("\n");
  });
  return { ...item, forms };
}

/** Moves a key to the end and sets its value. */
export function putLast<Slot>(slots: Map<string, Slot>, key: string, slot: Slot): void {
  slots.delete(key);
  slots.set(key, slot);
}

/** Parsed text below a heading. */
interface BodyItems {
  /** Complete items with their nested lines: built-in items and items of a person or a model. */
  readonly items: readonly string[];
  /** Number of items that all updates so far have dropped. */
  readonly leftOut: number;
}

const LEFT_OUT = /^\((\d{1,9}) older items? left out(?:; |: )see the transcript\)$/;
const FENCE = /^\s*(`{3,}|~{3,})/gm;

export function readBody(body: string): BodyItems {
  let leftOut = 0;
  const items = splitItems(body, (line) => {
    const count = LEFT_OUT.exec(line)?.[1];
    leftOut += Number(count ?? 0);
    return count !== undefined;
  });
  return { items, leftOut };
}

export function writeBody(items: readonly string[], leftOut: number): string {
  const parts = leftOut > 0 ? [leftOutLine(leftOut)] : [];
  for (const item of items) parts.push(isBullet(item) || parts.length === 0 ? item : `\n${item}`);
  return parts.join("\n");
}

function leftOutLine(count: number): string {
  return `(${count} older item${count === 1 ? "" : "s"} left out: see the transcript)`;
}

const isBullet = (item: string): boolean => /^(?:[-*•]|\d{1,3}[.)])\s/.test(item);

/** Closes an open code block, so that the following items do not become part of it. */
export function withClosedFence(item: string): string {
  if (!/`{3}|~{3}/.test(item) || endsByItself(item)) return item;
  const marks = new Set([...item.matchAll(FENCE)].map((match) => match[1]));
  const closed = [...marks].map((mark) => `${item}\n${mark}`);
  return closed.find(endsByItself) ?? item;
}

const endsByItself = (item: string): boolean => splitItems(`${item}\n- x`, () => false).length > 1;

export interface SectionDraft {
  /** Items of the section, oldest first. */
  readonly items: readonly NoteItem[];
  /** Number of items that earlier updates dropped. */
  readonly leftOut: number;
}

/** Tokens of the line break between two items. */
const JOINT_TOKENS = 1;
/**
 * Maximum attempts to fit the budget. The first attempt may be too long, because a text can have more tokens
 * than its items together. Each further attempt has a lower target.
 */
const MAX_TRIES = 8;

/**
 * Renders a section within the budget. If not everything fits, keeps the most valuable items. Many items in
 * short form are preferred to a few items in long form.
 */
export function fitSection(draft: SectionDraft, budgetTokens: number, countTokens: CountText): string {
  const slots = rankedSlots(draft.items);
  const inFull = written(slots, draft.leftOut);
  if (countTokens(inFull) <= budgetTokens) return inFull;
  keepInBrief(slots, draft.leftOut, budgetTokens, countTokens);
  const inBrief = written(slots, draft.leftOut);
  let spare = budgetTokens - countTokens(inBrief);
  if (spare < 0) return "";
  for (let attempt = 0; attempt < MAX_TRIES && spare > 0; attempt++) {
    const longer = grown(slots, spare, countTokens);
    const body = written(longer, draft.leftOut);
    const excess = countTokens(body) - budgetTokens;
    if (excess <= 0) return body;
    spare = Math.floor(spare - excess - spare / 10);
  }
  return inBrief;
}

interface Slot {
  readonly item: NoteItem;
  readonly rank: number;
  /** Index of the chosen form. Undefined if the item is dropped. */
  chosen: number | undefined;
}

function written(slots: readonly Slot[], leftOutBefore: number): string {
  const kept = slots.flatMap(({ item, chosen }) => (chosen === undefined ? [] : (item.forms[chosen] ?? [])));
  return writeBody(kept, leftOutBefore + slots.length - kept.length);
}

/**
 * Chooses the shortest form of every item. If these forms do not fit, keeps items in the order of their rank.
 * Stops at the first item that does not fit.
 */
function keepInBrief(
  slots: readonly Slot[],
  leftOutBefore: number,
  budgetTokens: number,
  countTokens: CountText,
): void {
  const fits = (): boolean => countTokens(written(slots, leftOutBefore)) <= budgetTokens;
  for (const slot of slots) slot.chosen = slot.item.forms.length - 1;
  if (fits()) return;
  const byRank = slots.toSorted((a, b) => b.rank - a.rank);
  const remarkTokens = countTokens(leftOutLine(slots.length + leftOutBefore)) + JOINT_TOKENS;
  let target = budgetTokens;
  for (let attempt = 0; attempt < MAX_TRIES && target > 0; attempt++) {
    let spare = target - remarkTokens;
    // After the first item that does not fit, drops all items with a lower rank, even short ones. If short
    // ones were kept, one large update and many small updates would keep different items.
    for (const slot of byRank) {
      spare -= countTokens(slot.item.forms.at(-1) ?? "") + JOINT_TOKENS;
      slot.chosen = spare < 0 ? undefined : slot.item.forms.length - 1;
    }
    if (fits()) return;
    target = Math.floor(target * 0.8 - 1);
  }
  for (const slot of slots) slot.chosen = undefined;
}

/**
 * Replaces short forms with longer forms while there is room. The newest item grows first, because later
 * updates cannot restore the full text of a shortened item. All other items grow next, one step at a time.
 */
function grown(slots: readonly Slot[], spareTokens: number, countTokens: CountText): readonly Slot[] {
  const longer = slots.map((slot) => ({ ...slot }));
  const costOf = ({ forms }: NoteItem, form: number): number => countTokens(forms[form] ?? "");
  let spare = spareTokens;
  const grow = (slot: Slot): boolean => {
    const { chosen, item } = slot;
    if (chosen === undefined || chosen === 0) return false;
    const cost = costOf(item, chosen - 1) - costOf(item, chosen);
    if (cost > spare) return false;
    slot.chosen = chosen - 1;
    spare -= cost;
    return true;
  };
  const newest = longer.at(-1);
  while (newest !== undefined && grow(newest));
  const byRank = longer.toSorted((a, b) => b.rank - a.rank);
  while (byRank.map(grow).includes(true));
  return longer;
}

/**
 * Ranks items by age and worth. An item that a model or a person wrote ranks above all older built-in items.
 */
function rankedSlots(items: readonly NoteItem[]): Slot[] {
  let highestOfOurs = Number.NEGATIVE_INFINITY;
  return items.map((item, age) => {
    const own = age + item.worth;
    const rank = item.isForeign ? Math.max(own, highestOfOurs + 0.5) : own;
    if (!item.isForeign && Number.isFinite(own)) highestOfOurs = Math.max(highestOfOurs, own);
    return { item, rank, chosen: 0 };
  });
}

export function labeled(label: string, text: string): string {
  return `- ${label}: ${text}`;
}

/** Labels of earlier versions. The key is the label of this version, the value is the earlier label. */
const FORMER_LABELS: ReadonlyMap<string, string> = new Map([
  ["Continues this earlier request", "It continues"],
  ["Next step that the assistant named", "Named as next"],
  ["Last text of the assistant", "Last words of the assistant"],
  ["Changed for this request so far", "Changed for it so far"],
]);

/**
 * Returns the text after a label or after the earlier wording of the label. Returns undefined if no item has
 * this label.
 */
export function behindLabel(items: readonly string[], label: string): string | undefined {
  const starts = [label, FORMER_LABELS.get(label) ?? label].map((each) => labeled(each, ""));
  const start = starts.find((each) => items.some((item) => item.startsWith(each)));
  return start && items.find((item) => item.startsWith(start))?.slice(start.length);
}

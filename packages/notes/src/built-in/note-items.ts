import { bulleted, clip, oneLine, splitItems } from "@longhaul/core/internal/summary";
import type { CountText } from "@longhaul/core/measure";

/** One item of a section, at the lengths it can have. */
export interface NoteItem {
  /** Longest first. The last is the least that makes sense. */
  readonly forms: readonly string[];
  /**
   * How many newer items it outlives when there is no room. Counted in items: so the order in which two of them go
   * does not depend on what comes after them, and many small updates keep what one large update keeps.
   */
  readonly worth: number;
  /** Written by a model or a person: it goes after all of ours that are older. */
  readonly isForeign: boolean;
}

/** Never goes while any other item is there. */
export const PINNED: number = Number.POSITIVE_INFINITY;
/** Somebody thought about it; ours came from structure alone. */
const FOREIGN_WORTH = 10;
/** A reader of the file takes the one for a line's end and the other for nothing. */
const UNSEEN = /\r\n?|\uFEFF/g;
const BRIEF_CHARS = 160;

export function ownItem(forms: readonly string[], worth = 0): NoteItem {
  return { forms: [...new Set(forms)], worth, isForeign: false };
}

/** An item that stands in the notes and stays as it is; shortened only where there is no room. */
export function keptItem(text: string, worth = 0): NoteItem {
  return ownItem([text, clip(oneLine(text), BRIEF_CHARS)], worth);
}

/** A text of others as an item: what hangs below its first line is indented, so that it stays one. */
export function asBullet(text: string): string {
  return bulleted(text.replace(/\n(?=\S)/g, "\n  "));
}

export function foreignItem(text: string): NoteItem {
  return { ...keptItem(text, FOREIGN_WORTH), isForeign: true };
}

/** An item that cannot reach beyond itself: no line of it can be taken for a heading, and no code is left open. */
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

/** Puts it at the end, wherever its key stood before. */
export function putLast<Slot>(slots: Map<string, Slot>, key: string, slot: Slot): void {
  slots.delete(key);
  slots.set(key, slot);
}

/** The text under a heading, taken apart. */
interface BodyItems {
  /** Each whole, with all that hangs below it; ours and those of others alike. */
  readonly items: readonly string[];
  /** How many had no room, over all updates. */
  readonly leftOut: number;
}

const LEFT_OUT = /^\((\d{1,9}) older items? left out; see the transcript\)$/;
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
  return `(${count} older item${count === 1 ? "" : "s"} left out; see the transcript)`;
}

const isBullet = (item: string): boolean => /^(?:[-*•]|\d{1,3}[.)])\s/.test(item);

/** Items that follow are not to be taken into code that somebody forgot to end. */
export function withClosedFence(item: string): string {
  if (!/`{3}|~{3}/.test(item) || endsByItself(item)) return item;
  const marks = new Set([...item.matchAll(FENCE)].map((match) => match[1]));
  const closed = [...marks].map((mark) => `${item}\n${mark}`);
  return closed.find(endsByItself) ?? item;
}

const endsByItself = (item: string): boolean => splitItems(`${item}\n- x`, () => false).length > 1;

export interface SectionDraft {
  /** Oldest first. */
  readonly items: readonly NoteItem[];
  /** Items that went in earlier updates. */
  readonly leftOut: number;
}

/** Line breaks are counted with neither neighbour. */
const JOINT_TOKENS = 1;
/** Counts need not add up, so the first choice may miss the budget; each try aims lower. */
const MAX_TRIES = 8;

/** The section's text within the budget: everything if it fits, otherwise what is worth most, briefly before in full. */
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
  /** Which of its forms; undefined where it is left out. */
  chosen: number | undefined;
}

function written(slots: readonly Slot[], leftOutBefore: number): string {
  const kept = slots.flatMap(({ item, chosen }) => (chosen === undefined ? [] : (item.forms[chosen] ?? [])));
  return writeBody(kept, leftOutBefore + slots.length - kept.length);
}

/** All of them in their shortest form; or else from the top of the ranks down to the first that has no room. */
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
    // All items of less worth go too, however short: otherwise the result would depend on the updates in between.
    for (const slot of byRank) {
      spare -= countTokens(slot.item.forms.at(-1) ?? "") + JOINT_TOKENS;
      slot.chosen = spare < 0 ? undefined : slot.item.forms.length - 1;
    }
    if (fits()) return;
    target = Math.floor(target * 0.8 - 1);
  }
  for (const slot of slots) slot.chosen = undefined;
}

/** The newest is told in full first, then all of them step by step: what is shortened now stays short. */
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

/** By age and worth; what others wrote is never ranked below something of ours that is older. */
function rankedSlots(items: readonly NoteItem[]): Slot[] {
  let highestOfOurs = Number.NEGATIVE_INFINITY;
  return items.map((item, age) => {
    const own = age + item.worth;
    const rank = item.isForeign ? Math.max(own, highestOfOurs + 0.5) : own;
    if (!item.isForeign && Number.isFinite(own)) highestOfOurs = Math.max(highestOfOurs, own);
    return { item, rank, chosen: 0 };
  });
}

export function labelled(label: string, text: string): string {
  return `- ${label}: ${text}`;
}

/** The text behind a label; undefined if there is no such line. */
export function behindLabel(items: readonly string[], label: string): string | undefined {
  const start = labelled(label, "");
  return items.find((item) => item.startsWith(start))?.slice(start.length);
}
